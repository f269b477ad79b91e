"""An API server that is busy, young, behind a proxy, or has policies: what gangs feel of it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, Refused, Throttled
from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.ledger.names import LEADER
from tests.k8s_bridge.relocation.bench import Bench


class Answers:
    """Raises what `error` says of a request, or `lost` of its answer; counts by subresource."""

    def __init__(
        self,
        error: Callable[[ApiRequest], ClusterError | None],
        lost: Callable[[ApiRequest], ClusterError | None] = lambda _: None,
    ) -> None:
        self.error = error
        self.lost = lost
        self.sent: Counter[str] = Counter()

    async def before(self, request: ApiRequest) -> None:
        """Count the request, then refuse it where that is due."""
        self.sent[request.subresource] += not request.dry_run
        error = self.error(request)
        if error is not None:
            raise error

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Lose the answer where that is due; what was done stands."""
        error = self.lost(request)
        if error is not None:
            raise error


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Two leaves of four nodes, no scheduler yet."""
    one = Bench(1, 2)
    yield one
    await one.stop()


def _binds(request: ApiRequest, member: str = "") -> bool:
    return request.subresource == "binding" and request.target.name.startswith(member)


async def test_a_throttled_dry_run_is_repeated(bench: Bench) -> None:
    """One dry run in five is answered 429: a gang of 32 stands within ten seconds all the same."""
    dice = random.Random(1)  # noqa: S311 - has to repeat

    def error(request: ApiRequest) -> ClusterError | None:
        unlucky = _binds(request) and request.dry_run and dice.random() < 0.2
        return Throttled("too many requests", 429, "TooManyRequests", 1.0) if unlucky else None

    await bench.start(dry_run="always", answers=Answers(error))
    await bench.submit("g", 32, gpus=2)
    await bench.clock.advance(10)
    assert len(await bench.places("g")) == 32


async def test_a_dry_run_without_an_answer_is_no_refusal(bench: Bench) -> None:
    """After a minute without any answer to dry runs, the gang stands seconds after they come."""
    silent = True

    def error(request: ApiRequest) -> ClusterError | None:
        return Ambiguous("no answer") if silent and request.dry_run else None

    await bench.start(dry_run="always", answers=Answers(error))
    await bench.submit("g", 4)
    await bench.clock.advance(60)
    assert not await bench.places("g")
    silent = False
    await bench.clock.advance(10)
    assert len(await bench.places("g")) == 4


async def test_a_policy_is_met_once(bench: Bench) -> None:
    """With `auto`, one rollback is enough to try bindings out: half an hour costs one attempt."""

    def error(request: ApiRequest) -> ClusterError | None:
        refused = _binds(request, "g-3-")
        return Refused("ValidatingAdmissionPolicy 'x' denied", 422, "Invalid") if refused else None

    answers = Answers(error)
    await bench.start(dry_run="auto", answers=answers)
    await bench.submit("g", 4)
    await bench.clock.advance(1800)
    assert answers.sent["eviction"] <= 3


async def test_a_request_of_each_replica_that_is_never_answered(bench: Bench) -> None:
    """One look of leader and standby at the Lease hangs for a minute: others bind meanwhile."""
    hangs: set[str] = set()

    class Silent(Answers):
        """Leaves the next request for the leader's Lease without an answer."""

        async def before(self, request: ApiRequest) -> None:
            """Wait as long as the client does."""
            if request.target.name == LEADER and request.identity in hangs:
                hangs.discard(request.identity)
                await bench.clock.sleep(60)
                raise Ambiguous("sent, but not answered")

    for name in "ab":
        await bench.start(name, answers=Silent(lambda _: None))
    hangs |= {"a", "b"}
    await bench.clock.advance(10)
    assert not hangs
    await bench.submit("g", 4)
    await bench.clock.advance(10)
    assert len(await bench.places("g")) == 4


async def test_a_proxy_that_asks_for_an_hour(bench: Bench) -> None:
    """One 429 with Retry-After of an hour to one record: others are bound within a minute."""
    asked = []

    def error(request: ApiRequest) -> ClusterError | None:
        page = request.kind == LEASES and request.target.name.startswith("page-")
        if asked or not page or "ml/first" not in str(request.body):
            return None
        asked.append(request)
        return Throttled("busy", 429, "TooManyRequests", 3600.0)

    await bench.start(answers=Answers(error))
    await bench.submit("first", 1)
    assert asked
    await bench.submit("second", 1)
    await bench.clock.advance(60)
    assert len(await bench.places("first")) == len(await bench.places("second")) == 1


async def test_one_403_to_a_read_ends_no_term(bench: Bench) -> None:
    """An API server that has just started forbids a read once; the same leader binds the gang."""
    done: list[str] = []

    def error(request: ApiRequest) -> ClusterError | None:
        if _binds(request) and not done:
            done.append("lost")
            return Ambiguous("connection reset")
        if request.verb == "get" and request.kind == PODS and done == ["lost"]:
            done.append("forbidden")
            return Refused("pods is forbidden: RBAC: not yet synced", 403, "Forbidden")
        return None

    scheduler = await bench.start(answers=Answers(error))
    epoch = scheduler.epoch
    await bench.submit("g", 4)
    await bench.clock.advance(10)
    assert done == ["lost", "forbidden"]
    assert scheduler.epoch == epoch
    assert len(await bench.places("g")) == 4


@pytest.mark.parametrize("has_arrived", [False, True])
async def test_a_pod_that_may_not_be_read_for_a_while_holds_its_own_gang_alone(
    bench: Bench, has_arrived: bool
) -> None:
    """One binding has no answer, and its pod may not be read for 60 s: the same leader goes on.

    Another gang starts meanwhile. A binding that arrived is seen by the watch at once.
    """
    lost: list[ApiRequest] = []
    until = bench.clock.monotonic() + 70

    def lose(request: ApiRequest) -> ClusterError | None:
        if not _binds(request, "g-0-") or lost:
            return None
        lost.append(request)
        return Ambiguous("connection reset")

    def error(request: ApiRequest) -> ClusterError | None:
        if request.verb == "get" and request.kind == PODS and bench.clock.monotonic() < until:
            return Refused("pods is forbidden", 403, "Forbidden")
        return None if has_arrived else lose(request)

    answers = Answers(error, lose) if has_arrived else Answers(error)
    scheduler = await bench.start(answers=answers)
    epoch = scheduler.epoch
    await bench.submit("g", 4)
    await bench.clock.advance(10)
    assert lost
    assert len(await bench.places("g")) == (4 if has_arrived else 3)
    assert scheduler.binding is not has_arrived
    await bench.submit("h", 4)
    await bench.clock.advance(20)
    assert len(await bench.places("h")) == 4
    await bench.clock.advance(60)
    assert len(await bench.places("g")) == 4
    assert scheduler.epoch == epoch


@pytest.mark.parametrize(
    "refusal",
    [Refused("denied", 403, "Forbidden"), Ambiguous("two budgets", 500), Throttled("budget", 429)],
    ids=["403", "500", "429"],
)
async def test_evictions_of_a_rollback_back_off(bench: Bench, refusal: ClusterError) -> None:
    """A gang of 32 that cannot be let go: in a minute each member is asked for at most 12 times."""

    def error(request: ApiRequest) -> ClusterError | None:
        if request.subresource == "eviction":
            return refusal
        return Refused("denied", 422, "Invalid") if _binds(request, "g-0-") else None

    answers = Answers(error)
    await bench.start(answers=answers)
    await bench.submit("g", 32, gpus=2)
    await bench.clock.advance(60)
    assert 0 < answers.sent["eviction"] <= 12 * 31
