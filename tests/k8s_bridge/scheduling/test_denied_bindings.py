"""Bindings that are denied in odd ways after a good dry run: one gang goes back, no term ends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import (
    Ambiguous,
    ClusterError,
    Conflict,
    Gone,
    NotFound,
    Refused,
    Throttled,
)
from fourleaf.k8s_bridge.cluster.kinds import PODS, Kind
from fourleaf.k8s_bridge.cluster.memory.actors import gang, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Target
from fourleaf.k8s_bridge.ledger.names import COMMIT, FENCE
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.scheduling.test_slow_webhooks import bound, message

DENIED = 'admission webhook "b.example.org" denied the request: no'


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Four leaves of 4 nodes, and no scheduler yet."""
    bench = Bench()
    yield bench
    await bench.stop()


class Denies:
    """Answers the requests about pod `g-2` that have this `verb` and `subresource` by `error`."""

    def __init__(
        self, bench: Bench, error: ClusterError, subresource: str = "binding", verb: str = "create"
    ) -> None:
        self.clock = bench.clock
        self.error = error
        self.subresource = subresource
        self.verb = verb
        self.at: list[float] = []

    async def before(self, request: ApiRequest) -> None:
        """Answer for the API server."""
        asked = (request.verb, request.subresource, request.target.name, request.dry_run)
        if asked == (self.verb, self.subresource, "g-2", False) and request.kind is PODS:
            self.at.append(self.clock.monotonic())
            raise self.error

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


class Evictions:
    """Counts evictions, and answers them by `error` where there is one."""

    def __init__(self, error: ClusterError | None = None) -> None:
        self.error = error
        self.asked: list[str] = []

    async def before(self, request: ApiRequest) -> None:
        """Answer for the API server."""
        if request.subresource == "eviction" and not request.dry_run:
            self.asked.append(request.target.name)
            if self.error is not None:
                raise self.error

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


class Both:
    """One who stands in the way, and another."""

    def __init__(self, *those: Denies | Evictions) -> None:
        self.those = those

    async def before(self, request: ApiRequest) -> None:
        """Ask each."""
        for one in self.those:
            await one.before(request)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


