"""A Lease of evictions that cannot be read gives no namespace another limit."""

from __future__ import annotations

import asyncio

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, Refused
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.ledger.names import CONTENT
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.relocation.evictions.history import (
    FUTURE_SECONDS,
    HOUR_SECONDS,
    LOAD_SECONDS,
    UNREAD_SECONDS,
    EvictionHistory,
)
from fourleaf.k8s_bridge.relocation.move_budget import MOVES_LEASE, MoveBudget
from fourleaf.k8s_bridge.relocation.tenants.caused_evictions import EVICTIONS_LEASE
from tests.k8s_bridge.relocation.bench import FAILOVER, Bench
from tests.k8s_bridge.relocation.test_caused_evictions import CRITICAL, EVIL, allow, told
from tests.twins.virtual_clock import VirtualClock

HANGS = "hangs"
NO_ANSWER = Ambiguous("no answer", 500)
FORBIDDEN = Refused("forbidden", 403)


class UnreadLease:
    """Reads of one Lease fail, or hang, while `error` is set; `count` says how many did."""

    def __init__(self, name: str, error: ClusterError | str) -> None:
        self._name = name
        self.error: ClusterError | str | None = error
        self.count = 0

    async def before(self, request: ApiRequest) -> None:
        """No answer."""
        if request.verb != "get" or request.target.name != self._name or self.error is None:
            return
        self.count += 1
        if isinstance(self.error, ClusterError):
            raise self.error
        await asyncio.Event().wait()

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Let what was done stand."""


@pytest.mark.parametrize("error", [NO_ANSWER, FORBIDDEN, HANGS])
async def test_a_step_waits_a_moment_for_it(error: ClusterError | str) -> None:
    """Then repairs go on, and what is not known counts as too much."""
    clock = VirtualClock()
    client = MemoryCluster(clock=clock).client("b", UnreadLease(MOVES_LEASE, error))
    moves = MoveBudget(StateLease(client, "kube-system", MOVES_LEASE, clock))
    loading = asyncio.ensure_future(moves.load())
    await clock.advance(LOAD_SECONDS + 0.1)
    assert loading.done()
    assert moves.unread()
    assert moves.pods_in_an_hour(0.0) > 10**6


async def test_it_is_read_again_and_not_written_over() -> None:
    """One pod goes while the API does not answer: afterwards it is one more than before."""
    clock = VirtualClock()
    cluster = MemoryCluster(clock=clock)
    await StateLease(cluster, "kube-system", EVICTIONS_LEASE, clock).save([(1.0, EVIL, 3)])
    trouble = UnreadLease(EVICTIONS_LEASE, NO_ANSWER)
    kept = StateLease(cluster.client("b", trouble), "kube-system", EVICTIONS_LEASE, clock)
    history = EvictionHistory(kept, HOUR_SECONDS)
    assert history.unread()
    history.add(EVIL, 1, 2.0)
    for _ in range(120):
        await history.keep()
        await clock.advance(0.25)
    assert trouble.count == 3
    assert history.unread()
    trouble.error = None
    for _ in range(48):
        await history.keep()
        await clock.advance(0.25)
    assert not history.unread()
    after = EvictionHistory(
        StateLease(cluster, "kube-system", EVICTIONS_LEASE, clock), HOUR_SECONDS
    )
    await after.load()
    assert history.rows == after.rows == [(1.0, EVIL, 3), (2.0, EVIL, 1)]


async def test_it_forbids_for_a_bounded_time() -> None:
    """A Lease that no leader may read counts for nothing in the end, and is written anew."""
    clock = VirtualClock()
    cluster = MemoryCluster(clock=clock)
    await StateLease(cluster, "kube-system", EVICTIONS_LEASE, clock).save([(1.0, EVIL, 3)])
    trouble = UnreadLease(EVICTIONS_LEASE, FORBIDDEN)
    kept = StateLease(cluster.client("b", trouble), "kube-system", EVICTIONS_LEASE, clock)
    history = EvictionHistory(kept, HOUR_SECONDS)
    assert history.unread()
    history.add(EVIL, 1, 2.0)
    await clock.advance(UNREAD_SECONDS - 1)
    await history.keep()
    assert history.unread()
    await clock.advance(2)
    assert not history.unread()
    trouble.error = None
    await history.keep()
    after = EvictionHistory(
        StateLease(cluster, "kube-system", EVICTIONS_LEASE, clock), HOUR_SECONDS
    )
    await after.load()
    assert (2.0, EVIL, 1) in after.rows


async def test_what_another_clock_wrote_counts_once_this_one_is_there() -> None:
    """A clock may be ahead of this one by two minutes; what it wrote beyond that is dropped."""
    clock = VirtualClock()
    cluster = MemoryCluster(clock=clock)
    kept = StateLease(cluster, "kube-system", EVICTIONS_LEASE, clock)
    now = clock.wall()
    rows = [(now + FUTURE_SECONDS - 1, EVIL, 3), (now + FUTURE_SECONDS + 1, EVIL, 100)]
    await kept.save(rows)
    history = EvictionHistory(kept, HOUR_SECONDS)
    await history.load()
    assert history.current() == rows[:1]


@pytest.mark.parametrize("error", [NO_ANSWER, HANGS])
async def test_the_next_leader_gives_no_second_limit(
    bench: Bench, error: ClusterError | str
) -> None:
    """4 of 6 pods went; while the next leader cannot read that, no other goes, and it says so.

    Once it can, it tells how many went.
    """
    await bench.classes(low=1, high=CRITICAL)
    await allow(bench, 6)
    for name in "abcd":
        await bench.submit(name, 4, priority="low")
    await bench.submit("one", 4, priority="high", namespace=EVIL)
    await bench.clock.advance(10)
    assert len(await bench.places("one", EVIL)) == 4
    bench.tasks.pop().cancel()
    trouble = UnreadLease(EVICTIONS_LEASE, error)
    await bench.start("b", answers=trouble)
    await bench.clock.advance(FAILOVER)
    await bench.submit("two", 4, priority="high", namespace=EVIL)
    await bench.clock.advance(20)
    assert trouble.count
    assert not await bench.places("two", EVIL)
    assert f"Lease {EVICTIONS_LEASE} cannot be read, and 6 are allowed" in await told(bench, "two")
    if error is HANGS:
        return
    trouble.error = None
    # A text of the same kind is told anew by the first cycle a minute later.
    await bench.clock.advance(60)
    await bench.submit("late", 1)
    assert not await bench.places("two", EVIL)
    assert "had 4 pods of other namespaces evicted within an hour" in await told(bench, "two")


@pytest.mark.parametrize("pods", ["1" + "0" * 30, "-1", "1.5"])
async def test_numbers_that_make_no_sense_count_for_nothing(pods: str) -> None:
    """They could not be written again, which would end each term that has read them."""
    clock = VirtualClock()
    cluster = MemoryCluster(clock=clock)
    text = f'[[{clock.wall()}, "{EVIL}", {pods}]]'
    metadata = {"name": EVICTIONS_LEASE, "annotations": {CONTENT: text}}
    await cluster.create(LEASES, "kube-system", {"metadata": metadata, "spec": {}})
    kept = StateLease(cluster, "kube-system", EVICTIONS_LEASE, clock)
    history = EvictionHistory(kept, HOUR_SECONDS)
    await history.load()
    assert history.current() == []
    history.add(EVIL, 1, clock.wall())
    await history.keep()
    assert "1]" in await kept.load()
