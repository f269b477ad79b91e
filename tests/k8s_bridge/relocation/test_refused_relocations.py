"""Relocations whose records the API refuses or loses: no pod is evicted in vain, and no storm."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Refused
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.formats.codec import KNOWN
from fourleaf.k8s_bridge.ledger.names import PAGE, page_name
from fourleaf.k8s_bridge.relocation.codec import relocation_name
from fourleaf.model.gang import GangKey
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.relocation.test_hanging_relocations import RECORD, Hanging, drain
from tests.k8s_bridge.scheduling.test_hanging_records import Hangs


class Refusing:
    """Requests about some Leases are refused, the first `times` of them; counts evictions too.

    With `is_lost`, it is done all the same, and the answer is lost.
    """

    def __init__(self, verb: str, name: str, times: int = 10**6, is_lost: bool = False) -> None:
        self.verb, self.name, self.left, self.is_lost = verb, name, times, is_lost
        self.late: tuple[Bench, float] | None = None
        self.count = 0
        self.evicted: list[str] = []

    def _is_meant(self, request: ApiRequest) -> bool:
        body: Any = request.body if isinstance(request.body, dict) else {}
        name = request.target.name or body.get("metadata", {}).get("name", "")
        return (request.kind, request.verb) == (LEASES, self.verb) and name.startswith(self.name)

    async def before(self, request: ApiRequest) -> None:
        """Refuse it."""
        if request.subresource == "eviction" and not request.dry_run:
            self.evicted.append(request.target.name)
        if self._is_meant(request):
            self.count += 1
            if self.left > 0 and not self.is_lost:
                self.left -= 1
                if self.late is not None:
                    bench, seconds = self.late
                    await bench.clock.sleep(seconds)
                raise Refused("a policy denies it", 403, "Forbidden")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Lose the answer."""
        if self._is_meant(request) and self.is_lost and self.left > 0:
            self.left -= 1
            raise Ambiguous("no answer")


@pytest.mark.parametrize("is_lost", [False, True])
async def test_a_relocation_that_is_to_end_evicts_nobody(is_lost: bool) -> None:
    """Another leader ends a preemption before a victim was told; the first delete fails.

    A leaf has become free meanwhile: the gang starts there, and the lower one runs on.
    """
    bench = Bench(1, 2)
    await bench.classes(low=1, high=10)
    await bench.start("a", answers=Hanging(bench, "get", PAGE))
    await bench.submit("stays", 4, priority="low")
    await bench.submit("ends", 4, priority="low")
    await bench.submit("top", 4, priority="high")
    for _ in range(40):
        await bench.clock.advance(0.5)
        if await bench.open_relocations():
            break
    bench.tasks.pop().cancel()
    await bench.end("ends")
    refusing = Refusing("delete", "relocation-", 1, is_lost)
    await bench.start("b", answers=refusing)
    await bench.clock.advance(40)
    assert refusing.count >= 1
    assert refusing.evicted == []
    assert len(await bench.places("top")) == len(await bench.places("stays")) == 4
    await bench.stop()


async def test_a_record_that_is_refused_late_bars_no_gang() -> None:
    """The Lease of a preemption is denied after 5 s, once: another plan is made some seconds later.

    The window of preemptions is 300 s.
    """
    bench = Bench(1, 2)
    refusing = Refusing("create", relocation_name(GangKey(TEAM, "top"))[:14], 1)
    refusing.late = bench, 5.0
    await bench.classes(low=1, high=10)
    await bench.start(answers=refusing)
    await bench.submit("lo1", 4, priority="low")
    await bench.submit("lo2", 4, priority="low")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(30)
    assert refusing.count == 2
    assert len(await bench.places("top")) == 4
    await bench.stop()


async def test_a_record_that_is_refused_for_good_is_planned_for_later_and_later() -> None:
    """In ten minutes some 15 times, not at each of sixty looks; two minutes after it may, it is."""
    bench = Bench(1, 2)
    refusing = Refusing("create", relocation_name(GangKey(TEAM, "top"))[:14])
    await bench.classes(low=1, high=10)
    await bench.start(answers=refusing)
    await bench.submit("lo1", 4, priority="low")
    await bench.submit("lo2", 4, priority="low")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(600)
    assert 4 <= refusing.count <= 35
    assert refusing.evicted == []
    refusing.left = 0
    await bench.clock.advance(130)
    assert len(await bench.places("top")) == 4
    await bench.stop()


async def test_no_pod_goes_for_a_record_that_may_not_be_claimed() -> None:
    """A new leader may not write the relocation of g, and tries that again, 20 times at most.

    Once it may, g moves.
    """
    bench = Bench()
    await bench.start("a", answers=Hanging(bench, "get", PAGE))
    await bench.submit("g", 1)
    await drain(bench, "g")
    await bench.clock.advance(5)
    bench.tasks.pop().cancel()
    refusing = Refusing("update", RECORD)
    await bench.start("b", answers=refusing)
    await bench.clock.advance(60)
    assert 3 <= refusing.count < 20
    assert refusing.evicted == []
    refusing.left = 0
    await bench.clock.advance(60)
    assert len(refusing.evicted) == 1
    await bench.stop()


