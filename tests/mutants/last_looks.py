"""Safeguards of what is looked at last: who has a place by now, and who is served by what goes."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

RELOCATION = "tests/k8s_bridge/relocation"
SEATS = "tests/k8s_bridge/scheduling/test_hanging_seats.py"

LAST_LOOKS = (
    Mutant(
        "places that end while they are taken",
        "a healthy pod is evicted, and its place goes to a gang that was being bound there",
        "k8s_bridge/relocation/store.py",
        "            return False\n        self.freed()\n        return True\n",
        "            return False\n        return True\n",
        f"{SEATS}::test_places_that_end_while_a_gang_is_bound_to_them_stay_its_own",
    ),
)
