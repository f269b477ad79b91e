"""Evictions that the API refuses although their dry run passes: the others go for nothing but once.

The fabric is one spine of 4 leaves of 4 nodes, and a gang that waits may preempt after 5 s.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import (
    Ambiguous,
    ClusterError,
    Conflict,
    NotFound,
    Refused,
    Throttled,
)
from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from fourleaf.k8s_bridge.relocation.records import Relocation
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.relocation.test_eviction_limits import budget, changed

THROTTLED = Throttled("too many requests", 429, "TooManyRequests")
BUDGETED = Throttled("it would violate the pod's disruption budget", 429, "TooManyRequests")


class Keeps:
    """An API that refuses to evict pods of those UIDs, and passes their dry runs."""

    def __init__(self) -> None:
        self.uids: set[str] = set()
        self.refused = 0
        self.status = 403
        self.between: ClusterError | None = None

    async def before(self, request: ApiRequest) -> None:
        """Refuse it."""
        is_real = request.subresource == "eviction" and not request.dry_run
        if is_real and request.target.uid in self.uids:
            self.refused += 1
            if self.between is not None and self.refused % 2 == 0:
                raise self.between
            raise Refused("admission webhook denied the request", self.status)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


class Refuses:
    """An API that answers evictions with what `error` says of the request, None to let them be."""

    def __init__(self, error: Callable[[ApiRequest], ClusterError | None]) -> None:
        self.error = error
        self.evicted = 0

    async def before(self, request: ApiRequest) -> None:
        """Refuse it."""
        error = self.error(request) if request.subresource == "eviction" else None
        if error is not None:
            raise error

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Count the pods that go."""
        self.evicted += request.subresource == "eviction" and not request.dry_run


async def refusing(bench: Bench, error: Callable[[ApiRequest], ClusterError | None]) -> Refuses:
    """A scheduler leads whose API refuses evictions so, beside classes of priorities."""
    api = Refuses(error)
    await bench.start(answers=api)
    await bench.classes(low=1, middle=5, high=10)
    return api


async def records(bench: Bench) -> list[Relocation]:
    """The relocations under way."""
    leases = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    return [read_relocation(body) for body in leases]


async def test_who_was_kept_once_goes_first_the_next_time() -> None:
    """Top needs the leaves of `keep` and `go`, and the API keeps `keep` until 20 minutes are over.

    `go` is evicted once before that is known, and once more when `keep` has gone.
    """
    keeps = Keeps()
    bench = Bench(1, 4)
    try:
        await bench.start(answers=keeps)
        await bench.classes(low=1, high=10)
        for name, priority in (("keep", "low"), ("go", "low"), ("a", "high"), ("b", "high")):
            await bench.submit(name, 4, priority=priority)
        keeps.uids = set((await bench.uids("keep")).values())
        seen = {tuple(sorted((await bench.uids("go")).values()))}
        await bench.submit("top", 8, priority="high")
        for _ in range(120):
            await bench.clock.advance(10)
            seen.add(tuple(sorted((await bench.uids("go")).values())))
        assert len(seen) == 2
        assert len(await bench.places("go")) == 4
        assert keeps.refused >= 8
        keeps.uids = set()
        await bench.clock.advance(700)
        assert len(await bench.places("top")) == 8
    finally:
        await bench.stop()


@pytest.mark.parametrize(
    ("between", "stands"), [(BUDGETED, True), (THROTTLED, False)], ids=["budget", "throttled"]
)
async def test_what_is_said_between_refusals(between: ClusterError, stands: bool) -> None:
    """A budget's word says that admission let it in: it is asked on. A throttle says nothing of it.

    The fourth refusal with nothing but throttles between them is the last word.
    """
    keeps = Keeps()
    keeps.between = between
    bench = Bench(1, 1)
    try:
        await bench.start(answers=keeps)
        await bench.classes(low=1, high=10)
        await bench.submit("keep", 4, priority="low")
        keeps.uids = {min((await bench.uids("keep")).values())}
        await bench.submit("top", 4, priority="high")
        while not keeps.refused:
            await bench.clock.advance(1)
        (before,) = await records(bench)
        while keeps.refused < 8 and bench.clock.wall() < before.opened + 300:
            await bench.clock.advance(1)
        assert (before.opened in [one.opened for one in await records(bench)]) is stands
    finally:
        await bench.stop()


