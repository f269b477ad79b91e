"""All sources of a node together, beside the rounds of its agent, up to where gangs go."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from fourleaf.agent.agent import Agent, AgentSettings
from fourleaf.agent.discovery.discover import KEPT_SECONDS, Discovery
from fourleaf.agent.discovery.select_sources import Cloud, DiscoverySettings, sources_of
from fourleaf.agent.discovery.sighting import Sighting, SourceError
from fourleaf.agent.discovery.timed_discovery import DISCOVERY_SECONDS, TimedDiscovery
from fourleaf.agent.metrics import AgentMetrics
from fourleaf.agent.readings import Reading
from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.memory.actors import gang, node, submit
from fourleaf.model.crds.discovered_topology import DiscoveredTopology, SeenSwitch
from fourleaf.model.crds.node_status import Gpu
from tests.agent.discovery.made import Metadata, neighbours, port, sample
from tests.k8s_bridge.test_scheduler import TEAM, Bench
from tests.twins.virtual_clock import VirtualClock


class Scripted:
    """A source that sees `switch`, nothing, or raises."""

    name = "lldp"

    def __init__(self) -> None:
        self.answer: Sighting | Exception = Sighting()

    def sees(self, switch: str) -> None:
        """See a switch from now on."""
        self.answer = Sighting(switches=(SeenSwitch(interface="eth2", id=switch),))

    def read(self) -> Sighting:
        """See `TopologySource.read`."""
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def switches(found: DiscoveredTopology | None) -> list[str]:
    """The IDs of switches."""
    return [one.id for one in found.switches] if found else []


def faults(found: DiscoveredTopology | None) -> list[str]:
    """Messages of faults."""
    return [one.message for one in found.faults] if found else []


def test_sources_of_a_host(tmp_path: Path) -> None:
    """Interfaces beside the fabric do not count, nor do doubts of them; the cloud is asked."""
    port(tmp_path, "mlx5_0", "enp27s0np0")
    (tmp_path / "lldp.json").write_bytes(sample("lldpctl.json").replace(b"3c:2c:30", b"3c 2c 30"))
    door = Metadata({"/opc/v2/host/": sample("oci-host.json")})
    setting = DiscoverySettings("n1", tmp_path, tmp_path, Cloud.OCI)
    found = Discovery(sources_of(setting, door), lambda: 0.0).read()
    assert found is not None
    assert [one.name for one in found.switches] == ["su1-leaf1"]
    assert [one.source for one in found.places] == ["oci"]
    assert found.faults == []
    alone = DiscoverySettings("n1", tmp_path / "none", tmp_path / "none")
    assert Discovery(sources_of(alone, door), lambda: 0.0).read() is None
    assert door.asked == ["GET /opc/v2/host/"]


def test_what_was_seen_lately_counts_while_a_source_is_silent() -> None:
    """Ten minutes: a switch starts anew, a file is gone, an answer makes no sense."""
    now, source = [0.0], Scripted()
    discovery = Discovery([source], lambda: now[0])
    source.sees("a")
    assert switches(discovery.read()) == ["a"]
    for answer in (Sighting(), SourceError("f: is odd", "Mend it."), ValueError("\x07" * 5000)):
        source.answer = answer
        now[0] = KEPT_SECONDS - 1
        found = discovery.read()
        assert switches(found) == ["a"]
        assert all(0 < len(one.encode()) <= 1024 for one in faults(found))
    source.answer = SourceError("f: is odd", "Mend it.")
    now[0] = KEPT_SECONDS
    assert (switches(discovery.read()), faults(discovery.read())) == ([], ["f: is odd. Mend it."])
    source.sees("b")
    assert (switches(discovery.read()), faults(discovery.read())) == (["b"], [])


async def test_a_source_that_hangs() -> None:
    """It is asked once; what was found counts on, and its answer does when it comes."""
    go, source, clock = threading.Event(), Scripted(), VirtualClock()
    go.set()

    class Hanging(Discovery):
        def read(self) -> DiscoveredTopology | None:
            go.wait()
            return super().read()

    timed = TimedDiscovery(Hanging([source], clock.monotonic), clock, patience=30.0)
    source.sees("a")
    assert switches(await timed.read()) == ["a"]
    go.clear()
    await clock.advance(DISCOVERY_SECONDS)
    source.sees("b")
    timed._call._patience = 0.01
    found = await timed.read()
    assert switches(found) == ["a"]
    assert faults(found) == ["no answer within 30 s: what was found before counts"]
    go.set()
    timed._call._patience = 30.0
    await clock.advance(DISCOVERY_SECONDS)
    assert switches(await timed.read()) == ["b"]


def cabled(folder: Path, switch: Callable[[int], int]) -> None:
    """Have eight hosts see the switches of these numbers, and one more for management."""
    for number in range(8):
        port(folder / f"n{number}", "mlx5_0", "eth2")
        seen = neighbours(eth2=f"leaf-{switch(number)}", eno1="mgmt")
        (folder / f"n{number}" / "lldp.json").write_bytes(seen)


async def agent_of(bench: Bench, number: int, host: Path) -> Agent:
    """Make a node without labels; its agent, which looks at `host` in each round."""
    name = f"n{number}"
    body = node(name, "", "")
    body["metadata"]["labels"] = {}
    await bench.cluster.create(NODES, "", body)
    sources = sources_of(DiscoverySettings(name, host, host), Metadata({}))
    discovery = Discovery(sources, bench.clock.monotonic)

    async def read() -> Reading:
        return Reading("nvml", gpus=tuple(Gpu(index=i, uuid=f"{name}-{i}") for i in range(8)))

    async def discover() -> DiscoveredTopology | None:
        return discovery.read()

    metrics = AgentMetrics(bench.clock)
    return Agent(bench.cluster, bench.clock, read, AgentSettings(name), metrics, discover)


async def test_a_gang_lands_under_the_switch_that_agents_saw(tmp_path: Path) -> None:
    """Eight nodes without labels, by turns on two switches: four pods stand on those of one.

    Once other cables leave two free nodes to each switch, four more wait; as it was, they fit.
    """
    bench = Bench()
    agents = [await agent_of(bench, number, tmp_path / f"n{number}") for number in range(8)]

    async def publish(switch: Callable[[int], int]) -> None:
        cabled(tmp_path, switch)
        for agent in agents:
            assert (await agent.once()).error is None
        await bench.clock.advance(3)

    await publish(lambda number: number % 2)
    await bench.start()
    await submit(bench.cluster, TEAM, gang("four", 4))
    await bench.clock.advance(3)
    one, other = ["n0", "n2", "n4", "n6"], ["n1", "n3", "n5", "n7"]
    assert sorted((await bench.places()).values()) in (one, other)
    await publish(lambda number: number // 4)
    await submit(bench.cluster, TEAM, gang("late", 4))
    await bench.clock.advance(3)
    assert len(await bench.places()) == 4
    await publish(lambda number: number % 2)
    await bench.clock.advance(60)
    assert sorted((await bench.places()).values()) == sorted(one + other)
    await bench.stop()
