"""Relocations about whose records, or places, the API does not answer: all others go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Throttled
from fourleaf.k8s_bridge.cluster.kinds import LEASES, NODES, PODS, Kind
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.names import PAGE
from fourleaf.k8s_bridge.relocation.codec import relocation_name
from fourleaf.k8s_bridge.relocation.controller import SWEEP_SECONDS, RelocationController
from fourleaf.k8s_bridge.relocation.executor import Executor
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.k8s_bridge.relocation.bench import TEAM, Bench

RECORD = relocation_name(GangKey(TEAM, "g"))
"""The Lease of the relocation of gang g."""


class Hanging:
    """Requests of some verb are not answered for a minute, once it `is_on`; counts them."""

    def __init__(self, bench: Bench, verb: str, name: str = RECORD, kind: Kind = LEASES) -> None:
        self.bench, self.verb, self.name, self.kind = bench, verb, name, kind
        self.is_on, self.count = True, 0

    async def before(self, request: ApiRequest) -> None:
        """Let it hang."""
        body: Any = request.body or {}
        name = request.target.name or body.get("metadata", {}).get("name", "")
        is_meant = (request.kind, request.verb) == (self.kind, self.verb)
        if self.is_on and is_meant and name.startswith(self.name):
            self.count += 1
            await self.bench.clock.sleep(60)
            raise Ambiguous("no answer")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def drain(bench: Bench, gang: str) -> None:
    """Empty the node of the first member of a gang."""
    node = (await bench.places(gang))[0]
    body = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    await bench.cluster.patch(NODES, Target("", node), body)


async def is_moved(bench: Bench, gang: str, seconds: float) -> bool:
    """Whether a gang of one stands elsewhere so many seconds after its node has died."""
    node = (await bench.places(gang))[0]
    bench.lose(node)
    await bench.clock.advance(seconds)
    return (await bench.places(gang)).get(0, node) != node


async def wait_of(bench: Bench, name: str, most: float = 30.0) -> float:
    """Seconds until a new pod without GPUs is bound, in quarters, `most` where it is not."""
    await submit(bench.cluster, TEAM, [pod(name, 0)])
    began = bench.clock.monotonic()
    while bench.clock.monotonic() - began < most:
        await bench.clock.advance(0.25)
        body = await bench.cluster.get(PODS, Target(TEAM, name))
        if body["spec"].get("nodeName"):
            break
    return bench.clock.monotonic() - began


async def test_a_record_that_is_not_written_keeps_no_other_gang_from_its_repair() -> None:
    """The node of k dies 5 s after the write for g began to hang: k runs again 25 s later."""
    bench = Bench()
    hanging = Hanging(bench, "create")
    await bench.start(answers=hanging)
    await bench.submit("g", 1)
    await bench.submit("k", 1)
    await drain(bench, "g")
    await bench.clock.advance(5)
    assert hanging.count == 1
    assert await is_moved(bench, "k", 25)
    assert hanging.count == 1
    await bench.stop()


async def test_no_pod_goes_before_its_record_is_written() -> None:
    """Its write is not answered for a minute; it goes once it is written, and comes back."""
    bench = Bench()
    hanging = Hanging(bench, "create")
    await bench.start(answers=hanging)
    await bench.submit("g", 1)
    before = await bench.uids("g")
    await drain(bench, "g")
    await bench.clock.advance(50)
    assert hanging.count == 1
    assert await bench.uids("g") == before
    hanging.is_on = False
    await bench.clock.advance(30)
    assert await bench.uids("g") != before
    assert len(await bench.places("g")) == 1
    await bench.stop()


async def test_places_are_kept_while_the_record_is_on_its_way() -> None:
    """One node is free, and kept for g for 300 s: who is new gets it after these alone."""
    bench = Bench(1, 1)
    await bench.start(answers=Hanging(bench, "create"))
    await bench.submit("full", 2)
    await bench.submit("g", 1)
    await drain(bench, "g")
    await bench.clock.advance(5)
    await bench.submit("new", 1)
    await bench.clock.advance(280)
    assert not await bench.places("new")
    await bench.clock.advance(30)
    assert await bench.places("new")
    await bench.stop()


async def test_a_record_that_is_not_deleted_makes_no_cycle_late() -> None:
    """That of g, whose lost member runs again: pods that come one by one are bound within 2 s."""
    bench = Bench()
    hanging = Hanging(bench, "delete")
    await bench.start(answers=hanging)
    await bench.submit("g", 1)
    bench.lose((await bench.places("g"))[0])
    waits = [await wait_of(bench, f"fresh-{number}") for number in range(80)]
    assert hanging.count >= 1
    assert max(waits) <= 2
    await bench.stop()


async def test_who_ends_a_relocation_does_not_wait_for_its_record() -> None:
    """The place of a gang is wanted no longer, and the API is silent about the Lease: 2 s are."""
    bench = Bench(1, 1)
    await bench.config("{backfill: {afterSeconds: 5}}")
    scheduler = await bench.start(answers=Hanging(bench, "delete", "relocation-big"))
    await bench.submit("full", 3)
    await bench.submit("big", 4)
    await bench.clock.advance(20)
    assert scheduler._term is not None
    assert scheduler._term.parts is not None
    relocating = scheduler._term.parts.relocation
    assert relocating is not None
    (one,) = relocating.store
    ending = asyncio.ensure_future(relocating.executor.end(one, "it is wanted no longer"))
    await bench.clock.advance(2)
    assert ending.done()
    await bench.stop()


async def test_a_seat_about_which_the_api_is_silent_keeps_no_other_gang_waiting() -> None:
    """The new node of g is read for a minute: k, whose node dies, runs again 25 s later."""
    bench = Bench()
    hanging = Hanging(bench, "get", "", NODES)
    await bench.start(answers=hanging)
    await bench.submit("g", 1)
    await bench.submit("k", 1)
    await drain(bench, "g")
    await bench.clock.advance(3)
    assert hanging.count == 1
    assert await is_moved(bench, "k", 25)
    await bench.stop()


async def another_leads(bench: Bench, hanging: Callable[[Bench], Hanging]) -> Hanging:
    """Leader a has written that g moves, and no pod was told so when b took over."""
    slow = Hanging(bench, "get", PAGE)
    await bench.start("a", answers=slow)
    await bench.submit("g", 1)
    await drain(bench, "g")
    await bench.clock.advance(5)
    assert await bench.open_relocations() == ["g"]
    bench.tasks.pop().cancel()
    found = hanging(bench)
    await bench.start("b", answers=found)
    await bench.clock.advance(20)
    return found


async def test_a_claim_that_hangs_keeps_nothing_from_being_scheduled() -> None:
    """A new leader cannot write the relocation of g anew: a new pod is bound within 2 s."""
    bench = Bench()
    hanging = await another_leads(bench, lambda one: Hanging(one, "update"))
    assert hanging.count == 1
    assert await wait_of(bench, "fresh") <= 2
    await bench.stop()


async def test_no_pod_goes_before_its_record_is_claimed() -> None:
    """The new leader has the member go that is to move once it has written the relocation anew."""
    bench = Bench()
    hanging = await another_leads(bench, lambda one: Hanging(one, "update"))
    before = await bench.uids("g")
    await bench.clock.advance(25)
    assert hanging.count == 1
    assert await bench.uids("g") == before
    hanging.is_on = False
    await bench.clock.advance(40)
    assert await bench.uids("g") != before
    assert len(await bench.places("g")) == 1
    await bench.stop()


class NoLists:
    """Leases are not listed for now, once it `is_on`: 429."""

    is_on = False

    async def before(self, request: ApiRequest) -> None:
        """Refuse it."""
        if self.is_on and (request.kind, request.verb) == (LEASES, "list"):
            raise Throttled("too many requests", 1.0)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_a_list_that_is_throttled_makes_no_repair_late() -> None:
    """Strays cannot be looked for: a node that dies half a minute later is repaired in 30 s."""
    bench, throttling = Bench(), NoLists()
    await bench.start(answers=throttling)
    await bench.submit("g", 1)
    await bench.clock.advance(20)
    throttling.is_on = True
    await bench.clock.advance(SWEEP_SECONDS + 5)
    assert await is_moved(bench, "g", 30)
    await bench.stop()


class NoEnds(Hanging):
    """No pod goes for now, and deletes of relocations hang once it `is_on`."""

    async def before(self, request: ApiRequest) -> None:
        """Let it hang, or refuse it."""
        if request.subresource == "eviction" and not request.dry_run:
            raise Throttled("too many requests", 1.0)
        await super().before(request)


async def test_preemptions_of_the_leader_before_end_beside_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Five of them hang in their deletes: the first step of the next leader is a second late."""
    bench, moments = Bench(), dict[str, float]()
    end_untold, step = Executor.end_untold, RelocationController.step

    async def begun(executor: Executor) -> None:
        moments["begun"] = bench.clock.monotonic()
        await end_untold(executor)

    async def stepped(controller: RelocationController) -> None:
        moments.setdefault("step", bench.clock.monotonic())
        await step(controller)

    ends = NoEnds(bench, "delete", "relocation-")
    ends.is_on = False
    await bench.classes(low=1, high=10)
    await bench.start(answers=ends)
    for number in range(16):
        await bench.submit(f"low-{number}", 1, priority="low")
    for number in range(5):
        await bench.submit(f"top-{number}", 1, priority="high")
    await bench.clock.advance(20)
    assert len(await bench.open_relocations()) == 5
    ends.is_on = True
    monkeypatch.setattr(Executor, "end_untold", begun)
    monkeypatch.setattr(RelocationController, "step", stepped)
    bench.tasks.pop().cancel()
    moments.clear()
    await bench.start("b", answers=ends)
    await bench.clock.advance(30)
    assert moments["step"] - moments["begun"] < 2
    await bench.stop()