async def test_what_refuses_to_end_a_lost_pod_ends_no_repair() -> None:
    """The API keeps a lost pod for a minute, for good by its words: the place stays the same one.

    The gang is whole once the pod may go.
    """
    keeps = Keeps()
    bench = Bench(1, 1)
    try:
        await bench.start(answers=keeps)
        await bench.submit("g", 2)
        keeps.status = 422
        keeps.uids = {(await bench.uids("g"))[1]}
        bench.lose((await bench.places("g"))[1])
        await bench.clock.advance(40)
        opened = [one.opened for one in await records(bench)]
        assert len(opened) == 1
        await bench.clock.advance(60)
        assert keeps.refused > 1
        assert [one.opened for one in await records(bench)] == opened
        keeps.uids = set()
        await bench.clock.advance(120)
        assert len(await bench.places("g")) == 2
    finally:
        await bench.stop()


async def test_who_is_to_go_for_one_gang_is_no_victim_of_another() -> None:
    """Three of four pods are to go for a gang of one, and the API keeps them for a while.

    A gang of three comes then, and needs what is left over and the fourth: none is told to go by
    two, and both have their places in the end.
    """
    keeps = Keeps()
    bench = Bench(1, 1)
    try:
        await bench.classes(low=1, middle=5, high=10)
        await bench.start(answers=keeps)
        await bench.submit("v", 3, priority="low", movable="false")
        await bench.submit("w", 1, priority="middle", movable="false")
        keeps.uids = set((await bench.uids("v")).values())
        await bench.submit("first", 1, priority="high")
        await bench.submit("second", 3, priority="high")
        assert [one.gang.name for one in await records(bench)] == ["first"]
        for _ in range(20):
            await bench.clock.advance(1)
            leavers = [leaver.pod.uid for one in await records(bench) for leaver in one.leavers]
            assert len(set(leavers)) == len(leavers)
        keeps.uids = set()
        await bench.clock.advance(120)
        assert len(await bench.places("first")) == 1
        assert len(await bench.places("second")) == 3
    finally:
        await bench.stop()


@pytest.mark.parametrize(
    "error",
    [
        Conflict('admission webhook "keep" denied the request: keep', 409, "Conflict"),
        NotFound('admission webhook "keep" denied the request: keep', 404, "NotFound"),
    ],
    ids=["409", "404"],
)
@pytest.mark.parametrize("in_spite", [False, True], ids=["foreseen", "in spite"])
async def test_a_webhook_may_deny_by_any_status(error: ClusterError, in_spite: bool) -> None:
    """It keeps one pod of `a`: `b` makes way, and no other pod of `a` where a trial says so.

    Else these go once, and `b` when pods may go for the gang again.
    """
    bench = Bench(1, 4)
    try:

        def keeps(request: ApiRequest) -> ClusterError | None:
            heard = request.target.name.startswith("a-1") and not (in_spite and request.dry_run)
            return error if heard else None

        api = await refusing(bench, keeps)
        await bench.submit("a", 4, priority="low")
        await bench.submit("b", 4, priority="middle")
        await bench.submit("c", 8, priority="high")
        before = {name: await bench.uids(name) for name in "abc"}
        await bench.submit("top", 4, priority="high")
        await bench.clock.advance(660 if in_spite else 60)
        assert len(await bench.places("top")) == 4
        assert "EvictionForbidden" in await bench.reasons()
        await bench.clock.advance(600)
        assert await changed(bench, before) == ({"a", "b"} if in_spite else {"b"})
        assert api.evicted == (7 if in_spite else 4)
    finally:
        await bench.stop()


async def test_two_bad_moments_are_no_last_word() -> None:
    """A 403, 429 for a quarter of a minute, a 403, then a yes: the other 15 did not go in vain."""
    bench = Bench(1, 4)
    at: list[float] = []

    def moody(request: ApiRequest) -> ClusterError | None:
        now = bench.clock.monotonic()
        if request.dry_run or not request.target.name.startswith("a-1-"):
            return None
        if not at or (now >= at[0] + 15.0 and len(at) == 1):
            at.append(now)
            return Refused("a webhook has a bad moment", 403, "Forbidden")
        return Throttled("too many requests", 429) if now < at[0] + 15.0 else None

    try:
        await refusing(bench, moody)
        await bench.submit("a", 16, priority="low")
        await bench.submit("top", 16, priority="high")
        await bench.clock.advance(60)
        assert len(at) == 2
        assert len(await bench.places("top")) == 16
    finally:
        await bench.stop()


