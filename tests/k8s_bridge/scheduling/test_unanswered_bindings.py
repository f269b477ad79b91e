"""Bindings that no dry run warns of and that get no answer: told, asked for less, given up."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, Throttled
from fourleaf.k8s_bridge.cluster.kinds import EVENTS, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import gang, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.ledger.unanswered_bindings import (
    LATE_SECONDS,
    SILENT_SECONDS,
    THROTTLED_GIVE_UP_SECONDS,
    BindingAttempt,
)
from fourleaf.k8s_bridge.reporting.recorder.recorder import YIELD_LIMIT_SECONDS
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.reasons.pod_condition import said
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.scheduling.test_slow_webhooks import bound, message
from tests.twins.virtual_clock import VirtualClock

WORDS = 'admission webhook "b.example.org" denied the request: busy'
TOLD_BY = LATE_SECONDS + YIELD_LIMIT_SECONDS + 2.0
"""Seconds until it is written: conditions let bindings go first for a while."""


class Webhook:
    """Lets every dry run pass, and answers the bindings of a gang's member by an error, or of all.

    Of `hangs`, the answer takes so many seconds. With `reads`, no read of a pod is answered either.
    """

    def __init__(self, clock: VirtualClock, member: str = "", hangs: float = 0.0) -> None:
        self.clock = clock
        self.member = member
        self.hangs = hangs
        self.lasts = True
        self.reads = False
        self.error: ClusterError = Throttled(f"503 {WORDS}", 503, "ServiceUnavailable")
        self.at: list[float] = []

    async def before(self, request: ApiRequest) -> None:
        """Answer for the API server."""
        if not self.lasts or request.dry_run:
            return
        if request.subresource == "binding" and self.member in request.target.name:
            self.at.append(self.clock.monotonic())
            await self.clock.sleep(self.hangs)
            raise self.error
        if self.reads and request.verb == "get" and request.kind is PODS:
            raise Ambiguous("connection refused")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Four leaves of 4 nodes, and no scheduler yet."""
    bench = Bench()
    yield bench
    await bench.stop()


async def started(bench: Bench, webhook: Webhook) -> None:
    """A scheduler behind the webhook, and a gang of four pods for one leaf."""
    await bench.start(dry_run="always", answers=webhook)
    await submit(bench.cluster, TEAM, gang("g", 4))


async def test_a_member_that_is_not_bound_says_why(bench: Bench) -> None:
    """Three of four run; the fourth names its binding and the answer, by condition and event."""
    webhook = Webhook(bench.clock, "-2")
    await started(bench, webhook)
    await bench.clock.advance(TOLD_BY)
    assert await bound(bench) == {"g-0", "g-1", "g-3"}
    told = said([await bench.cluster.get(PODS, Target(TEAM, "g-2"))])
    assert told is not None
    assert told.kind is ReasonKind.UNANSWERED
    assert f"the binding of pod {TEAM}/g-2 to n-0-" in told.sentence
    assert f"1 of its 4 pods: 503 {WORDS}" in told.sentence
    assert told.unblock[0].startswith("look for a webhook on pods/binding")
    events = [one for one in (await bench.cluster.list(EVENTS)).items if WORDS in str(one)]
    assert [one["regarding"]["name"] for one in events] == ["g-2"]
    webhook.lasts = False
    await bench.clock.advance(31)
    assert len(await bound(bench)) == 4
    assert WORDS not in await message(bench, "g-2")


async def test_bindings_that_hang_are_told_before_they_end(bench: Bench) -> None:
    """All four hang for 30 s: after some seconds all of them say that none is answered."""
    await started(bench, Webhook(bench.clock, hangs=30.0))
    await bench.clock.advance(SILENT_SECONDS + YIELD_LIMIT_SECONDS + 2.0)
    for number in range(4):
        assert "4 of its 4 pods: no answer has come" in await message(bench, f"g-{number}")


async def test_requests_grow_rare(bench: Bench) -> None:
    """Waits double to 30 s at most: in 100 s 13 to 20 requests for one pod, not 40."""
    webhook = Webhook(bench.clock, "-2")
    await started(bench, webhook)
    await bench.clock.advance(100)
    assert 5 < len(webhook.at) < 25
    gaps = [later - sooner for sooner, later in zip(webhook.at, webhook.at[1:], strict=False)]
    assert 5.0 < max(gaps) <= 30.0


@pytest.mark.parametrize("kind", [Throttled, Ambiguous])
async def test_a_gang_does_not_stay_bound_in_part(bench: Bench, kind: type[ClusterError]) -> None:
    """After two minutes the three that run are evicted, and the gang rests for two."""
    webhook = Webhook(bench.clock, "-2")
    webhook.error = kind(f"503 {WORDS}", 503)
    await bench.start(dry_run="always", answers=webhook)
    await bench.submit("g", 4)
    await bench.clock.advance(110)
    uids = await bench.uids("g")
    assert len(await bench.places("g")) == 3
    await bench.clock.advance(20)
    assert await bench.places("g") == {}
    asked = len(webhook.at)
    await bench.clock.advance(40)
    assert len(webhook.at) == asked
    assert len(set(uids.values()) & set((await bench.uids("g")).values())) == 1
    names = [body["metadata"]["name"] for body in await bench.pods("g")]
    told = [await message(bench, name) for name in names]
    assert ["has not taken in 120 s" in one and WORDS in one for one in told] == [True] * 4
    webhook.lasts = False
    await bench.clock.advance(120)
    assert len(await bench.places("g")) == 4


