"""`fourleaf agent`: the devices of a node, published for the scheduler."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourleaf.cli.cluster.addresses import address, health_address, serve_until_stopped
from fourleaf.cli.cluster.connection import connected
from fourleaf.cli.options import Context, HealthListen, Kubeconfig, LogLevel
from fourleaf.cli.output.console import EXIT_OK
from fourleaf.cli.output.documents import write_document

if TYPE_CHECKING:
    from fourleaf.agent.agent import Agent
    from fourleaf.agent.discovery.select_sources import DiscoverySettings
    from fourleaf.agent.metrics import AgentMetrics
    from fourleaf.agent.readings import DeviceReader
    from fourleaf.agent.timed_reader import PatientReader
    from fourleaf.k8s_bridge.cluster.live import LiveCluster
    from fourleaf.k8s_bridge.runtime.http.pages import Address

EXIT_NOT_READY = 1
EXIT_NOT_PUBLISHED = 2


class From(StrEnum):
    """Where the devices are read from."""

    AUTO = "auto"
    NVML = "nvml"
    AMDSMI = "amdsmi"
    FILE = "file"


class AskedCloud(StrEnum):
    """Whose metadata tells where a node stands."""

    NONE = "none"
    AKS = "aks"
    EKS = "eks"
    GKE = "gke"
    OCI = "oci"


class InventoryFormat(StrEnum):
    """How the inventory is printed."""

    JSON = "json"
    YAML = "yaml"


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """Which node is looked after, how often, and where the agent connects and listens.

    `discovery` says by what its place in the fabric is found, None for not at all.
    """

    node: str
    interval: float
    kubeconfig: str | None
    context: str | None
    host: str
    port: int
    health: Address | None
    discovery: DiscoverySettings | None


def agent(
    node_name: Annotated[
        str | None, typer.Option(envvar="NODE_NAME", metavar="NODE", help="The node it runs on.")
    ] = None,
    source: Annotated[
        From, typer.Option(help="Where to read devices; auto: from whichever driver has any.")
    ] = From.AUTO,
    from_file: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Read this inventory, in YAML or JSON, instead."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Read and publish once, then end.")] = False,
    output: Annotated[
        InventoryFormat | None,
        typer.Option("-o", "--output", help="With --once: print the inventory, publish nothing."),
    ] = None,
    interval: Annotated[
        float, typer.Option(min=1.0, max=60.0, metavar="SECONDS", help="Between two readings.")
    ] = 15.0,
    discover: Annotated[
        bool, typer.Option("--discover", help="Find out where the node stands in its fabric.")
    ] = False,
    host_files: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="With --discover: where the host writes lldp.json, ibnetdiscover.txt, ibstat.txt.",
        ),
    ] = Path("/run/fourleaf"),
    sysfs: Annotated[
        Path, typer.Option(metavar="FOLDER", help="With --discover: where the host's /sys is.")
    ] = Path("/sys"),
    cloud: Annotated[
        AskedCloud, typer.Option(help="With --discover: whose metadata is asked, too.")
    ] = AskedCloud.NONE,
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where probes and metrics are served.")
    ] = "127.0.0.1:8082",
    health_listen: HealthListen = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    log_level: LogLevel = None,
) -> None:
    """Publish the devices of this node and how they are, until stopped.

    It writes only what has changed, and compares what runs with what was granted. To see the
    processes of pods it has to see those of the host. With --discover it publishes as well where
    the node stands in its fabric.

    Exit code: 0 stopped, or published with --once; 1 with --once: the inventory cannot be
    relied on, or a pod uses what it was not granted; 2 bad options, or not published.
    """
    from fourleaf.agent.readers.select_reader import SourceName, reader_for
    from fourleaf.agent.timed_reader import PatientReader
    from fourleaf.k8s_bridge.runtime.logs import set_up_logs
    from fourleaf.k8s_bridge.runtime.open_files import allow_more_open_files

    chosen = _source(source, from_file)
    if output is not None and not once:
        raise typer.BadParameter("prints one reading: add --once", param_hint="-o")
    allow_more_open_files()
    set_up_logs(log_level)
    reader = reader_for(SourceName(chosen.value), from_file)
    discovery = _discovery(node_name or "", host_files, sysfs, cloud) if discover else None
    if output is not None:
        raise typer.Exit(_print(reader, node_name or "", output, discovery))
    if not node_name:
        raise typer.BadParameter(
            "names no node: give it, or set NODE_NAME", param_hint="--node-name"
        )
    setting = AgentOptions(
        node_name,
        interval,
        kubeconfig,
        context,
        *address(listen),
        health_address(health_listen),
        discovery,
    )
    patient = PatientReader(reader)
    try:
        run = _once(setting, patient) if once else _until_stopped(setting, patient)
        code = asyncio.run(run)
    finally:
        patient.close()
    if code:
        raise typer.Exit(code)


def _source(source: From, file: Path | None) -> From:
    if file is None and source is From.FILE:
        raise typer.BadParameter("is needed for --source file", param_hint="--from-file")
    if file is not None and source not in (From.AUTO, From.FILE):
        raise typer.BadParameter(
            f"is not read with --source {source.value}: leave one of them out",
            param_hint="--from-file",
        )
    return From.FILE if file is not None else source


def _discovery(node: str, files: Path, sysfs: Path, cloud: AskedCloud) -> DiscoverySettings:
    from fourleaf.agent.discovery.select_sources import Cloud, DiscoverySettings

    return DiscoverySettings(node, files, sysfs, Cloud(cloud.value))


def _print(
    reader: DeviceReader, node: str, output: InventoryFormat, discovery: DiscoverySettings | None
) -> int:
    """Print one reading as the object that would be published; the exit code."""
    import time

    from fourleaf.agent.discovery.discover import Discovery
    from fourleaf.agent.discovery.select_sources import sources_of
    from fourleaf.agent.inventory import inventory
    from fourleaf.agent.inventory_consistency import examined
    from fourleaf.agent.node import NodeIdentity, own_boot_id

    reading = reader.read()
    reader.close()
    if discovery is not None and reading.topology is None:
        found = Discovery(sources_of(discovery), time.monotonic).read()
        reading = replace(reading, topology=found)
    looked_at = examined(reading)
    identity = NodeIdentity(node, "", own_boot_id())
    devices = inventory(identity, looked_at, None, None, time.time())
    document = {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuNodeStatus",
        "metadata": {"name": node} if node else {},
        "status": devices.model_dump(mode="json", by_alias=True, exclude_none=True),
    }
    write_document(document, output)
    return EXIT_NOT_READY if looked_at.faults else EXIT_OK


async def _once(setting: AgentOptions, patient: PatientReader) -> int:
    async with _agent(setting, patient) as (agent, _, _):
        done = await agent.once()
    if done.error is not None:
        return EXIT_NOT_PUBLISHED
    return EXIT_OK if done.ready and not done.mismatches else EXIT_NOT_READY


async def _until_stopped(setting: AgentOptions, patient: PatientReader) -> int:
    from fourleaf.agent.http import AgentHealth, AgentServer
    from fourleaf.k8s_bridge.runtime.http.pages import Address, PageServer

    async with _agent(setting, patient) as (agent, metrics, cluster):
        health = AgentHealth(agent.beat_age, lambda: agent.ready)
        server = AgentServer(
            health,
            metrics.registry,
            Address(setting.host, setting.port),
            lambda: metrics.requests(cluster.traffic.requests),
        )
        probes = PageServer(health.probes(), setting.health) if setting.health else None
        await serve_until_stopped(server, probes, agent.run)
    return EXIT_OK


@asynccontextmanager
async def _agent(
    setting: AgentOptions, patient: PatientReader
) -> AsyncIterator[tuple[Agent, AgentMetrics, LiveCluster]]:
    from fourleaf.agent import agent as room
    from fourleaf.agent.discovery.discover import Discovery
    from fourleaf.agent.discovery.select_sources import sources_of
    from fourleaf.agent.discovery.timed_discovery import TimedDiscovery
    from fourleaf.agent.metrics import AgentMetrics
    from fourleaf.agent.node import own_boot_id
    from fourleaf.k8s_bridge.runtime.clock import SystemClock

    clock = SystemClock()
    metrics = AgentMetrics(clock)
    async with connected(setting.kubeconfig, setting.context) as cluster:
        of_node = room.AgentSettings(setting.node, setting.interval, own_boot_id())
        discover = None
        if setting.discovery is not None:
            found = Discovery(sources_of(setting.discovery), clock.monotonic)
            discover = TimedDiscovery(found, clock).read
        made = room.Agent(cluster, clock, patient.read, of_node, metrics, discover)
        yield made, metrics, cluster
