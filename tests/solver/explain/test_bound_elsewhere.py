"""Members that run where the rest cannot join them: whom to evict, and what comes before that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.explain.bound_elsewhere import BY_ITS_REPAIR, comes_first
from fourleaf.solver.explain.no_room_now import PREFERRED_NOW, SLACK_NOW
from fourleaf.solver.explain.too_large import PREFERRED
from tests.small import fabric, gang, node, snapshot
from tests.solver.explain.asking import bert, of_nodes, starts, why

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
    assert why(world).unblock == (BY_ITS_REPAIR, PREFERRED, "evict g-0 on a0")
    assert starts(after_evicting(world, "g-0"))
    assert not starts(after_evicting(world, "g-1"))


def test_no_eviction_is_advised_before_there_is_another_place() -> None:
    """Both leaves have a stranger: the member would only wait with the rest, so one ends first."""
    strangers = (*bert("a1"), *bert("b2"))
    world = torn(*strangers)
    reason = why(world)
    assert reason.kind is ReasonKind.BOUND_ELSEWHERE
    assert reason.unblock[-1] == (
        f"wait until hpc/bert ends, and then {BY_ITS_REPAIR}, or evict g-1 on b0"
    )
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


def short_of_one(*others: RunningPod, **shut: Any) -> Snapshot:
    """Three of a gang of four run in leaf a, whose fourth node is shut; leaf b of four is free."""
    seats = tuple((f"g-{i}", f"a{i}") for i in range(3))
    role = Role(("g-3",), Resources(gpus=8), bound=seats)
    running = (RunningPod("ml", pod, host, Resources(gpus=8), KEY) for pod, host in seats)
    here = [node(f"a{i}", "a") for i in range(3)]
    free = [node(f"b{i}", "b") for i in range(4)]
    where = of_nodes(*here, node("a3", "a", **shut), *free)
    return snapshot(where, gang("g", roles=(role,)), running=(*running, *others))


LOST = RunningPod("ml", "g-3-before", "a3", Resources(gpus=8), KEY)
"""The member that was lost, which is ending where it stood."""


@pytest.mark.parametrize(
    ("others", "then"),
    [
        ((), ""),
        ((LOST,), ", and then it is whole again when its own pods there have ended"),
        (bert("a3"), ", and then it is whole again when hpc/bert ends"),
    ],
    ids=["free", "its own pod ends there", "held by others"],
)
@pytest.mark.parametrize(
    ("shut", "step"),
    [({"cordoned": True}, "uncordon a3"), ({"ready": False}, "bring a3 back to ready")],
)
def test_a_node_that_is_let_in_leads_before_any_eviction(
    others: tuple[RunningPod, ...], then: str, shut: dict[str, bool], step: str
) -> None:
    """No other node but a3 makes the gang whole without a move, whatever holds it just now."""
    reason = why(short_of_one(*others, **shut))
    assert reason.kind is ReasonKind.BOUND_ELSEWHERE
    assert reason.unblock[0] == step + then
    assert reason.unblock[1:3] == (BY_ITS_REPAIR, PREFERRED)
    assert reason.unblock[-1].startswith("evict g-0 on a0")
    assert [one.leaf for one in reason.near] == ["a"]
    assert starts(short_of_one())


def test_evictions_by_hand_are_all_there_is_where_no_gang_is_repaired() -> None:
    """`repair.enabled` is false: no repair is promised."""
    world = torn(*bert("a1"))
    spec = world.config.spec
    off = spec.model_copy(update={"repair": spec.repair.model_copy(update={"enabled": False})})
    still = replace(world, config=world.config.model_copy(update={"spec": off}))
    assert why(still).unblock == (PREFERRED, "evict g-0 on a0")
