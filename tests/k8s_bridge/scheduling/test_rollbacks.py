"""A gang that goes back is planned again once all of it is back, and then as a whole."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Refused
from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.memory.actors import gang, nodes, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.ledger.names import COMMIT, FENCE
from fourleaf.k8s_bridge.ledger.reconciler import ROLLBACK_WAIT_LIMIT_SECONDS
from fourleaf.k8s_bridge.relocation.controller import RelocationController
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.reporting.reporter import Reporter
from fourleaf.k8s_bridge.scheduler import Scheduler, SchedulerOptions
from tests.k8s_bridge.relocation.bench import Solved
from tests.k8s_bridge.test_scheduler import TEAM, Bench, greedy


class Network:
    """Refuses to bind the last member for good, once, and loses its fence until told."""

    def __init__(self) -> None:
        self.refused = False
        self.loses = True

    async def before(self, request: ApiRequest) -> None:
        """Stand in the way of the last member."""
        if request.target.name != "g-3":
            return
        if request.subresource == "binding" and not self.refused:
            self.refused = True
            raise Refused("a webhook denied it", 422, "Invalid")
        if self.loses and FENCE in str(request.body):
            raise Ambiguous("no answer")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def started(bench: Bench, network: Network) -> Scheduler:
    """A scheduler that leads and looks after gangs that have lost members."""
    scheduler = Scheduler(
        bench.cluster.client("a", network),
        bench.clock,
        greedy,
        SchedulerOptions(identity="a", dry_run="never"),
        lambda one: Reporter(one, SchedulerMetrics()),
        planner=Solved(),
    )
    bench.tasks.append(asyncio.ensure_future(scheduler.run()))
    await bench.clock.advance(1)
    return scheduler


async def test_a_gang_is_not_planned_around_members_that_go_back() -> None:
    """Three of four are evicted and made again long before the fourth is fenced: they wait."""
    bench = Bench()
    for body in nodes(1, 4, 4):
        await bench.cluster.create(NODES, "", body)
    network = Network()
    scheduler = await started(bench, network)
    members = gang("g", 4)
    await submit(bench.cluster, TEAM, members)
    await bench.clock.advance(2)
    assert network.refused
    assert set(await bench.pods()) == {"g-3"}
    await submit(bench.cluster, TEAM, members[:3])
    await bench.clock.advance(10)
    assert not await bench.places()
    (waiting,) = scheduler.reporter.status().queue
    assert "still being taken back" in waiting.reason.detail
    network.loses = False
    await bench.clock.advance(ROLLBACK_WAIT_LIMIT_SECONDS)
    places = await bench.places()
    assert set(places) == {f"g-{i}" for i in range(4)}
    assert len({place.rsplit("-", 1)[0] for place in places.values()}) == 1
    await bench.stop()


async def test_one_that_is_back_while_lost_gangs_are_seen_to_is_planned_as_a_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its last member is fenced while a cycle waits for repairs: all four are one commit."""
    bench = Bench()
    for body in nodes(1, 4, 4):
        await bench.cluster.create(NODES, "", body)
    network, waits, goes_on = Network(), asyncio.Event(), asyncio.Event()
    goes_on.set()
    repair_first = RelocationController.repair_first

    async def slow(controller: RelocationController) -> None:
        waits.set()
        await goes_on.wait()
        await repair_first(controller)

    monkeypatch.setattr(RelocationController, "repair_first", slow)
    await started(bench, network)
    members = gang("g", 4)
    await submit(bench.cluster, TEAM, members)
    await bench.clock.advance(2)
    assert set(await bench.pods()) == {"g-3"}
    waits.clear()
    goes_on.clear()
    await submit(bench.cluster, TEAM, members[:3])
    await bench.clock.advance(10)
    assert waits.is_set()
    network.loses = False
    await bench.clock.advance(ROLLBACK_WAIT_LIMIT_SECONDS)
    goes_on.set()
    await bench.clock.advance(5)
    pods = await bench.pods()
    assert len({pod["metadata"]["annotations"][COMMIT] for pod in pods.values()}) == 1
    assert set(await bench.places()) == {f"g-{i}" for i in range(4)}
    await bench.stop()
