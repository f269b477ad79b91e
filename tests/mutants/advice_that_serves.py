"""Safeguards of advice: what unblocks with the least leads, and none is given that never helps."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

ELSEWHERE = "tests/solver/explain/test_bound_elsewhere.py"

ADVICE_THAT_SERVES = (
    Mutant(
        "nodes that are let in before healthy pods are evicted",
        "a person is told to evict healthy pods where an uncordon would do without a move",
        "solver/explain/explain.py",
        "found += () if served else self._doors.once_free(gang, left_out)",
        "found += () if served else ()",
        f"{ELSEWHERE}::test_a_node_that_is_let_in_leads_before_any_eviction",
    ),
    Mutant(
        "a repair by itself before evictions by hand",
        "a person evicts pods that the scheduler is about to move",
        "solver/explain/bound_elsewhere.py",
        "steps = [BY_ITS_REPAIR, *steps, evict]",
        "steps = [*steps, evict]",
        f"{ELSEWHERE}::test_the_member_is_named_whose_eviction_gives_all_a_place",
    ),
    Mutant(
        "why a gang in part is not whole again",
        "`why` leaves out why a gang is not repaired whose lost member is gone",
        "cli/cluster/not_repaired.py",
        "    names += [pod for role in (answer.gang.roles if answer.gang else ()) "
        "for pod in role.pods]\n",
        "",
        "tests/cli/test_why.py::test_why_a_gang_in_part_is_not_whole_again",
    ),
)
