"""`fourleaf record`: what comes, runs and ends on a cluster, as a trace to replay."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.cluster.addresses import on_signal
from fourleaf.cli.cluster.connection import connected
from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.cli.options import Context, Kubeconfig, LogLevel, SchedulerNamespace

if TYPE_CHECKING:
    from fourleaf.dashboard.sources.live_cluster import LiveSource
    from fourleaf.simulator.recording.files import RecordingFiles


def record(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the trace is written.")],
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    interval: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.2, max=3600, help="Between two looks.")
    ] = 5.0,
    size: Annotated[
        int, typer.Option(metavar="MIB", min=1, help="Of a file, before the next is begun.")
    ] = 64,
    files: Annotated[
        int, typer.Option(metavar="N", min=2, help="Files kept; the oldest is deleted.")
    ] = 16,
    log_level: LogLevel = None,
) -> None:
    """Write down which gangs arrive, run and end, and which nodes fail, until stopped.

    `fourleaf replay DIR` and `fourleaf tune DIR` read it. Started again with the same DIR, it goes
    on where it ended. Pods of other schedulers that hold GPUs are recorded too. Nothing in the
    cluster is changed, and nothing of containers is written but what they ask for.

    Exit code: 0 stopped by a signal, 2 the cluster cannot be read or DIR not be written.
    """
    from fourleaf.k8s_bridge.runtime.logs import set_up_logs
    from fourleaf.k8s_bridge.runtime.open_files import allow_more_open_files
    from fourleaf.simulator.recording.files import MEBIBYTE, BadRecording, RecordingFiles

    allow_more_open_files()
    set_up_logs(log_level)
    written = RecordingFiles(folder, size * MEBIBYTE, files)
    reach = ClusterAccess(kubeconfig, context, scheduler_namespace)
    try:
        asyncio.run(_record(reach, written, interval))
    except BadRecording as error:
        message, _, advice = str(error).partition("\n")
        raise bad_input("record", message, advice) from error


async def _record(reach: ClusterAccess, written: RecordingFiles, interval: float) -> None:
    from fourleaf.dashboard.sources.live_cluster import LiveSource
    from fourleaf.k8s_bridge.runtime.clock import SystemClock

    stop = asyncio.Event()
    on_signal(stop.set)
    async with connected(reach.kubeconfig, reach.context) as cluster:
        home = await reach.home(cluster)
        source = LiveSource(reach.context or reach.name, cluster, SystemClock(), home, home)
        await follow(source, written, interval, stop)


async def follow(
    source: LiveSource, written: RecordingFiles, interval: float, stop: asyncio.Event
) -> None:
    """Record what `source` shows, every `interval` seconds, until `stop` is set.

    What is no longer up to date is not looked at. Raises `BadRecording`, and what breaks `source`.
    """
    import structlog

    from fourleaf.simulator.recording.look import Look, look_at

    log = structlog.get_logger(__name__)
    written.open()
    try:
        # What breaks the source is raised as it is left.
        async with source:
            over = {asyncio.create_task(stop.wait()), asyncio.create_task(_broken(source))}
            synced = asyncio.create_task(source.synced())
            await asyncio.wait({*over, synced}, return_when=asyncio.FIRST_COMPLETED)
            log.info("recording", folder=str(written.folder), interval=interval)
            last: Look | None = None
            while not any(task.done() for task in over):
                moment = source.moment()
                if not moment.unsynced:
                    last = look_at(moment.snapshot, moment.standing((), True), last)
                    written.look(last, _phases(moment.pods))
                await asyncio.wait(over, timeout=interval, return_when=asyncio.FIRST_COMPLETED)
            for task in (*over, synced):
                task.cancel()
    finally:
        written.close()


async def _broken(source: LiveSource) -> None:
    with suppress(Exception):
        await source.broken()


def _phases(pods: Mapping[tuple[str, str], Any]) -> dict[tuple[str, str], str]:
    """The phases of pods that have ended, by namespace and name."""
    phases = {at: body.get("status", {}).get("phase", "") for at, body in pods.items()}
    return {at: phase for at, phase in phases.items() if phase in ("Succeeded", "Failed")}
