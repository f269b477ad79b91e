"""A silence of all kubelets brings no node back that has no power."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.node_health.judge import NodeVerdict
from fourleaf.k8s_bridge.node_health.monitor import NodeMonitor
from fourleaf.k8s_bridge.scheduler import Scheduler
from tests.k8s_bridge.relocation.bench import Bench
from tests.twins import heartbeats

OFF = "n-0-0-3"
PERMILLE_OF_ONE = 500
"""Of one failure just now."""


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A leaf of four nodes, no scheduler yet."""
    one = Bench(1, 1)
    yield one
    await one.stop()


def monitor_of(scheduler: Scheduler) -> NodeMonitor:
    """The monitor of its term."""
    assert scheduler._term is not None
    return scheduler._term.parts.nodes


async def verdicts(bench: Bench, monitor: NodeMonitor, seconds: int) -> set[NodeVerdict]:
    """What the node without power is taken for meanwhile."""
    found = set()
    for _ in range(seconds):
        await bench.clock.advance(1)
        found.add(monitor.judgements[OFF].verdict)
    return found


@pytest.mark.parametrize("seconds", [20, 45, 100])
async def test_a_node_without_power_stays_dead(bench: Bench, seconds: int) -> None:
    """Nothing is bound to it, neither meanwhile nor afterwards, and it has failed once."""
    monitor = monitor_of(await bench.start())
    bench.lose(OFF)
    await bench.clock.advance(30)
    await bench.submit("g", 4)
    bench.heartbeats.hushed = True
    found = await verdicts(bench, monitor, seconds)
    bench.heartbeats.hushed = False
    found |= await verdicts(bench, monitor, 60)
    assert found == {NodeVerdict.DEAD}
    assert not await bench.places("g")
    assert 450 < monitor.failures.permille(OFF, "", bench.clock.wall()) <= PERMILLE_OF_ONE


@pytest.mark.parametrize("seconds", [20, 45, 100])
async def test_a_node_that_loses_power_while_it_returns_is_not_well(
    bench: Bench, seconds: int
) -> None:
    """It was shut down, and is heard for some seconds before no kubelet is."""
    monitor = monitor_of(await bench.start())
    taint = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
    await bench.cluster.patch(NODES, Target("", OFF), {"spec": {"taints": [taint]}})
    await bench.clock.advance(20)
    await bench.cluster.patch(NODES, Target("", OFF), {"spec": {"taints": []}})
    await bench.clock.advance(5)
    assert monitor.judgements[OFF].verdict is NodeVerdict.RETURNING
    bench.lose(OFF)
    bench.heartbeats.hushed = True
    found = await verdicts(bench, monitor, seconds)
    bench.heartbeats.hushed = False
    found |= await verdicts(bench, monitor, 60)
    assert found == {NodeVerdict.RETURNING, NodeVerdict.DEAD}


@pytest.mark.parametrize("seconds", [45, 100])
async def test_the_next_leader_takes_no_dead_node_for_well(bench: Bench, seconds: int) -> None:
    """It takes over while no kubelet is heard, and knows only that the node was lost."""
    await bench.start()
    bench.lose(OFF)
    await bench.clock.advance(30)
    bench.heartbeats.hushed = True
    monitor = monitor_of(await bench.succeed("b"))
    found = await verdicts(bench, monitor, seconds)
    bench.heartbeats.hushed = False
    found |= await verdicts(bench, monitor, 60)
    assert found <= {NodeVerdict.RETURNING, NodeVerdict.DEAD}


@pytest.mark.parametrize("seconds", [0, 20, 45, 100])
async def test_a_node_that_has_power_again_returns_as_soon_as_it_is_heard(
    bench: Bench, seconds: int
) -> None:
    """Within the ten seconds between two heartbeats, and is well thirty seconds later."""
    monitor = monitor_of(await bench.start())
    bench.lose(OFF)
    await bench.clock.advance(30)
    bench.heartbeats.hushed = True
    await bench.clock.advance(seconds)
    bench.restore(OFF)
    bench.heartbeats.hushed = False
    await bench.clock.advance(12)
    assert monitor.judgements[OFF].verdict is NodeVerdict.RETURNING
    await bench.clock.advance(31)
    assert monitor.judgements[OFF].verdict is NodeVerdict.WELL


async def test_a_host_that_answers_is_back_where_leases_may_be_read_no_more(bench: Bench) -> None:
    """Its power is back before the node controller has given it up, and no Lease will say so."""
    monitor = monitor_of(await bench.start())
    bench.lose(OFF)
    await bench.clock.advance(30)
    bench.heartbeats.hushed = True
    bench.restore(OFF)
    await bench.clock.advance(65)
    assert monitor.judgements[OFF].verdict is NodeVerdict.RETURNING
    await bench.clock.advance(31)
    assert monitor.judgements[OFF].verdict is NodeVerdict.WELL


@pytest.mark.parametrize("takes_over", [False, True])
async def test_a_kubelet_that_renews_each_30_s_is_well_within_a_minute(
    bench: Bench, takes_over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its node was shut down for a while, and its host answers; or the lead changes then."""
    monkeypatch.setattr(heartbeats, "HEARTBEAT_SECONDS", 30.0)
    scheduler = await bench.start()
    await bench.clock.advance(60)
    taint = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
    await bench.cluster.patch(NODES, Target("", OFF), {"spec": {"taints": [taint]}})
    await bench.clock.advance(20)
    if takes_over:
        scheduler = await bench.succeed("b")
    await bench.cluster.patch(NODES, Target("", OFF), {"spec": {"taints": []}})
    await bench.submit("g", 4)
    await bench.clock.advance(60)
    assert monitor_of(scheduler).judgements[OFF].usable
    assert len(await bench.places("g")) == 4