@pytest.mark.parametrize(
    "error",
    [Throttled("too many requests", 429), Ambiguous("internal error", 500)],
    ids=["429", "500"],
)
async def test_who_is_put_off_in_spite_of_a_dry_run_costs_others_once(error: ClusterError) -> None:
    """One of 16 never goes, without a refusal: in twenty minutes the others go but once."""
    bench = Bench(1, 4)
    try:

        def puts_off(request: ApiRequest) -> ClusterError | None:
            is_real = not request.dry_run and request.target.name.startswith("a-1-")
            return error if is_real else None

        api = await refusing(bench, puts_off)
        await bench.submit("a", 16, priority="low")
        await bench.submit("top", 16, priority="high")
        await bench.clock.advance(1200)
        assert api.evicted == 15
    finally:
        await bench.stop()


async def test_an_eviction_is_sent_again_when_the_api_says() -> None:
    """It has too much to do, and asks for 25 s each time, which is more than a first pause."""
    bench, at = Bench(1, 4), list[float]()
    try:

        def busy(request: ApiRequest) -> ClusterError | None:
            if request.dry_run or not request.target.name.startswith("a-1-"):
                return None
            at.append(bench.clock.monotonic())
            return Throttled("too many requests", 429, retry_after=25.0)

        await refusing(bench, busy)
        await bench.submit("a", 16, priority="low")
        await bench.submit("top", 16, priority="high")
        await bench.clock.advance(100)
        assert len(at) >= 3
        assert min(later - sooner for sooner, later in pairwise(at)) >= 25.0
    finally:
        await bench.stop()


async def test_who_is_about_to_go_counts_in_its_budget() -> None:
    """Of `a` and `b` a budget lets four go, which `a` does, slowly: `c` makes room for another.

    The budget itself does not know of `a` before the API has let it go.
    """
    bench = Bench(1, 4)
    try:
        api = await refusing(bench, lambda _: None)
        await bench.submit("a", 4, priority="low")
        await bench.submit("b", 4, priority="low")
        await bench.submit("c", 8, priority="middle")
        await budget(bench, 4, "a", "b")
        before = {name: await bench.uids(name) for name in "abc"}
        busy = Throttled("too many requests", 429)
        api.error = lambda request: None if request.dry_run else busy
        await bench.submit("first", 4, priority="high")
        await bench.clock.advance(10)
        (one,) = await records(bench)
        api.error = lambda request: (
            busy if request.target.uid in {x.pod.uid for x in one.leavers} else None
        )
        await bench.submit("second", 4, priority="high")
        await bench.clock.advance(20)
        assert await changed(bench, before) == {"c"}
        assert len(await bench.places("second")) == 4
    finally:
        await bench.stop()


async def test_who_was_not_asked_is_not_remembered_as_kept() -> None:
    """Top needs both leaves, and `keep` is put off: the second time `go` is not even told to go.

    After that `go` makes way at once for a gang that needs its leaf alone.
    """
    bench = Bench(1, 2)
    try:

        def puts_off(request: ApiRequest) -> ClusterError | None:
            is_kept = not request.dry_run and request.target.name.startswith("keep")
            return Throttled("too many requests", 429) if is_kept else None

        await refusing(bench, puts_off)
        await bench.submit("keep", 4, priority="low")
        await bench.submit("go", 4, priority="low")
        await bench.submit("top", 8, priority="high")
        for _ in range(2):
            while not await bench.open_relocations():
                await bench.clock.advance(5)
            while await bench.open_relocations():
                await bench.clock.advance(1)
        await bench.submit("second", 4, priority="high")
        await bench.clock.advance(20)
        assert len(await bench.places("second")) == 4
    finally:
        await bench.stop()


async def test_who_keeps_the_last_of_a_gang_loses_the_others_once() -> None:
    """A webhook passes all dry runs and refuses whichever pod is the last: three go in 25 min."""
    bench = Bench(1, 4)

    def keeps(request: ApiRequest) -> ClusterError | None:
        pods = bench.cluster.store.records(PODS, TEAM)
        living = [
            one
            for one in pods
            if one.metadata["name"].startswith("a-")
            and "deletionTimestamp" not in one.metadata
            and one.body["spec"].get("nodeName")
        ]
        is_last = len(living) <= 1 and request.target.name.startswith("a-")
        return Refused("the last one stays", 403) if is_last and not request.dry_run else None

    await bench.start(answers=Refuses(keeps))
    await bench.classes(low=1, high=10)
    await bench.submit("a", 4, priority="low")
    for name in "bcd":
        await bench.submit(name, 4, priority="high")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(1500)
    assert len(await bench.events("Evicted")) == 3
    told = [event["note"] for event in await bench.events("PreemptionForbidden")]
    assert any("another one of its controller was kept" in note for note in told)
    await bench.stop()