async def test_no_pod_goes_for_a_record_that_was_deleted() -> None:
    """A person deletes the Lease: within a sweep's 30 s nothing is kept any more.

    g is drained all the same, with another record.
    """
    bench = Bench()
    slow = Hanging(bench, "get", PAGE)
    scheduler = await bench.start("a", answers=slow)
    await bench.submit("g", 1)
    await drain(bench, "g")
    await bench.clock.advance(5)
    assert scheduler._term is not None
    assert scheduler._term.parts is not None
    relocation = scheduler._term.parts.relocation
    assert relocation is not None
    (before,) = relocation.store
    await bench.cluster.delete(LEASES, Target("kube-system", RECORD))
    await bench.clock.advance(35)
    assert [one.version for one in relocation.store] != [before.version]
    slow.is_on = False
    await bench.clock.advance(90)
    assert len(await bench.places("g")) == 1
    assert await bench.open_relocations() == []
    await bench.stop()


async def test_a_record_that_may_not_be_converted_is_no_storm() -> None:
    """A place is reserved in the older format; writing it anew is refused ten times a minute."""
    bench = Bench(1, 1)
    await bench.config("{backfill: {afterSeconds: 5}}")
    await bench.start("a", KNOWN[:1])
    await bench.submit("full", 3)
    await bench.submit("big", 4)
    await bench.clock.advance(20)
    assert await bench.reservations() == [f"{TEAM}/big"]
    bench.tasks.pop().cancel()
    refusing = Refusing("update", "relocation-")
    await bench.start("b", answers=refusing)
    await bench.clock.advance(60)
    assert 2 <= refusing.count <= 20
    await bench.stop()


class LongHanging(Hanging):
    """The same for longer than victims have time to go."""

    async def before(self, request: ApiRequest) -> None:
        """Let it hang."""
        if self.is_on and request.kind == LEASES and request.verb == self.verb:
            body: Any = request.body
            if body["metadata"]["name"].startswith(self.name):
                await self.bench.clock.sleep(150)
        await super().before(request)


async def test_victims_that_nobody_has_asked_are_not_blamed() -> None:
    """The record of a preemption is not written for 125 s: its victims may go for the next one.

    Victims that do not go within 120 s are left alone for a minute.
    """
    bench = Bench(1, 1)
    hanging = LongHanging(bench, "create", "relocation-top")
    await bench.classes(low=1, high=10)
    await bench.start(answers=hanging)
    await bench.submit("low", 4, priority="low")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(110)
    hanging.is_on = False
    await bench.clock.advance(45)
    assert len(await bench.places("top")) == 4
    await bench.stop()


@pytest.mark.parametrize("leaf", [0, 1])
async def test_nobody_goes_for_places_on_a_page_that_hangs(leaf: int) -> None:
    """Lower gangs fill two leaves, and the page of one hangs: the one on the other gives way."""
    bench = Bench(1, 2)
    hangs = Hangs(page_name(f"leaf-0-{leaf}", 0), "update")
    await bench.classes(low=1, high=10)
    await bench.start(answers=hangs)
    await bench.submit("lo0", 4, gpus=7, priority="low")
    await bench.submit("lo1", 4, gpus=7, priority="low")
    hangs.on = True
    body = pod("one", 1, labels={"batch.kubernetes.io/job-name": "one"})
    body["spec"]["nodeSelector"] = {"kubernetes.io/hostname": f"n-0-{leaf}-3"}
    await submit(bench.cluster, TEAM, [body])
    await bench.clock.advance(30)
    stays = "lo0" if await bench.leaves("lo0") == [leaf] else "lo1"
    before = await bench.uids(stays)
    await bench.submit("top", 4, gpus=7, priority="high")
    await bench.clock.advance(60)
    assert await bench.leaves("top") == [1 - leaf]
    assert await bench.uids(stays) == before
    await bench.stop()


async def test_a_gang_that_is_refused_rests_before_it_is_seated_again() -> None:
    """A webhook denies the four members of a repair: under 40 dry runs in 2 minutes, not 900."""
    bench = Bench(leaves=2)
    dry_runs: list[str] = []

    class Denying:
        is_on = False

        async def before(self, request: ApiRequest) -> None:
            if self.is_on and request.subresource == "binding":
                dry_runs.append(request.target.name)
                raise Refused("denied", 403, "Forbidden")

        async def after(self, request: ApiRequest, answer: Any) -> None:
            """Answers pass."""

    denying = Denying()
    await bench.start(answers=denying, dry_run="always")
    await bench.submit("g", 4)
    await bench.clock.advance(30)
    denying.is_on = True
    bench.lose("n-0-0-0")
    await bench.clock.advance(35)
    dry_runs.clear()
    await bench.clock.advance(120)
    assert 4 <= len(dry_runs) < 40
    await bench.stop()


async def test_a_preemption_that_is_refused_for_good_is_planned_now_and_then(bench: Bench) -> None:
    """In two minutes its plan, its record and dry runs are asked for every ten seconds at most."""
    refusing = Refusing("create", relocation_name(GangKey(TEAM, "top")))
    bench.tasks.pop().cancel()
    await bench.start("b", answers=refusing)
    await bench.clock.advance(30)
    await bench.classes(low=1, high=10)
    for number in range(16):
        await bench.submit(f"low-{number}", 1, priority="low")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(20)
    refusing.count = 0
    bench.solved.preemptions.clear()
    await bench.clock.advance(120)
    assert 1 <= refusing.count <= 12
    assert len(bench.solved.preemptions) <= 13
    assert refusing.evicted == []
