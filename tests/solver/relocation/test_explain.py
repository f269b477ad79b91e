"""What a gang that has lost members is told: what makes it whole again."""

from __future__ import annotations

import pytest

from fourleaf.model.extensions import NO_EXTENSIONS
from fourleaf.model.gang import GangKey
from fourleaf.model.running_gang import RepairPolicy
from fourleaf.model.snapshot import RunningPod
from fourleaf.solver.explain.blockers import STARTS_WHEN
from fourleaf.solver.relocation.explain import explain_repair
from fourleaf.solver.relocation.repair import repair
from tests.small import WHOLE, fabric
from tests.standing import outage, stood


@pytest.mark.parametrize(
    ("policy", "then"),
    [
        (RepairPolicy.PATCH, "set topology-policy Preferred"),
        (RepairPolicy.MOVE, "it is whole again when vision/dino ends"),
    ],
)
def test_a_gang_that_runs_is_told_what_makes_it_whole(policy: RepairPolicy, then: str) -> None:
    """It does not start, it runs; and the node that was lost comes first, for it would do."""
    dino = GangKey("vision", "dino")
    held = [RunningPod("vision", f"dino-{i}", f"b{i}", WHOLE, gang=dino) for i in range(2)]
    lost = stood("g", ["a0", "a1"], policy=policy)
    snapshot = outage(fabric([[2, 2]]), lost, dead=["a1"], running=held)
    plan = repair(snapshot)
    assert plan is not None
    (told,) = explain_repair(snapshot, plan, NO_EXTENSIONS).lost
    assert told.reason.unblock[:2] == ("bring a1 back to ready", then)
    assert not any(step.startswith(STARTS_WHEN) for step in told.reason.unblock)
