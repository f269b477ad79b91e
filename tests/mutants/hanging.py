"""Safeguards against records about which the API does not answer, and against storms of reads."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

RECORDS = "tests/k8s_bridge/scheduling/test_hanging_records.py"
SEATS = "tests/k8s_bridge/relocation/test_closed_seats.py"

HANGING = (
    Mutant(
        "a page that hangs while pages are laid out",
        "no new node of any leaf is used until the API answers about one page",
        "k8s_bridge/leader.py",
        "                if not await reconciler.lay_out(self._layout(), patient=False):\n",
        "                if not await reconciler.lay_out(self._layout(), patient=True):\n",
        f"{RECORDS}::test_a_page_that_hangs_keeps_no_other_from_listing_its_nodes",
    ),
    Mutant(
        "a lease that hangs while a sweep reads it",
        "each sweep asks anew about a lease that the API does not answer about",
        "k8s_bridge/ledger/reconciler.py",
        "        if name in self._rereading:\n            return False\n",
        "",
        f"{RECORDS}::test_a_stray_lease_that_hangs_keeps_no_other_from_its_end",
    ),
    Mutant(
        "a page that hangs before an eviction",
        "no pod of any gang moves until the API answers about the first page",
        "k8s_bridge/relocation/store.py",
        "NEXT_PAGE_SECONDS = 1.0\n",
        "NEXT_PAGE_SECONDS = 1000.0\n",
        f"{RECORDS}::test_a_page_that_hangs_keeps_no_pod_from_moving",
    ),
    Mutant(
        "seats that are read for all victims at once",
        "a gang of 512 nodes whose victims may not go has 2,000 nodes read a second",
        "k8s_bridge/relocation/executor.py",
        "        again = not any(asked[one.pod.uid].is_new for one in due)\n",
        "        again = False\n",
        f"{SEATS}::test_victims_that_may_not_go_yet_are_no_storm_of_reads",
    ),
    Mutant(
        "what could not be saved is saved later",
        "the next leader lets a tenant evict anew what it had evicted while a write failed",
        "k8s_bridge/ledger/state_lease.py",
        "            self._is_saved = False\n            self._due",
        "            self._due",
        "tests/k8s_bridge/ledger/test_state_lease.py::test_what_could_not_be_saved_is_saved_later",
    ),
)