class Tenant:
    """Writes the name of the first commit that binds pod `g-2` to it as a fence, just before."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.commit = ""

    async def before(self, request: ApiRequest) -> None:
        """Write the fence, once."""
        sent = request.body
        if isinstance(sent, Binding) and request.target.name == "g-2" and not self.commit:
            self.commit = sent.annotations[COMMIT]
            patch = {"metadata": {"annotations": {FENCE: self.commit}}}
            await self.bench.cluster.patch(PODS, Target(TEAM, "g-2"), patch)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_a_fence_that_a_tenant_writes_ends_no_term(bench: Bench) -> None:
    """Its own gang goes back, once; others start, and the lead stays where it is."""
    tenant = Tenant(bench)
    leader = await bench.start(dry_run="never", answers=tenant)
    await submit(bench.cluster, TEAM, gang("g", 4))
    await bench.clock.advance(30)
    assert tenant.commit
    assert not {"g-0", "g-1", "g-3"} & await bound(bench)
    await submit(bench.cluster, TEAM, gang("other", 4))
    await bench.clock.advance(30)
    assert {f"other-{i}" for i in range(4)} <= await bound(bench)
    assert leader.epoch == 1


async def test_a_binding_that_is_gone_is_refused(bench: Bench) -> None:
    """A webhook denies by 410, which else says that a list is old: the gang goes back, once."""
    denies = Denies(bench, Gone(f"410 {DENIED}", 410, "Gone"))
    leader = await bench.start(dry_run="always", answers=denies)
    await submit(bench.cluster, TEAM, gang("g", 4))
    await bench.clock.advance(30)
    assert leader.epoch == 1
    assert await bound(bench) == set()
    assert len(denies.at) == 1


@pytest.mark.parametrize("status", [400, 405, 410])
async def test_a_pod_whose_read_is_refused_ends_no_term(bench: Bench, status: int) -> None:
    """The answer to its binding is lost, and no read of it is allowed: all else goes on."""
    refused = Gone if status == 410 else Refused
    both = Both(
        Denies(bench, Ambiguous("no answer")),
        Denies(bench, refused(f"{status} an odd proxy", status), "", "get"),
    )
    leader = await bench.start(dry_run="never", answers=both)
    await submit(bench.cluster, TEAM, gang("g", 4))
    await bench.clock.advance(10)
    assert await bound(bench) == {"g-0", "g-1", "g-3"}
    await submit(bench.cluster, TEAM, gang("other", 4))
    await bench.clock.advance(5)
    assert {f"other-{i}" for i in range(4)} <= await bound(bench)
    assert leader.epoch == 1


@pytest.mark.parametrize("kind", [Conflict, NotFound])
async def test_a_binding_is_denied_by_a_status_of_the_api(
    bench: Bench, kind: type[ClusterError]
) -> None:
    """A webhook says 409, or 404, to one of four for half an hour: told, rarely asked, given up.

    The pod is there as it was, so that is no answer about it: two minutes after what it is told
    was written to it, the three go.
    """
    denies = Denies(bench, kind(f"409 {DENIED}", 409))
    leader = await bench.start(dry_run="always", answers=denies)
    await submit(bench.cluster, TEAM, gang("g", 4))
    await bench.clock.advance(15)
    assert await bound(bench) == {"g-0", "g-1", "g-3"}
    assert DENIED in await message(bench, "g-2")
    await bench.clock.advance(165)
    assert await bound(bench) == set()
    assert len(denies.at) < 40
    assert leader.epoch == 1


@pytest.mark.parametrize("kind", [Conflict, NotFound])
async def test_evictions_that_are_denied_by_a_status_of_the_api_grow_rare(
    bench: Bench, kind: type[ClusterError]
) -> None:
    """A webhook says 409, or 404, to the evictions of a gang that goes back: no storm of them.

    Waits double from 2 s to 60 s: in two minutes each of three pods is asked for 20 times at most.
    """
    keeps = Evictions(kind(f"409 {DENIED}", 409))
    both = Both(Denies(bench, Refused(DENIED, 422, "Invalid")), keeps)
    await bench.start(dry_run="never", answers=both)
    await submit(bench.cluster, TEAM, gang("g", 4))
    await bench.clock.advance(120)
    assert await bound(bench) == {"g-0", "g-1", "g-3"}
    assert 9 <= len(keeps.asked) <= 60


async def test_marks_that_are_denied_grow_rare(bench: Bench) -> None:
    """The same of the fence of the pod that is not bound."""
    marks = Denies(bench, Conflict(f"409 {DENIED}", 409), "", "patch")
    await bench.start(
        dry_run="never", answers=Both(Denies(bench, Refused(DENIED, 422, "Invalid")), marks)
    )
    await submit(bench.cluster, TEAM, gang("g", 4))
    await bench.clock.advance(120)
    assert 3 <= len(marks.at) <= 20


async def test_a_late_watch_has_no_pod_evicted_again_and_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pods that end slowly are seen to do so 60 s late: each is told to go 15 times at most."""
    evictions = Evictions()
    both = Both(Denies(bench, Refused(DENIED, 422, "Invalid")), evictions)
    leader = await bench.start(dry_run="never", answers=both)
    for name in ("take", "_remove"):
        real = getattr(leader.cache, name)

        def late(kind: Kind, body: Body, real: Callable[..., object] = real) -> None:
            if kind is not PODS or not evictions.asked:
                real(kind, body)

        monkeypatch.setattr(leader.cache, name, late)
    members = gang("g", 4)
    for body in members:
        body["metadata"]["finalizers"] = ["example.org/slow-to-end"]
    await submit(bench.cluster, TEAM, members)
    await bench.clock.advance(60)
    assert set(evictions.asked) == {"g-0", "g-1", "g-3"}
    assert 3 <= len(evictions.asked) <= 45


async def test_a_binding_that_is_put_off_for_ever_is_given_up(bench: Bench) -> None:
    """The API server has no turn for one of four (429), and answers all else: for 15 minutes."""
    busy = Throttled("Too many requests, please try again later.", 429, "TooManyRequests", 1.0)
    await bench.start(dry_run="always", answers=Denies(bench, busy))
    await submit(bench.cluster, TEAM, gang("g", 4))
    await bench.clock.advance(890)
    assert await bound(bench) == {"g-0", "g-1", "g-3"}
    await bench.clock.advance(60)
    assert await bound(bench) == set()
