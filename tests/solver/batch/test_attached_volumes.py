"""Volumes that nodes attach are an amount for the solver, as host ports are."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from fourleaf.model.validator import validate
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.batch.solve import solve
from tests.model.readers.pods.test_storage_limits import AMOUNT, csi_node, disk
from tests.model.readers.pods.test_volumes import NODES, claim, using, whole

THREE = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "3"}


def test_members_of_a_gang_are_split_by_what_a_node_attaches() -> None:
    """Three members of one GPU and one volume each: node a attaches one, b two, c none.

    By their GPUs all three fit on any of the nodes. On b alone they are one volume too many, which
    the validator says by the name of the amount.
    """
    claims = [claim(f"data-{i}", volume=f"pv-{i}") for i in range(3)]
    disks = [disk(f"pv-{i}") for i in range(3)]
    members = [using(f"data-{i}", name=f"p-{i}", gpus=1, annotations=THREE) for i in range(3)]
    limits = [csi_node(name, most) for name, most in (("a", 1), ("b", 2), ("c", 0))]
    snapshot = whole(*NODES, *claims, *disks, *members, *limits).snapshot
    for plan in (solve(snapshot), greedy_plan(snapshot)):
        assert plan is not None
        assert not validate(snapshot, plan)
        (placement,) = plan.placements
        assert Counter(node for _, node in placement.pods) == {"a": 1, "b": 2}
        crowded = tuple((pod, "b") for pod, _ in placement.pods)
        wrong = replace(plan, placements=(replace(placement, pods=crowded),))
        assert any(AMOUNT in str(breach) for breach in validate(snapshot, wrong))
