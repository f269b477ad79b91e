"""`fourleaf queue`: the gangs that wait, in the order of planning, why, and until when."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.cli.input.files import moment, need_terms, reading_of
from fourleaf.cli.input.replay_input import durations_of
from fourleaf.cli.logs import log_to_stderr
from fourleaf.cli.options import (
    Answer,
    Context,
    GangNamespace,
    Interval,
    Kubeconfig,
    Now,
    OutputFormat,
    PlanFiles,
    SchedulerNamespace,
    Server,
    Watch,
)
from fourleaf.cli.output.console import EXIT_OK, err, print_set_aside
from fourleaf.cli.output.documents import Document, tell
from fourleaf.cli.output.progress import Progress
from fourleaf.cli.output.watch import WatchedAnswer, need_anew, present

if TYPE_CHECKING:
    from fourleaf.model.gang import GangKey
    from fourleaf.model.readers import InputReading
    from fourleaf.model.start import Start
    from fourleaf.simulator.readers.expected_ends import ExpectedDurations
    from fourleaf.solver.process.client import SolverClient

Look = tuple[list[Document], float]
"""What waits, and the moment that it is from."""


def queue(
    files: PlanFiles = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    namespace: GangNamespace = None,
    all_namespaces: Annotated[
        bool, typer.Option("-A", "--all-namespaces", help="Those of all namespaces: the default.")
    ] = False,
    server: Server = None,
    output: Answer = OutputFormat.TABLE,
    start: Annotated[
        bool, typer.Option("--start", help="Say when each could start if no new gang came.")
    ] = False,
    recording: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Durations of those that state none, as `record` saw."),
    ] = None,
    now: Now = None,
    watch: Watch = False,
    interval: Interval = 5.0,
) -> None:
    """List the gangs that wait: higher priority first, then older.

    Why each waits is what the scheduler has written into the conditions of its pods. When it
    could start follows from how long the pods that run are expected to: their annotation
    topology.scheduler/expected-duration, else their activeDeadlineSeconds. With --recording, gangs
    that state neither may run as long as most of their namespace and size did before.

    Exit code: 0 the queue was read, 2 it cannot be.
    """
    if server and (start or files):
        raise typer.BadParameter("goes with neither --start nor -f", param_hint="--server")
    if recording is not None and not start:
        raise typer.BadParameter("goes with --start", param_hint="--recording")
    if namespace and all_namespaces:
        raise typer.BadParameter("goes with no -n", param_hint="--all-namespaces")
    need_anew(files, watch)
    reach = ClusterAccess(kubeconfig, context, scheduler_namespace)
    with _looking(reach, files, moment(now), start, recording) as look_there:

        def look() -> Look:
            entries, at = (_from_server(server), time.time()) if server else look_there()
            return [one for one in entries if namespace in (None, one["namespace"])], at

        view = WatchedAnswer(
            look, lambda seen: _tell(*seen, output), lambda _: EXIT_OK, itemgetter(0)
        )
        present(view, output, watch, interval)


def _from_server(server: str) -> list[Document]:
    from fourleaf.cli.cluster.scheduler_server import fetch_status

    entries: list[Document] = fetch_status(server)["queue"]
    return sorted(entries, key=lambda e: (-e["priority"], e["since"], e["namespace"], e["name"]))


@contextmanager
def _looking(
    reach: ClusterAccess,
    files: list[str] | None,
    now: float | None,
    start: bool,
    recording: Path | None,
) -> Iterator[Callable[[], Look]]:
    """A look at the queue of a cluster, or of files, with one solver process for all looks."""
    with ExitStack() as stack:
        client: SolverClient | None = None
        known = None if recording is None else durations_of(recording)
        if start:
            from fourleaf.solver.forecast.ask import asking_client

            log_to_stderr()
            client = stack.enter_context(asking_client())

        def look() -> Look:
            reading = reading_of(reach, files, now, cached=True)
            if files:
                print_set_aside(one for one in reading.problems if one.is_error)
            starts = None if client is None else _starts(client, reading, known)
            return waiting(reading, starts), reading.snapshot.now

        yield look


def _starts(
    client: SolverClient, reading: InputReading, known: ExpectedDurations | None
) -> dict[GangKey, Start]:
    from fourleaf.solver.forecast.ask import ask_starts

    need_terms(reading.snapshot.config, reading.config_source, client.extensions_in_force())
    snapshot = replace(reading.snapshot, standing=reading.standing((), True))
    if known is not None:
        from fourleaf.simulator.readers.expected_ends import with_expected_ends

        snapshot, count = with_expected_ends(snapshot, known)
        err().print(f"{count} gangs that state no duration may run as long as those recorded")
    with Progress("looking ahead"):
        client.wait_until_ready()
        return ask_starts(client, snapshot)


def waiting(reading: InputReading, starts: Mapping[GangKey, Start] | None = None) -> list[Document]:
    """The gangs that wait, each as `/status` tells of it, in the order of planning.

    With its start where `starts` are given.
    """
    from fourleaf.model.documents.queue import queue_entry, start_document, told_of
    from fourleaf.model.start import start_as_told
    from fourleaf.solver.instance.gang_classes import gang_order

    pods, now = reading.pods, reading.snapshot.now
    entries = []
    for gang in sorted(reading.snapshot.gangs, key=gang_order):
        entry = queue_entry(gang, pods)
        if starts is not None:
            start = start_as_told(starts[gang.key], told_of(gang, pods))
            entry["start"] = start_document(start, now)
        entries.append(entry)
    return entries


def _tell(entries: list[Document], now: float, output: OutputFormat) -> None:
    from fourleaf.cli.render.queue import queue_lines
    from fourleaf.model.config.spec import API_VERSION

    tell(
        lambda: {"apiVersion": API_VERSION, "kind": "Queue", "gangs": entries},
        lambda: queue_lines(entries, now, output is OutputFormat.WIDE),
        output,
    )
