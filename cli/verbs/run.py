"""`fourleaf run`: the scheduler of a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from fourleaf.cli.cluster.addresses import address, health_address, serve_until_stopped
from fourleaf.cli.cluster.connection import connected, own_namespace
from fourleaf.cli.cluster.solver_process import solver
from fourleaf.cli.options import (
    ConfigNamespace,
    Context,
    HealthListen,
    Kubeconfig,
    LogLevel,
    Namespace,
    SchedulerNames,
)

if TYPE_CHECKING:
    from fourleaf.k8s_bridge.reporting.installed_extensions import InstalledExtension
    from fourleaf.k8s_bridge.reporting.traces import Traces
    from fourleaf.k8s_bridge.runtime.http.pages import Address
    from fourleaf.k8s_bridge.scheduler import SchedulerOptions
    from fourleaf.model.extensions import BindingPlugin
    from fourleaf.solver.process.client import SolverClient


class DryRunMode(StrEnum):
    """When a gang is tried out before it is decided."""

    ALWAYS = "always"
    NEVER = "never"
    AUTO = "auto"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Where a scheduler connects, listens and keeps its audit lines, and the plugins.

    `plugins` are steps of bindings; `installed` are these, and the rules and terms, which the
    solver loads.
    """

    kubeconfig: str | None
    context: str | None
    host: str
    port: int
    audit: str | None
    traces: bool
    health: Address | None
    plugins: tuple[BindingPlugin, ...] = ()
    installed: tuple[InstalledExtension, ...] = ()


def run(
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_name: SchedulerNames = None,
    namespace: Namespace = None,
    config_namespace: ConfigNamespace = "kube-system",
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where probes, metrics and status are served.")
    ] = "127.0.0.1:8080",
    health_listen: HealthListen = None,
    lease_seconds: Annotated[
        int,
        typer.Option(
            metavar="SECONDS", min=3, max=60, help="How long the lead holds without a renewal."
        ),
    ] = 6,
    dry_run: Annotated[
        DryRunMode,
        typer.Option(help="Try gangs out first; auto: where a webhook looks at bindings."),
    ] = DryRunMode.AUTO,
    audit: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Append a line for each decision; - for stdout."),
    ] = None,
    traces: Annotated[
        bool,
        typer.Option(
            "--traces",
            envvar="FOURLEAF_TRACES",
            help="Send spans of cycles and gangs to the collector of OpenTelemetry that "
            "OTEL_EXPORTER_OTLP_ENDPOINT names.",
        ),
    ] = False,
    log_level: LogLevel = None,
) -> None:
    """Schedule the gangs of a cluster, until stopped.

    Several replicas elect a leader.

    Exit code: 0 stopped by a signal, 2 the cluster cannot be reached with these credentials.
    """
    from fourleaf.k8s_bridge.reporting.installed_extensions import installed
    from fourleaf.model.extensions import load_bindings

    setting = RunOptions(
        kubeconfig,
        context,
        *address(listen),
        audit,
        traces,
        health_address(health_listen),
        load_bindings(),
        installed(),
    )
    with solver() as client:
        from fourleaf.k8s_bridge.election.election import Timing
        from fourleaf.k8s_bridge.runtime.garbage import freeze_survivors
        from fourleaf.k8s_bridge.runtime.logs import set_up_logs
        from fourleaf.k8s_bridge.runtime.open_files import allow_more_open_files
        from fourleaf.k8s_bridge.scheduler import SchedulerOptions
        from fourleaf.solver.process.deadlines import say_nothing_of_dropped_tasks

        allow_more_open_files()
        freeze_survivors()
        say_nothing_of_dropped_tasks()
        set_up_logs(log_level)
        _log_plugins(setting.installed)
        options = SchedulerOptions(
            namespace=namespace or own_namespace(),
            config_namespace=config_namespace,
            scheduler_names=tuple(scheduler_name or ()),
            dry_run=dry_run.value,
            timing=Timing(lease_seconds, lease_seconds / 4, lease_seconds / 4),
        )
        asyncio.run(_until_stopped(options, setting, client))


def _log_plugins(installed: Iterable[InstalledExtension]) -> None:
    """One line for each, so that the log says whose code takes part."""
    import structlog

    log = structlog.get_logger(__name__)
    for one in installed:
        log.info("plugin_installed", **asdict(one))


async def _until_stopped(
    options: SchedulerOptions, setting: RunOptions, client: SolverClient
) -> None:
    from fourleaf.k8s_bridge.reporting.traces import traces_to

    with traces_to() if setting.traces else nullcontext() as traces:
        await _run(options, setting, client, traces)


async def _run(
    options: SchedulerOptions, setting: RunOptions, client: SolverClient, traces: Traces | None
) -> None:
    from fourleaf.k8s_bridge.reporting.audit import Audit, audit_to
    from fourleaf.k8s_bridge.reporting.http import ProbeServer, StateServer
    from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
    from fourleaf.k8s_bridge.reporting.reporter import Reporter
    from fourleaf.k8s_bridge.reporting.scheduler_state import SchedulerState
    from fourleaf.k8s_bridge.runtime.clock import SystemClock
    from fourleaf.k8s_bridge.runtime.http.pages import Address
    from fourleaf.k8s_bridge.scheduler import Scheduler
    from fourleaf.k8s_bridge.scheduling.async_solver import AsyncSolver

    clock = SystemClock()
    metrics = SchedulerMetrics()
    async with (
        AsyncSolver(client) as solver,
        connected(setting.kubeconfig, setting.context) as cluster,
    ):
        audit = Audit(audit_to(setting.audit), clock) if setting.audit else None

        def reporter(scheduler: SchedulerState) -> Reporter:
            requests, plugins = cluster.traffic.requests, setting.installed
            return Reporter(scheduler, metrics, audit, requests, traces, plugins)

        plugins = setting.plugins
        scheduler = Scheduler(
            cluster, clock, solver.plan, options, reporter, planner=solver, plugins=plugins
        )
        address = Address(setting.host, setting.port)
        server = StateServer(scheduler.reporter, metrics.registry, address)
        probes = ProbeServer(scheduler.reporter, setting.health) if setting.health else None
        await serve_until_stopped(server, probes, scheduler.run)
