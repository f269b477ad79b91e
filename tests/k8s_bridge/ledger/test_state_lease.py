"""What is kept outlasts the process; what cannot be kept, or read, keeps nobody from anything."""

from __future__ import annotations

import asyncio

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, Refused, Throttled
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.ledger.state_lease import SavedInTime, StateLease
from fourleaf.k8s_bridge.relocation.move_budget import (
    DAY_SECONDS,
    HOUR_SECONDS,
    MOVES_LEASE,
    MoveBudget,
)
from fourleaf.model.gang import GangKey
from tests.k8s_bridge.ledger.harness import Held
from tests.twins.virtual_clock import VirtualClock

A, B = GangKey("ml", "a"), GangKey("ml", "b")


async def test_what_is_saved_last_is_loaded() -> None:
    """By somebody else, after two writes."""
    cluster = MemoryCluster(clock=VirtualClock())
    kept = StateLease(cluster, "kube-system", "k", VirtualClock())
    assert await kept.load() == ""
    await kept.save({"a": 1})
    await kept.save({"a": 2})
    assert await StateLease(cluster, "kube-system", "k", VirtualClock()).load() == '{"a":2}'


async def test_a_cluster_that_refuses_keeps_nobody_from_anything() -> None:
    """Neither loading nor saving raises."""

    class Refuses:
        async def before(self, request: ApiRequest) -> None:
            raise ClusterError("no", 403)

        async def after(self, request: ApiRequest, answer: object) -> None:
            raise AssertionError

    kept = StateLease(
        MemoryCluster(clock=VirtualClock(), interceptors=[Refuses()]), "s", "k", VirtualClock()
    )
    await kept.save([])
    assert await kept.load() == ""


async def test_budgets_hold_whoever_leads() -> None:
    """Three moves now and one an hour ago: the next leader knows of 3 in an hour, of 2 in a day."""
    cluster = MemoryCluster(clock=VirtualClock())
    moves = MoveBudget(StateLease(cluster, "kube-system", MOVES_LEASE, VirtualClock()))
    await moves.load()
    await moves.note({A: 4, B: 1}, 10 * DAY_SECONDS - HOUR_SECONDS)
    await moves.note({A: 3}, 10 * DAY_SECONDS)
    following = MoveBudget(StateLease(cluster, "kube-system", MOVES_LEASE, VirtualClock()))
    await following.load()
    now = 10 * DAY_SECONDS + 1
    assert following.pods_in_an_hour(now) == 3
    assert (following.times_in_a_day(A, now), following.times_in_a_day(B, now)) == (2, 1)
    assert following.times_in_a_day(A, now + DAY_SECONDS - HOUR_SECONDS) == 1


async def test_nonsense_counts_for_nothing() -> None:
    """Somebody has written into the Lease: budgets start anew."""
    cluster = MemoryCluster(clock=VirtualClock())
    kept = StateLease(cluster, "kube-system", MOVES_LEASE, VirtualClock())
    await kept.save({"no": "rows"})
    moves = MoveBudget(kept)
    await moves.load()
    assert moves.pods_in_an_hour(0) == 0


class BadMoment:
    """The API answers no request of one verb for so many seconds; `count` says how many came."""

    def __init__(
        self, clock: VirtualClock, seconds: float, error: ClusterError, verb: str = "get"
    ) -> None:
        self._clock, self._until, self._error = clock, clock.monotonic() + seconds, error
        self._verb = verb
        self.count = 0

    async def before(self, request: ApiRequest) -> None:
        """No answer."""
        if request.verb == self._verb and self._clock.monotonic() < self._until:
            self.count += 1
            raise self._error

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Let what was done stand."""


@pytest.mark.parametrize("error", [Ambiguous("no answer", 500), Throttled("too many", 429)])
async def test_a_bad_moment_gives_no_leader_another_budget(error: ClusterError) -> None:
    """The next leader knows of three moves, though the API answers 5 s late."""
    clock = VirtualClock()
    cluster = MemoryCluster(clock=clock)
    before = MoveBudget(StateLease(cluster, "kube-system", MOVES_LEASE, clock))
    await before.note({A: 3}, 0.0)
    client = cluster.client("b", BadMoment(clock, 5.0, error))
    moves = MoveBudget(StateLease(client, "kube-system", MOVES_LEASE, clock))
    loading = asyncio.ensure_future(moves.load())
    await clock.advance(20)
    await loading
    await moves.note({B: 1}, 1.0)
    after = MoveBudget(StateLease(cluster, "kube-system", MOVES_LEASE, clock))
    await after.load()
    assert after.pods_in_an_hour(2.0) == 4


@pytest.mark.parametrize("error", [Ambiguous("no answer", 500), Throttled("too many", 429)])
async def test_what_is_not_answered_is_asked_for_again(error: ClusterError) -> None:
    """It is there though the API answers 5 s late."""
    clock = VirtualClock()
    cluster = MemoryCluster(clock=clock)
    await StateLease(cluster, "kube-system", "k", clock).save({"n": 1})
    client = cluster.client("b", BadMoment(clock, 5.0, error))
    loading = asyncio.ensure_future(StateLease(client, "kube-system", "k", clock).load())
    await clock.advance(20)
    assert await loading == '{"n":1}'


async def test_what_cannot_be_had_is_given_up() -> None:
    """The API answers no such question for a minute: after 20 s the leader goes on without it."""
    clock = VirtualClock()
    client = MemoryCluster(clock=clock).client("b", BadMoment(clock, 60, Ambiguous("no", 500)))
    loading = asyncio.ensure_future(StateLease(client, "kube-system", "k", clock).load())
    await clock.advance(20)
    assert loading.done()
    assert loading.result() == ""


async def test_what_could_not_be_saved_is_saved_later() -> None:
    """The API takes no write for 25 s: the next leader knows of three moves all the same.

    It is asked every ten seconds, however often what is new is to be kept.
    """
    clock = VirtualClock()
    cluster = MemoryCluster(clock=clock)
    trouble = BadMoment(clock, 25.0, Refused("quota", 403), "create")
    moves = MoveBudget(StateLease(cluster.client("a", trouble), "kube-system", MOVES_LEASE, clock))
    await moves.note({A: 3}, 0.0)
    for _ in range(120):
        await clock.advance(0.25)
        await moves.keep()
    assert trouble.count == 3
    following = MoveBudget(StateLease(cluster, "kube-system", MOVES_LEASE, clock))
    await following.load()
    assert following.pods_in_an_hour(1.0) == 3


async def test_what_changes_while_it_is_saved_is_saved_again() -> None:
    """The first write of 1 is held; by its answer there is 2 to keep, which is there at last."""
    clock = VirtualClock()
    cluster = MemoryCluster(clock=clock)
    held = Held("create", "", answers=True)
    kept = StateLease(cluster.client("a", held), "kube-system", "k", clock)
    saved, content = SavedInTime(kept), [1]
    saved.changed()
    saving = asyncio.ensure_future(saved.save(lambda: content[0]))
    await held.met.wait()
    content[0] = 2
    saved.changed()
    held.go.set()
    await saving
    assert await kept.load() == "1"
    await saved.save(lambda: content[0])
    assert await kept.load() == "2"
