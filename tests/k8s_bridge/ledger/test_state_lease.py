"""What is kept outlasts the process; what cannot be kept, or read, keeps nobody from anything."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.relocation.move_budget import (
    DAY_SECONDS,
    HOUR_SECONDS,
    MOVES_LEASE,
    MoveBudget,
)
from fourleaf.model.gang import GangKey
from tests.twins.virtual_clock import VirtualClock

A, B = GangKey("ml", "a"), GangKey("ml", "b")


async def test_what_is_saved_last_is_loaded() -> None:
    """By somebody else, after two writes."""
    cluster = MemoryCluster(clock=VirtualClock())
    kept = StateLease(cluster, "kube-system", "k")
    assert await kept.load() == ""
    await kept.save({"a": 1})
    await kept.save({"a": 2})
    assert await StateLease(cluster, "kube-system", "k").load() == '{"a":2}'


async def test_a_cluster_that_refuses_keeps_nobody_from_anything() -> None:
    """Neither loading nor saving raises."""

    class Refuses:
        async def before(self, request: ApiRequest) -> None:
            raise ClusterError("no", 403)

        async def after(self, request: ApiRequest, answer: object) -> None:
            raise AssertionError

    kept = StateLease(MemoryCluster(clock=VirtualClock(), interceptors=[Refuses()]), "s", "k")
    await kept.save([])
    assert await kept.load() == ""


async def test_budgets_hold_whoever_leads() -> None:
    """Three moves now and one an hour ago: the next leader knows of 3 in an hour, of 2 in a day."""
    cluster = MemoryCluster(clock=VirtualClock())
    moves = MoveBudget(StateLease(cluster, "kube-system", MOVES_LEASE))
    await moves.load()
    await moves.note({A: 4, B: 1}, 10 * DAY_SECONDS - HOUR_SECONDS)
    await moves.note({A: 3}, 10 * DAY_SECONDS)
    following = MoveBudget(StateLease(cluster, "kube-system", MOVES_LEASE))
    await following.load()
    now = 10 * DAY_SECONDS + 1
    assert following.pods_in_an_hour(now) == 3
    assert (following.times_in_a_day(A, now), following.times_in_a_day(B, now)) == (2, 1)
    assert following.times_in_a_day(A, now + DAY_SECONDS - HOUR_SECONDS) == 1


async def test_nonsense_counts_for_nothing() -> None:
    """Somebody has written into the Lease: budgets start anew."""
    cluster = MemoryCluster(clock=VirtualClock())
    kept = StateLease(cluster, "kube-system", MOVES_LEASE)
    await kept.save({"no": "rows"})
    moves = MoveBudget(kept)
    await moves.load()
    assert moves.pods_in_an_hour(0) == 0