async def test_who_got_no_answer_is_bound_first_the_next_time(bench: Bench) -> None:
    """For 20 min one member of four gets none: the others were started once, and no second time.

    It has the nodes for two minutes of four. Once there is an answer, all four start.
    """
    webhook = Webhook(bench.clock, "-2")
    await bench.start(dry_run="always", answers=webhook)
    await bench.submit("g", 4)
    started = set[str]()
    for _ in range(60):
        await bench.clock.advance(20)
        pods = await bench.pods("g")
        started |= {body["metadata"]["uid"] for body in pods if body["spec"].get("nodeName")}
    assert len(started) == 3
    assert len(await bench.events("GangRolledBack")) <= 2
    gaps = [later - sooner for sooner, later in zip(webhook.at, webhook.at[1:], strict=False)]
    assert 3 <= sum(gap >= 115 for gap in gaps) <= 6
    webhook.lasts = False
    await bench.clock.advance(150)
    assert len(await bench.places("g")) == 4


async def test_an_overloaded_api_server_takes_no_gang_back(bench: Bench) -> None:
    """It puts off the bindings of one pod for ten minutes, and answers all else: that is told.

    Where a webhook answers so, with the same status, the three that run go after two minutes.
    """
    webhook = Webhook(bench.clock, "-2")
    webhook.error = Throttled("Too many requests, please try again later.", 429, "TooManyRequests")
    await started(bench, webhook)
    await bench.clock.advance(600)
    assert await bound(bench) == {"g-0", "g-1", "g-3"}
    assert "Too many requests" in await message(bench, "g-2")
    webhook.error = Throttled(WORDS, 429, "TooManyRequests")
    await bench.clock.advance(180)
    assert await bound(bench) == set()


async def test_a_silence_of_most_nodes_takes_no_gang_back(bench: Bench) -> None:
    """Three of four run as 15 of 16 nodes fall silent, for 90 s: all four run after it."""
    webhook = Webhook(bench.clock, "g-2-")
    await bench.start(dry_run="always", answers=webhook)
    await bench.submit("g", 4)
    before = await bench.uids("g")
    assert len(await bench.places("g")) == 3
    names = [body["metadata"]["name"] for body in bench.fabric]
    bench.lose(*names[:-1])
    await bench.clock.advance(90)
    (waits,) = (one for one in await bench.pods("g") if not one["spec"].get("nodeName"))
    told = said([waits])
    assert told is not None
    assert "is not ready, and may come back" in told.sentence
    assert told.unblock[0].startswith("bring n-0-")
    webhook.lasts = False
    bench.restore(*names)
    await bench.clock.advance(60)
    assert len(await bench.places("g")) == 4
    assert await bench.uids("g") == before


async def test_an_answer_in_time_takes_no_gang_back(bench: Bench) -> None:
    """The webhook is well a moment before the end, and the pod has changed: that is an answer.

    The next request meets a conflict, after the two minutes, and the one after it binds the pod.
    """
    webhook = Webhook(bench.clock, "-2")
    await started(bench, webhook)
    await bench.clock.advance(118)
    webhook.lasts = False
    labels = {"metadata": {"labels": {"changed": "true"}}}
    await bench.cluster.patch(PODS, Target(TEAM, "g-2"), labels)
    await bench.clock.advance(45)
    assert len(await bound(bench)) == 4


async def test_an_api_server_that_is_down_takes_no_gang_back(bench: Bench) -> None:
    """Reads of the pod fail as its bindings do, for ten minutes, and bindings for one more.

    The three run all the while: the two minutes count from the first read that is answered.
    """
    webhook = Webhook(bench.clock, "-2")
    webhook.reads = True
    await started(bench, webhook)
    await bench.clock.advance(600)
    webhook.reads = False
    await bench.clock.advance(60)
    assert await bound(bench) == {"g-0", "g-1", "g-3"}
    webhook.lasts = False
    await bench.clock.advance(31)
    assert len(await bound(bench)) == 4


async def test_pods_that_are_deleted_are_bound_no_more(bench: Bench) -> None:
    """No request follows the deletion, though one was due within seconds for each pod."""
    webhook = Webhook(bench.clock)
    await started(bench, webhook)
    await bench.clock.advance(4)
    before = len(webhook.at)
    for number in range(4):
        await bench.cluster.delete(PODS, Target(TEAM, f"g-{number}"))
    await bench.clock.advance(120)
    assert len(webhook.at) == before


def test_what_was_silent_before_its_node_was_in_doubt_does_not_count() -> None:
    """Both kinds of silence begin anew once the node is heard of: it is not given up early."""
    for error in (Throttled("503 busy", 503), Throttled("429 too many requests", 429)):
        clock = VirtualClock()
        attempt = BindingAttempt("c", Member(Target("ml", "p", "u"), "n"), clock)
        attempt.unsaid(error)
        clock.spend(THROTTLED_GIVE_UP_SECONDS - 1)
        attempt.doubted()
        clock.spend(2)
        attempt.unsaid(error)
        assert not attempt.is_hopeless
        clock.spend(THROTTLED_GIVE_UP_SECONDS + 1)
        attempt.unsaid(error)
        assert attempt.is_hopeless
