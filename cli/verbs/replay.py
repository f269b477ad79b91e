"""`fourleaf replay`: a trace in virtual time on a fabric, policy beside policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourleaf.cli.bad_input import unwritable
from fourleaf.cli.input.replay_input import (
    config_of,
    fabric_of,
    need_fitting,
    need_none,
    need_one_of,
    snapshot_of,
    trace_of,
)
from fourleaf.cli.logs import log_to_stderr
from fourleaf.cli.options import Answer, OutputFormat, filename
from fourleaf.cli.output.console import EXIT_OK, err
from fourleaf.cli.output.documents import tell
from fourleaf.cli.trace_options import (
    Days,
    Duration,
    FabricName,
    Load,
    Period,
    TraceName,
    WindowSlack,
    sizes_option,
)

if TYPE_CHECKING:
    from fourleaf.model.fabric import Fabric
    from fourleaf.simulator.options import ReplayOptions
    from fourleaf.simulator.record import ReplayRecord
    from fourleaf.simulator.trace import Trace


def replay(
    trace: TraceName = None,
    files: Annotated[
        list[str] | None, filename("A snapshot instead of a trace. Repeatable.")
    ] = None,
    duration: Duration = 3600,
    fabric: FabricName = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POLICY",
            help="cpsat, greedy, buddy, first-fit or spread; repeatable, all without it.",
        ),
    ] = None,
    load: Load = None,
    days: Days = None,
    sizes: Annotated[str | None, sizes_option()] = None,
    period: Period = 60,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Decides failures and ties.")] = 0,
    backfill: Annotated[
        bool, typer.Option(help="Keep room for gangs that have waited for long.")
    ] = True,
    failures: Annotated[
        float, typer.Option(metavar="RATE", min=0, help="Node failures per 1000 node-days.")
    ] = 0.0,
    recovery: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="What hit gangs get: repair, patch or restart; else repair, and spread patches.",
        ),
    ] = None,
    defrag: Annotated[
        float, typer.Option(metavar="HOURS", min=0, help="Move gangs so often; not with spread.")
    ] = 0.0,
    oversubscription: Annotated[
        int | None,
        typer.Option(metavar="RATIO", min=1, max=8, help="Stretch durations by shared uplinks."),
    ] = None,
    communication: Annotated[
        float, typer.Option(metavar="PERCENT", min=0, max=99, help="Of a step, in one leaf.")
    ] = 30.0,
    window_slack: WindowSlack = None,
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

    Without TRACE it is one of 64 nodes that is part of the package. DIR of `fourleaf record` is a
    trace of your own. Public traces are no part of the package: docs/replay.md says where each
    file comes from, and TOPOLOGY_DATA_DIR names the folder that they were put into. The same
    command gives the same figures, whatever the machine, as long as no cycle is unproven.

    Exit code: 0 replayed, 2 bad input.
    """
    from fourleaf.cli.render.replay import replay_lines
    from fourleaf.simulator.measures.document import document
    from fourleaf.simulator.options import (
        BackfillOptions,
        Communication,
        DefragmentationOptions,
        FailureModel,
        Recovery,
        ReplayOptions,
        under,
    )
    from fourleaf.simulator.policies.catalogue import NAMES
    from fourleaf.simulator.trace import Sizes

    log_to_stderr()
    names = tuple(dict.fromkeys(policy or NAMES))
    need_one_of(names, NAMES, "--policy")
    need_one_of([recovery or Recovery.REPAIR], list(Recovery), "--recovery")
    need_one_of([sizes or Sizes.ASKED], list(Sizes), "--sizes")
    if files:
        need_none(TRACE=trace, fabric=fabric, load=load, days=days, sizes=sizes)
        jobs, ground, base = snapshot_of(files, duration)
    else:
        name = trace or "bundled"
        ground, base = fabric_of(name, fabric), None
        jobs = trace_of(name, days, Sizes(sizes or Sizes.ASKED), load, ground)
    options = ReplayOptions(
        seed=seed,
        period=period,
        failures=FailureModel(failures, recovery=Recovery(recovery or Recovery.REPAIR)),
        backfill=BackfillOptions(backfill),
        defragmentation=DefragmentationOptions(round(defrag * 3600)),
        communication=Communication(
            oversubscription is not None, oversubscription or 1, round(communication * 10)
        ),
    )
    told = config_of(config, base, options.config.spec.solver.time_limit_seconds, window_slack)
    options = replace(options, config=told)
    asked = [replace(options, policy=n) if recovery else under(options, n) for n in names]
    need_fitting(asked)
    runs = [(one.policy, *_run(jobs, ground, one)) for one in asked]
    tell(
        lambda: document([(record, told) for _, record, told in runs]),
        lambda: replay_lines(jobs, ground, [(name, record) for name, record, _ in runs]),
        OutputFormat.JSON if json else output,
    )
    if pictures is not None:
        _draw(pictures, jobs, ground, [(name, record) for name, record, _ in runs])
    raise typer.Exit(EXIT_OK)


def _run(jobs: Trace, ground: Fabric, options: ReplayOptions) -> tuple[ReplayRecord, ReplayOptions]:
    """One replay, with a bar on standard error where that is a terminal."""
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from fourleaf.simulator.replay import replay as replayed

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


def _draw(folder: Path, jobs: Trace, ground: Fabric, runs: list[tuple[str, ReplayRecord]]) -> None:
    """Write the sheet and the page. Raises `BadInput` where that is not possible."""
    from fourleaf.simulator.measures.tables import note, remarks, tables, title
    from fourleaf.simulator.pictures.charts import runs_of
    from fourleaf.simulator.pictures.page import write_page
    from fourleaf.simulator.pictures.sheet import write_sheet

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
        raise unwritable(str(folder), error, "folder") from error
    err().print(f"pictures: {folder / 'replay.png'}, {folder / 'replay.html'}")
