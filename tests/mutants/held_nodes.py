"""Safeguards of members that run where none would be taken anew, and who notices without."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

BESIDE = "tests/k8s_bridge/relocation/test_members_beside_closed_nodes.py"
HELD = "tests/solver/batch/test_held_nodes.py"
TYPE = "solver/instance/gang_type.py"

HELD_NODES = (
    Mutant(
        "members that run count where they stand",
        "a pod restarts beside one on a cordoned node, and its whole gang is evicted",
        TYPE,
        "return self.get(replace(kind.key, held=held)) if any(held) else kind",
        "return kind",
        f"{BESIDE}::test_a_member_that_restarts_has_its_place",
    ),
    Mutant(
        "members that run count where they stand: whatever room there is when empty",
        "a node has lost four of its GPUs, and no other pod of its gang that restarts comes back",
        TYPE,
        "held[i] if i in held else fits(left[i], request)",
        "fits(left[i], request)",
        f"{HELD}::test_a_member_of_another_role_comes_back_too",
    ),
    Mutant(
        "members that run count where they stand: places that are legal without them too",
        "a gang has a place in two leaves, as all such gangs do, and it waits for a single one",
        "solver/instance/candidates.py",
        "if self.anew is None:",
        "if True:",
        f"{HELD}::test_a_gang_that_counted_without_it_still_may",
    ),
    Mutant(
        "members that run count where they stand: the validator agrees",
        "a plan that is legal is refused, and the member waits",
        "model/validator/locations.py",
        "return None if self.anew.fault(numbers) is None else found",
        "return found",
        f"{HELD}::test_a_gang_that_counted_without_it_still_may",
    ),
    Mutant(
        "gangs of which members run are a kind of their own",
        "a gang that no leaf holds speaks for one of which three pods run on a cordoned node",
        "k8s_bridge/scheduling/gang_kind.py",
        "role.size, _seats(role))",
        "role.size)",
        "tests/k8s_bridge/scheduling/test_gang_kind.py::test_members_that_run_tell_gangs_apart",
    ),
)
