"""The queue, and what is said of starts."""

from __future__ import annotations

import pytest

from fourleaf.dashboard.views.queue import StartView, queue_view
from fourleaf.model.fabric import Leaf
from fourleaf.model.gang import Gang, GangKey, Hold, Role
from fourleaf.model.plan import Placement, Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.start import Start
from tests.dashboard.made import moment, node

KEY = GangKey("ml", "g")
LEAVES = [Leaf("l0", "s0", (node("a"),))]


def gang(name: str, priority: int = 0, created: float = 0.0) -> Gang:
    """A gang of one pod of 8 GPUs."""
    role = Role((f"{name}-0",), Resources(gpus=8))
    return Gang(GangKey("ml", name), (role,), priority=priority, created=created)


def test_the_order_of_planning() -> None:
    """Priority first, then age; with how long each has waited at 1000 s."""
    gangs = [gang("young", created=900.0), gang("old", created=400.0), gang("high", 5, 950.0)]
    view = queue_view(moment(LEAVES, gangs=gangs), {}, 0)
    told = [(one.position, one.name, one.waited_seconds) for one in view.gangs]
    assert told == [(1, "high", 50), (2, "old", 600), (3, "young", 100)]


@pytest.mark.parametrize(
    ("start", "looked_at", "said"),
    [
        (Start(KEY, at=1060.4), 1, StartView(state="expected", seconds=60)),
        (Start(KEY, at=990.0), 1, StartView(state="expected", seconds=0)),
        (
            Start(KEY, at=1060.0, proven=False),
            1,
            StartView(state="expected", seconds=60, proven=False),
        ),
        (
            Start(KEY, waits_for=(GangKey("ml", "x"),)),
            1,
            StartView(state="waits", waits_for=("ml/x",)),
        ),
        (Start(KEY, hold=Hold("Gated", "is gated")), 1, StartView(state="held")),
        (Start(KEY), 1, StartView(state="unknown")),
        (None, 1, StartView(state="searching")),
        (None, 0, StartView(state="later")),
    ],
)
def test_what_is_said_of_a_start(start: Start | None, looked_at: int, said: StartView) -> None:
    """Nothing is promised that is not known."""
    starts = {} if start is None else {KEY: start}
    (entry,) = queue_view(moment(LEAVES, gangs=[gang("g")]), starts, looked_at).gangs
    assert entry.start == said


def test_a_plan_speaks_where_nobody_has() -> None:
    """Of a gang that would be placed, and of one that would not."""
    gangs = [gang("g"), gang("h")]
    reason = Reason(ReasonKind.NO_FREE_CAPACITY, unblock=("wait",))
    plan = Plan(
        PlanStatus.OPTIMAL,
        (Placement(KEY, (("g-0", "a"),)),),
        (Waiting(GangKey("ml", "h"), reason),),
    )
    first, second = queue_view(moment(LEAVES, gangs=gangs), {}, 0, plan).gangs
    assert (first.reason, first.message) == ("", "planned now, it goes to l0")
    assert (second.reason, second.unblock) == ("NoFreeCapacity", ("wait",))
    silent, _ = queue_view(moment(LEAVES, gangs=gangs), {}, 0).gangs
    assert silent.message == "no scheduler has said why yet"
