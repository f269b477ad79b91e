"""The dashboard as a program: what it starts, in which order it stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

import structlog

from fourleaf.dashboard.change_feed import ChangeFeed
from fourleaf.dashboard.cycles import SchedulerCycles
from fourleaf.dashboard.event_stream import Hub
from fourleaf.dashboard.gc_schedule import collecting_while
from fourleaf.dashboard.past.cluster_past import ClusterPast
from fourleaf.dashboard.readiness import Readiness
from fourleaf.dashboard.service import DashboardService
from fourleaf.dashboard.solver_pool import SolverPool
from fourleaf.dashboard.sources.live_cluster import LiveSource
from fourleaf.dashboard.sources.source import ClusterSource
from fourleaf.dashboard.start_times import StartTimes
from fourleaf.dashboard.web.access import Access, NoSecret
from fourleaf.dashboard.web.app import application
from fourleaf.dashboard.web.guard import LOOPBACK
from fourleaf.dashboard.web.probes import side_pages
from fourleaf.dashboard.web.server import DashboardServer
from fourleaf.dashboard.web.templates import Drawing
from fourleaf.dashboard.web.wrong_tokens import WrongTokens
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.http.pages import Address, PageServer
from fourleaf.k8s_bridge.runtime.metric_registry import new_registry

QUEUE = b"event: queue\ndata: {}\n\n"
"""Told when the expected starts are known."""
FIRST = ("/", "/fabric", "/static/main.js")
"""What is not shown before the dashboard is ready."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class DashboardOptions:
    """Where to listen, who may look, and where the scheduler's replicas serve `/cycles`.

    `names` are further names of this dashboard, by which browsers may ask for it. `side` is
    where probes are answered too, and metrics. `recording` is a folder of `fourleaf record`.
    """

    host: str = "127.0.0.1"
    port: int = 8090
    access: Access = field(default_factory=NoSecret)
    servers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    side: Address | None = None
    recording: Path | None = None

    @property
    def answers_to(self) -> frozenset[str] | None:
        """The names by which it may be asked for, None where any will do.

        Where no secret is asked for, or requests from this machine are believed, a page of
        another site whose name was made to lead here could read everything.
        """
        if isinstance(self.access, NoSecret) or self.access.believes_this_machine:
            return frozenset({*LOOPBACK, self.host.lower(), *self.names})
        return frozenset({*LOOPBACK, *self.names}) if self.names else None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@asynccontextmanager
async def serving(
    source: ClusterSource, clock: Clock, options: DashboardOptions
) -> AsyncIterator[DashboardServer]:
    """The server, listening, and all that stands behind it. Raises `OSError`."""
    hub, pool = Hub(), SolverPool()
    start_times = StartTimes(clock, lambda: hub.send(QUEUE), options.recording)
    cycles = SchedulerCycles(options.servers, clock)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(pool.close)
        stack.push_async_callback(start_times.close)
        past = ClusterPast(source, clock, options.recording)
        service = DashboardService(source, pool, start_times, cycles, past, lambda: hub.send(QUEUE))
        stack.push_async_callback(service.close)
        drawing = Drawing(source.name, source.live)
        follower = ChangeFeed(source, hub, clock, service.fabric, drawing.leaf)
        readiness = Readiness(source)
        registry = new_registry()
        wrong_tokens = WrongTokens(clock, registry)
        access, names = options.access, options.answers_to
        app = application(service, hub, follower, readiness, drawing, access, names, wrong_tokens)
        if options.side is not None:
            side = PageServer(side_pages(readiness, registry), options.side)
            await stack.enter_async_context(side)
        server = await stack.enter_async_context(
            DashboardServer(app, options.host, options.port, hub.close)
        )

        async def show() -> None:
            drawing.prepare()
            for path in FIRST:
                await app.show_nobody(path)

        for work in (readiness.run(show), follower.run(), past.run(), cycles.run()):
            stack.callback(asyncio.create_task(work).cancel)
        yield server


async def serve(
    source: ClusterSource,
    clock: Clock,
    options: DashboardOptions,
    stop: asyncio.Event,
    told: Callable[[str], None],
) -> None:
    """Serve pages until `stop` is set; `told` hears at which URL. Raises `OSError`."""
    async with AsyncExitStack() as stack:
        broken: list[asyncio.Task[None]] = []
        if isinstance(source, LiveSource):
            await stack.enter_async_context(source)
            broken.append(asyncio.create_task(source.broken()))
        server = await stack.enter_async_context(serving(source, clock, options))
        await stack.enter_async_context(collecting_while(lambda: server.idle, clock))
        host = f"[{options.host}]" if ":" in options.host else options.host
        told(f"http://{host}:{server.port}")
        _log.info("listening", host=options.host, port=server.port)
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait({stopped, *broken}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        for task in broken:
            if task.done():
                task.result()
            task.cancel()
