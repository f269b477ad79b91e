"""`fourleaf dashboard`: pages that show a cluster, and change nothing in it."""

from __future__ import annotations

import asyncio
import sys
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourleaf.cli.cluster.addresses import HEALTH_OPTION, address, health_address, on_signal, taken
from fourleaf.cli.cluster.connection import connected
from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.cli.cluster.scheduler_namespace import OPTION
from fourleaf.cli.input.files import moment, open_files
from fourleaf.cli.options import (
    Context,
    HealthListen,
    Kubeconfig,
    LogLevel,
    Now,
    SchedulerNamespace,
)
from fourleaf.cli.output.console import write

if TYPE_CHECKING:
    from fourleaf.dashboard.serve import DashboardOptions
    from fourleaf.dashboard.sources.source import ClusterSource
    from fourleaf.dashboard.web.access import Access

TRUSTED = ("127.0.0.0/8", "::1/128")


def dashboard(
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    snapshot: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Show what `fourleaf snapshot` wrote, without a cluster. Repeatable.",
        ),
    ] = None,
    now: Now = None,
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where pages are served.")
    ] = "127.0.0.1:8090",
    health_listen: HealthListen = None,
    server: Annotated[
        list[str] | None,
        typer.Option(
            envvar="FOURLEAF_SERVER",
            metavar="URL",
            help="Where a replica of the scheduler tells of its cycles. Repeatable.",
        ),
    ] = None,
    recording: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Begin with the last day of what `record` wrote there, and expect gangs that "
            "state no duration to end as it saw others do.",
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            exists=True,
            dir_okay=False,
            help="Ask for the token in this file; it is read again whenever it is asked for.",
        ),
    ] = None,
    auth_header: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Believe the user in this header of a trusted proxy, such as X-Forwarded-User.",
        ),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CIDR",
            help="Where such proxies are. Repeatable; without it, only on this machine.",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--host",
            metavar="NAME",
            help="A further name by which browsers ask for it, as a proxy on this machine passes "
            "it on. Repeatable.",
        ),
    ] = None,
    log_level: LogLevel = None,
) -> None:
    """Show fabric, queue, gangs, cycles and what-ifs in a browser, until stopped.

    Nothing in the cluster is changed. Other machines are served only with --token-file or
    --auth-header.

    Exit code: 0 stopped by a signal, 2 bad options, or the cluster or file cannot be read.
    """
    host, port = address(listen)
    access = _access(token_file, auth_header, trusted_proxy or ())
    from fourleaf.dashboard.serve import DashboardOptions, is_loopback
    from fourleaf.dashboard.web.access import NoSecret
    from fourleaf.k8s_bridge.runtime.logs import set_up_logs
    from fourleaf.k8s_bridge.runtime.open_files import allow_more_open_files

    if isinstance(access, NoSecret) and not is_loopback(host):
        raise typer.BadParameter(
            f"'{host}' can be reached from elsewhere: give --token-file or --auth-header too",
            param_hint="--listen",
        )
    if snapshot and (context or scheduler_namespace or recording):
        hint = f"--context, --recording or {OPTION}"
        raise typer.BadParameter("goes with no --snapshot", param_hint=hint)
    allow_more_open_files()
    set_up_logs(log_level)
    names = tuple(one.lower() for one in name or ())
    options = DashboardOptions(
        host,
        port,
        access,
        tuple(server or ()),
        names,
        health_address(health_listen),
        None if recording is None else _folder(recording),
    )
    if snapshot:
        asyncio.run(_files(snapshot, moment(now), options))
    else:
        asyncio.run(_live(ClusterAccess(kubeconfig, context, scheduler_namespace), options))


def _folder(path: Path) -> Path:
    """The folder of a recording, which has to hold one."""
    from fourleaf.simulator.recording.files import files_of

    if not files_of(path):
        raise typer.BadParameter(
            f"'{path}' holds no recording; `fourleaf record {path}` begins one",
            param_hint="--recording",
        )
    return path


def _access(token_file: Path | None, header: str | None, proxies: list[str] | tuple[()]) -> Access:
    from fourleaf.dashboard.web.access import SHORTEST_TOKEN, NoSecret, Proxied, Token

    if token_file and header:
        raise typer.BadParameter("give one of the two", param_hint="--token-file or --auth-header")
    if proxies and not header:
        raise typer.BadParameter("goes with --auth-header", param_hint="--trusted-proxy")
    if token_file:
        if len(token_file.read_text(errors="replace").strip()) < SHORTEST_TOKEN:
            raise typer.BadParameter(
                f"'{token_file}' holds fewer than {SHORTEST_TOKEN} characters; "
                "make a token with: openssl rand -hex 32",
                param_hint="--token-file",
            )
        return Token(token_file)
    if not header:
        return NoSecret()
    try:
        networks = [ip_network(one) for one in proxies or TRUSTED]
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--trusted-proxy") from error
    return Proxied(header, networks)


async def _files(paths: list[str], now: float | None, options: DashboardOptions) -> None:
    from fourleaf.dashboard.sources.snapshot_files import FileSource

    await _until_stopped(FileSource(", ".join(paths), open_files(paths), now), options)


async def _live(reach: ClusterAccess, options: DashboardOptions) -> None:
    from fourleaf.dashboard.sources.live_cluster import LiveSource
    from fourleaf.k8s_bridge.runtime.clock import SystemClock

    async with connected(reach.kubeconfig, reach.context) as cluster:
        home = await reach.home(cluster)
        source = LiveSource(reach.context or reach.name, cluster, SystemClock(), home, home)
        await _until_stopped(source, options)


async def _until_stopped(source: ClusterSource, options: DashboardOptions) -> None:
    from fourleaf.dashboard.serve import serve
    from fourleaf.k8s_bridge.runtime.clock import SystemClock
    from fourleaf.k8s_bridge.runtime.http.listener import AddressTaken

    stop = asyncio.Event()
    on_signal(stop.set)
    try:
        await serve(source, SystemClock(), options, stop, _say)
    except AddressTaken as error:
        pages = f"{options.host}:{options.port}"
        raise taken(error, "--listen" if error.where == pages else HEALTH_OPTION) from error


def _say(url: str) -> None:
    """Print where pages are served, at once: the reader of a pipe waits for it."""
    write(url)
    sys.stdout.flush()
