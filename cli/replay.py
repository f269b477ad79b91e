"""`fourleaf replay`: a public trace in virtual time on a fabric, policy beside policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.console import EXIT_OK, err
from cli.documents import tell
from cli.options import Answer, OutputFormat

if TYPE_CHECKING:
    from model.config import SchedulerConfig
    from model.fabric import Fabric
    from model.problems import BadInput
    from simulator.options import Options
    from simulator.record import Record
    from simulator.trace import Sizes, Trace

FABRIC_OF = {"kalos": "lingjun", "philly": "regular:1000", "openb": "openb"}
"""Where a trace is replayed if nobody says."""


def replay(
    trace: Annotated[
        str | None, typer.Argument(help="kalos, philly or openb; kalos without it.")
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "-f", "--filename", metavar="PATH", help="A snapshot instead of a trace. Repeatable."
        ),
    ] = None,
    duration: Annotated[
        int, typer.Option(metavar="SECONDS", min=1, help="Of gangs of a snapshot that state none.")
    ] = 3600,
    fabric: Annotated[
        str | None,
        typer.Option(metavar="NAME[:N]", help="lingjun, openb or regular, with N nodes."),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(help="cpsat, greedy, buddy, first-fit or spread; repeatable, all without it."),
    ] = None,
    load: Annotated[
        float | None,
        typer.Option(metavar="PERCENT", min=1, max=1000, help="Space arrivals to offer this load."),
    ] = None,
    days: Annotated[
        int | None, typer.Option(min=1, help="Only so many days, those with most arrivals.")
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(help="asked, whole-nodes (rounded up), or node-per-gpu (scaled up)."),
    ] = None,
    period: Annotated[int, typer.Option(min=1, help="Seconds between cycles.")] = 60,
    seed: Annotated[int, typer.Option(min=0, help="Decides failures and ties.")] = 0,
    backfill: Annotated[
        bool, typer.Option(help="Keep room for gangs that have waited for long.")
    ] = True,
    failures: Annotated[
        float, typer.Option(metavar="RATE", min=0, help="Node failures per 1000 node-days.")
    ] = 0.0,
    recovery: Annotated[
        str | None,
        typer.Option(
            help="What hit gangs get: repair, patch or restart; else repair, and spread patches."
        ),
    ] = None,
    defrag: Annotated[
        float, typer.Option(metavar="HOURS", min=0, help="Move gangs so often; not with spread.")
    ] = 0.0,
    oversubscription: Annotated[
        int | None, typer.Option(min=1, max=8, help="Stretch durations by shared uplinks.")
    ] = None,
    communication: Annotated[
        float, typer.Option(metavar="PERCENT", min=0, max=99, help="Of a step, in one leaf.")
    ] = 30.0,
    window_slack: Annotated[
        int | None, typer.Option(min=0, max=1, help="Leaves beyond the fewest; as the config has.")
    ] = None,
    config: Annotated[
        str | None, typer.Option(metavar="PATH", help="A SchedulerConfig to replay under.")
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write replay.png and replay.html there.")
    ] = None,
    output: Answer = OutputFormat.TABLE,
    json: Annotated[bool, typer.Option("--json", hidden=True, help="As -o json.")] = False,
) -> None:
    """Replay a trace under one policy or several, and compare what comes of it.

    The data is read from the folder that TOPOLOGY_DATA_DIR names. The same command gives the
    same figures, whatever the machine, as long as no cycle is unproven.

    Exit code: 0 replayed, 2 bad input.
    """
    from cli.logs import log_to_stderr
    from cli.render.replay import replay_lines
    from simulator.measures.document import document
    from simulator.options import (
        Backfill,
        Communication,
        Defragmentation,
        Failures,
        Options,
        Recovery,
        under,
    )
    from simulator.policies.catalogue import NAMES
    from simulator.trace import Sizes

    log_to_stderr()
    names = tuple(dict.fromkeys(policy or NAMES))
    need_one_of(names, NAMES, "--policy")
    need_one_of([recovery or Recovery.REPAIR], list(Recovery), "--recovery")
    need_one_of([sizes or Sizes.ASKED], list(Sizes), "--sizes")
    if files:
        _need_none(TRACE=trace, fabric=fabric, load=load, days=days, sizes=sizes)
        jobs, ground, base = _snapshot(files, duration)
    else:
        name = trace or "kalos"
        ground, base = _fabric(name, fabric), None
        jobs = _trace(name, days, Sizes(sizes or Sizes.ASKED), load, ground)
    options = Options(
        seed=seed,
        period=period,
        failures=Failures(failures, recovery=Recovery(recovery or Recovery.REPAIR)),
        backfill=Backfill(backfill),
        defragmentation=Defragmentation(round(defrag * 3600)),
        communication=Communication(
            oversubscription is not None, oversubscription or 1, round(communication * 10)
        ),
    )
    told = _config(config, base, options.config.spec.solver.time_limit_seconds, window_slack)
    options = replace(options, config=told)
    asked = [replace(options, policy=n) if recovery else under(options, n) for n in names]
    _need_rule(asked)
    runs = [(one.policy, *_run(jobs, ground, one)) for one in asked]
    tell(
        lambda: document([(record, told) for _, record, told in runs]),
        lambda: replay_lines(jobs, ground, [(name, record) for name, record, _ in runs]),
        OutputFormat.JSON if json else output,
    )
    if pictures is not None:
        _draw(pictures, jobs, ground, [(name, record) for name, record, _ in runs])
    raise typer.Exit(EXIT_OK)


def need_one_of(given: Sequence[str], known: Sequence[str], option: str) -> None:
    """A usage error where one of `given` is not `known`."""
    for name in given:
        if name not in known:
            raise typer.BadParameter(f"'{name}'; there are {', '.join(known)}", param_hint=option)


def _need_none(**given: object) -> None:
    """A usage error for what shapes a trace, where a snapshot is replayed as it is."""
    for name, value in given.items():
        if value is not None:
            hint = name if name.isupper() else f"--{name}"
            said = "does not go with -f: a snapshot has its own gangs and nodes; leave one out"
            raise typer.BadParameter(said, param_hint=hint)


def _fabric(trace: str, name: str | None) -> Fabric:
    """The fabric to replay on. Raises `BadInput` where its data is missing."""
    from simulator.readers.catalogue import TRACES, fabric
    from simulator.readers.folder import NoData

    need_one_of([trace], list(TRACES), "TRACE")
    try:
        return fabric(name or FABRIC_OF[trace])
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--fabric") from error
    except NoData as error:
        raise _refused(error) from error


def _trace(name: str, days: int | None, sizes: Sizes, load: float | None, ground: Fabric) -> Trace:
    """The jobs to replay. Raises `BadInput` where their file is missing."""
    from simulator.readers.catalogue import TRACES
    from simulator.readers.folder import NoData
    from simulator.trace import DAY

    nodes = [node.allocatable.gpus for node in ground.nodes.values()]
    try:
        trace = TRACES[name].read()
    except NoData as error:
        raise _refused(error) from error
    if days is not None:
        trace = trace.busiest(days * DAY)
    trace = trace.sized(sizes, max(nodes))
    if load is not None:
        try:
            trace = trace.at_load(load / 100, sum(nodes))
        except ValueError as error:
            said = f"{error} with the {len(trace.jobs)} gangs of '{name}'; try a smaller load"
            raise typer.BadParameter(said, param_hint="--load") from error
    return trace


def _need_rule(asked: Sequence[Options]) -> None:
    """Raise `BadInput` where a policy cannot do what is asked of it."""
    from simulator.options import NoRule, need_rule

    try:
        for one in asked:
            need_rule(one)
    except NoRule as error:
        raise _refused(error) from error


def _refused(error: Exception) -> BadInput:
    """Bad input from a message of which the second line is the advice."""
    from model.problems import BadInput, Problem, Severity

    message, _, advice = str(error).partition("\n")
    return BadInput([Problem(Severity.ERROR, "replay", "", "", "", message, advice)])


def _snapshot(files: Sequence[str], duration: int) -> tuple[Trace, Fabric, SchedulerConfig]:
    """What is in the files of a snapshot, and its config. Raises `BadInput`."""
    from cli.console import print_problems
    from cli.inputs import need_nodes, read_files
    from simulator.readers.snapshot import trace_of

    reading = read_files(files)
    need_nodes(reading.snapshot, files)
    print_problems(reading.problems)
    snapshot = reading.snapshot
    return trace_of(snapshot, duration), snapshot.fabric, snapshot.config


def _config(
    path: str | None, found: SchedulerConfig | None, patience: float, slack: int | None
) -> SchedulerConfig:
    """The config in `path`, else the one found, with the patience of replays in seconds.

    Raises `BadInput`.
    """
    from cli.inputs import need_terms, read_files
    from model.config import SchedulerConfig
    from model.extensions import Extensions

    config = found or SchedulerConfig()
    if path is not None:
        reading = read_files([path])
        config = reading.snapshot.config
        need_terms(config, reading.config_source, Extensions())
    spec = config.spec
    solver = spec.solver.model_copy(update={"time_limit_seconds": patience})
    changes: dict[str, object] = {"solver": solver}
    if slack is not None:
        changes["topology"] = spec.topology.model_copy(update={"window_slack": slack})
    return config.model_copy(update={"spec": spec.model_copy(update=changes)})


def _run(jobs: Trace, ground: Fabric, options: Options) -> tuple[Record, Options]:
    """One replay, with a bar on standard error where that is a terminal."""
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from simulator.replay import replay as replayed

    columns = (
        TextColumn("{task.description:10}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = err()
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(options.policy, total=jobs.span)
        record = replayed(
            jobs, ground, options, lambda now, _: progress.update(task, completed=now)
        )
    return record, options


def _draw(folder: Path, jobs: Trace, ground: Fabric, runs: list[tuple[str, Record]]) -> None:
    """Write the sheet and the page. Raises `BadInput` where that is not possible."""
    from model.problems import BadInput, Problem, Severity
    from simulator.measures.tables import note, remarks, tables, title
    from simulator.pictures.charts import runs_of
    from simulator.pictures.page import write_page
    from simulator.pictures.sheet import write_sheet

    drawn = runs_of(runs)
    head = title(jobs, ground)
    figures = [(run.name, run.record, run.summary) for run in drawn]
    shown = tables(figures)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_sheet(folder / "replay.png", head, drawn)
        said = " ".join([note(jobs), *(f"{one}." for one in remarks(figures))])
        write_page(folder / "replay.html", head, said, shown, drawn)
    except OSError as error:
        advice = "Name a folder that can be written."
        message = f"cannot be written: {error.strerror}"
        problem = Problem(Severity.ERROR, str(folder), "", "", "", message, advice)
        raise BadInput([problem]) from error
    err().print(f"pictures: {folder / 'replay.png'}, {folder / 'replay.html'}")
