"""Members that run where the rest cannot join them: whom to evict, and what comes before that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.explain.bound_elsewhere import comes_first
from fourleaf.solver.explain.no_room_now import PREFERRED_NOW, SLACK_NOW
from tests.small import fabric, gang, snapshot
from tests.solver.explain.asking import bert, starts, why

KEY = GangKey("ml", "g")
SEATS = (("g-0", "a0"), ("g-1", "b0"))
APART = Role(("g-2",), Resources(gpus=8), bound=SEATS)


def torn(*others: RunningPod, gangs: tuple[Gang, ...] = ()) -> Snapshot:
    """Two leaves of 3 nodes; a gang of 3 that belongs into one has a member in each."""
    running = (RunningPod("ml", pod, host, Resources(gpus=8), KEY) for pod, host in SEATS)
    world = snapshot(fabric([[3, 3]]), gang("g", roles=(APART,)), running=(*running, *others))
    return replace(world, gangs=(*world.gangs, *gangs))


def after_evicting(world: Snapshot, gone: str) -> Snapshot:
    """The same once a member of the torn gang is evicted and waits with the rest."""
    seats = tuple(seat for seat in SEATS if seat[0] != gone)
    role = replace(APART, pods=(gone, *APART.pods), bound=seats)
    running = tuple(pod for pod in world.running if pod.gang != KEY or pod.name != gone)
    return replace(world, gangs=(gang("g", roles=(role,)),), running=running)


def test_the_member_is_named_whose_eviction_gives_all_a_place() -> None:
    """Leaf a has a stranger, so all fit into b alone: g-0 is to go, although g-1 stands first."""
    world = torn(*bert("a1"))
    assert why(world).unblock[-1] == "evict g-0 on a0"
    assert starts(after_evicting(world, "g-0"))
    assert not starts(after_evicting(world, "g-1"))


def test_no_eviction_is_advised_before_there_is_another_place() -> None:
    """Both leaves have a stranger: the member would only wait with the rest, so one ends first."""
    strangers = (*bert("a1"), *bert("b2"))
    world = torn(*strangers)
    reason = why(world)
    assert reason.kind is ReasonKind.BOUND_ELSEWHERE
    assert reason.unblock[-1] == "wait until hpc/bert ends, and then evict g-1 on b0"
    assert not any(starts(after_evicting(world, gone)) for gone in ("g-0", "g-1"))
    assert starts(after_evicting(torn(), "g-1"))


@pytest.mark.parametrize(
    ("steps", "first"),
    [
        ((PREFERRED_NOW,), "set topology-policy Preferred"),
        ((SLACK_NOW,), "set topology.windowSlack: 1"),
        (("it starts when ml/a and ml/b end", PREFERRED_NOW), "wait until ml/a and ml/b end"),
        (("raise its priority above 9",), "raise its priority above 9"),
        ((), "wait for a place, as there is none now (not enough is free)"),
    ],
)
def test_what_comes_first_is_something_to_do(steps: tuple[str, ...], first: str) -> None:
    """Advice that says what would start the gang reads as a step before the eviction."""
    assert comes_first(Reason(ReasonKind.NO_FREE_CAPACITY, unblock=steps)) == first
