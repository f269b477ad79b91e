"""From a decision to the objects of a cluster in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fourleaf.k8s_bridge.cluster.kinds import EVENTS, GPU_CLAIMS, PODS, Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, gang, submit
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Target
from fourleaf.k8s_bridge.reporting.after_cycle import AfterCycle, after_cycle
from fourleaf.k8s_bridge.reporting.cycle_facts import CycleFacts, Reported
from fourleaf.k8s_bridge.reporting.recorder.queue_items import (
    Event,
    Regarding,
    StatusPatch,
    target_of,
)
from fourleaf.k8s_bridge.reporting.recorder.recorder import Recorder
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.readers import Source, read
from tests.k8s_bridge.reporting.made import SHORT, SHORT_TEXT
from tests.twins.virtual_clock import VirtualClock


class World:
    """A cluster with a gang of two that waits, and a desk."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.cluster = MemoryCluster(clock=self.clock)
        self.taken: list[tuple[Kind, Body]] = []
        self.asked_again = 0
        self.recorder = Recorder(
            self.cluster,
            self.clock,
            "here",
            lambda kind, body: self.taken.append((kind, body)),
            again=self._again,
        )

    def _again(self) -> None:
        self.asked_again += 1

    async def cycle(self, before: Reported) -> AfterCycle:
        """Look at the cluster, let the gang wait, and tell."""
        bodies = (await self.cluster.list(PODS)).items
        source = Source("", objects=[{"apiVersion": "v1", "kind": "Pod", **b} for b in bodies])
        snapshot = read([source], self.clock.wall()).snapshot
        plan = Plan(PlanStatus.OPTIMAL, (), (Waiting(GangKey("ml", "g"), SHORT),))
        pods = {(b["metadata"]["namespace"], b["metadata"]["name"]): b for b in bodies}
        news = after_cycle(before, CycleFacts(snapshot, plan, {PODS: pods}, (), self.clock.wall()))
        self.recorder.record(news.outgoing)
        return news

    async def pod(self, name: str) -> Body:
        """A pod as it stands."""
        return await self.cluster.get(PODS, Target("ml", name))

    async def events(self) -> list[Body]:
        """All events."""
        return (await self.cluster.list(EVENTS)).items


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    """The world, with somebody at the desk."""
    made = World()
    await submit(made.cluster, "ml", gang("g", 2))
    task = asyncio.create_task(made.recorder.run())
    yield made
    task.cancel()
    await asyncio.wait({task})


async def test_a_waiting_gang_is_told_once() -> None:
    """Conditions and one event arrive; the next cycle, which sees them, writes nothing."""
    async with world() as here:
        news = await here.cycle(Reported())
        await here.clock.advance(1)
        for name in ("g-0", "g-1"):
            conditions = (await here.pod(name))["status"]["conditions"]
            assert [(c["reason"], c["message"]) for c in conditions] == [
                ("Unschedulable", SHORT_TEXT)
            ]
        (event,) = await here.events()
        assert event["regarding"]["name"] == "g-0"
        version = here.cluster.store.version
        await here.cycle(news.reported)
        await here.clock.advance(1)
        assert here.cluster.store.version == version
        assert (here.recorder.statuses.written, here.recorder.events.written) == (2, 1)


async def test_the_new_versions_are_shown_at_once() -> None:
    """What was written comes back with the version that a binding would need now."""
    async with world() as here:
        await here.cycle(Reported())
        await here.clock.advance(1)
        shown = {body["metadata"]["name"]: body["metadata"] for _, body in here.taken}
        for name in ("g-0", "g-1"):
            held = (await here.pod(name))["metadata"]
            assert shown[name]["resourceVersion"] == held["resourceVersion"]


async def test_hushed_pods_keep_their_version() -> None:
    """A pod that is about to be bound is not written, so its binding holds."""
    async with world() as here:
        await here.cycle(Reported())
        before = (await here.pod("g-0"))["metadata"]
        here.recorder.discard([("ml", "g-0")])
        await here.clock.advance(1)
        target = Target("ml", "g-0", before["uid"], before["resourceVersion"])
        await here.cluster.bind(Binding(target, "n"))
        assert (await here.pod("g-1"))["status"]["conditions"]


async def test_a_pod_that_has_changed_is_told_in_the_next_cycle() -> None:
    """Somebody labels the pod first: the write is refused, the cycle after tells again."""
    async with world() as here:
        news = await here.cycle(Reported())
        label = {"metadata": {"labels": {"a": "b"}}}
        await here.cluster.patch(PODS, Target("ml", "g-0"), label)
        await here.clock.advance(1)
        assert here.recorder.statuses.failed == 1
        assert "conditions" not in (await here.pod("g-0"))["status"]
        await here.cycle(news.reported)
        await here.clock.advance(1)
        assert (await here.pod("g-0"))["status"]["conditions"]


async def test_what_has_changed_has_a_cycle_started() -> None:
    """Its status would stay wrong: what the first patch made of it is no news when it is heard."""
    async with world() as made:
        claim = {
            "apiVersion": "gpu.scheduling/v1",
            "kind": "GpuClaim",
            "metadata": {"name": "c", "namespace": "ml"},
            "spec": {"devices": {"count": 1}},
        }
        old = target_of(await made.cluster.create(GPU_CLAIMS, "ml", claim))
        first, second = (StatusPatch(GPU_CLAIMS, old, {"allocated": n}) for n in (0, 1))
        made.recorder.record([first])
        await made.recorder.settle()
        assert made.asked_again == 0
        made.recorder.record([second])
        await made.recorder.settle()
        assert (made.recorder.statuses.failed, made.asked_again) == (1, 1)
        pod = target_of(await made.pod("g-0"))
        for reason in ("First", "Second"):
            made.recorder.record([StatusPatch(PODS, pod, {"reason": reason})])
            await made.recorder.settle()
        assert (made.recorder.statuses.failed, made.asked_again) == (2, 2)


async def test_a_count_goes_to_the_event_that_was_made() -> None:
    """The same news a minute later: one Event, with a count of two."""
    async with world() as here:
        news = await here.cycle(Reported())
        await here.clock.advance(60)
        here.recorder.record(news.outgoing)
        await here.clock.advance(1)
        (event,) = await here.events()
        assert event["series"]["count"] == 2


async def test_clearing_forgets_everything() -> None:
    """Nothing is written after the desk was cleared."""
    async with world() as here:
        await here.cycle(Reported())
        assert here.recorder.waiting == 3
        here.recorder.clear()
        version = here.cluster.store.version
        await here.clock.advance(1)
        await here.recorder.settle()
        assert (here.recorder.waiting, here.cluster.store.version) == (0, version)


async def test_an_event_that_was_refused_is_made_anew_next_time() -> None:
    """The namespace is missing at first; a minute later there is an Event, not a lost count."""
    async with world() as here:
        event = Event(Regarding(PODS, "late", "p", "u"), "Scheduled", "note", "Binding")
        here.recorder.record([event])
        await here.clock.advance(60)
        assert here.recorder.events.failed == 1
        await add_namespace(here.cluster, "late")
        here.recorder.record([event])
        await here.clock.advance(1)
        assert [found["note"] for found in await here.events()] == ["note"]
