"""What the API refuses is tried ever more rarely, and holds up nobody else."""

from __future__ import annotations

import asyncio
from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import EVENTS, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import Kubelets, add_namespace, gang, nodes, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.reporting.reporter import Reporter
from fourleaf.k8s_bridge.scheduler import Scheduler, SchedulerOptions
from fourleaf.k8s_bridge.scheduling.holds.api_backoff import (
    LONGEST_WAIT_AFTER_ROLLBACK_SECONDS,
    ApiBackoff,
)
from fourleaf.k8s_bridge.scheduling.holds.hold_back import hold_back
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.extensions import Extensions
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.plan import Plan
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.explain.explain import explain
from tests.twins.virtual_clock import VirtualClock

TEAM = "ml"
KEY = GangKey(TEAM, "g")


def snapshot() -> Snapshot:
    """Gangs g and h on nothing."""
    roles = (Role(("p",), Resources(gpus=1)),)
    gangs = (Gang(KEY, roles), Gang(GangKey(TEAM, "h"), roles))
    return Snapshot(Fabric(()), (), gangs, SchedulerConfig())


async def test_waits_double_up_to_a_minute() -> None:
    """Refused whenever its time has come, a gang waits 1, 2, 4, ... and then always 60 s."""
    clock = VirtualClock()
    api_backoff = ApiBackoff(clock)
    waits = []
    for _ in range(8):
        api_backoff.note(KEY, "not today")
        began = clock.monotonic()
        while not api_backoff.came_due():
            await clock.advance(0.5)
        waits.append(clock.monotonic() - began)
        assert not api_backoff.came_due()
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


async def test_waits_after_rollbacks_double_up_to_five_minutes() -> None:
    """Each may cost members that run; evictions that take minutes begin no wait afresh."""
    clock = VirtualClock()
    api_backoff = ApiBackoff(clock)
    waits = []
    for _ in range(11):
        api_backoff.note(KEY, "not today", limit=LONGEST_WAIT_AFTER_ROLLBACK_SECONDS)
        began = clock.monotonic()
        while not api_backoff.came_due():
            await clock.advance(0.5)
        waits.append(clock.monotonic() - began)
        await clock.advance(LONGEST_WAIT_AFTER_ROLLBACK_SECONDS - 1)
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


async def test_only_the_refused_gang_is_held_and_says_why() -> None:
    """The other gang is planned; after a second so is the refused one."""
    clock = VirtualClock()
    api_backoff = ApiBackoff(clock)
    api_backoff.note(KEY, "webhook says no")
    refused, other = hold_back(snapshot(), [api_backoff.rule()]).gangs
    assert refused.hold is not None
    assert (refused.hold.kind, refused.hold.detail) == ("Refused", "webhook says no")
    assert other.hold is None
    await clock.advance(1)
    assert hold_back(snapshot(), [api_backoff.rule()]) == snapshot()


async def test_a_gang_that_ran_meanwhile_starts_afresh() -> None:
    """A minute after its time came without another refusal, the next wait is 1 s again."""
    clock = VirtualClock()
    api_backoff = ApiBackoff(clock)
    for _ in range(4):
        api_backoff.note(KEY, "not today")
    await clock.advance(8 + 60)
    api_backoff.note(KEY, "not today")
    await clock.advance(1)
    assert api_backoff.came_due()


class Webhook:
    """Refuses to bind the pods of gang g, dry run or not, while `on`."""

    def __init__(self) -> None:
        self.on = True
        self.asked = 0

    async def before(self, request: ApiRequest) -> None:
        """Refuse."""
        binds = request.target.name.startswith("g-") and request.dry_run
        if binds and self.on:
            self.asked += request.target.name == "g-0"
            raise Refused("admission webhook denied the request", 403, "Forbidden")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers arrive."""


async def greedy(cache: Snapshot) -> Plan:
    """A legal plan with reasons, at once and without a process."""
    return explain(cache, greedy_plan(cache), Extensions())


async def test_a_refused_dry_run_is_tried_ever_more_rarely() -> None:
    """In 40 s at 0, 1, 3, 7, 15 and 31 s; others start meanwhile; allowed, it starts too."""
    clock = VirtualClock()
    cluster = MemoryCluster(clock=clock)
    kubelets = Kubelets(cluster.store)
    webhook = Webhook()
    await add_namespace(cluster, "kube-system")
    await add_namespace(cluster, TEAM)
    for body in nodes(1, 4, 4):
        await cluster.create(NODES, "", body)
    scheduler = Scheduler(
        cluster.client("a", webhook),
        clock,
        greedy,
        SchedulerOptions(identity="a", dry_run="always"),
        lambda one: Reporter(one, SchedulerMetrics()),
    )
    tasks = [asyncio.ensure_future(one) for one in (kubelets.run(), scheduler.run())]
    try:
        await clock.advance(1)
        await submit(cluster, TEAM, gang("g", 4))
        await clock.advance(10)
        await submit(cluster, TEAM, gang("h", 4))
        await clock.advance(30)
        assert webhook.asked == 6
        assert await _bound(cluster) == {f"h-{i}" for i in range(4)}
        assert any("webhook denied" in note for note in await _notes(cluster))
        webhook.on = False
        await clock.advance(35)
        assert len(await _bound(cluster)) == 8
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _bound(cluster: MemoryCluster) -> set[str]:
    pods = (await cluster.list(PODS)).items
    return {body["metadata"]["name"] for body in pods if body["spec"].get("nodeName")}


async def _notes(cluster: MemoryCluster) -> list[str]:
    events: list[Body] = (await cluster.list(EVENTS)).items
    return [event["note"] for event in events]
