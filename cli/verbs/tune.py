"""`fourleaf tune`: better weights from evidence, chosen on one part, judged on another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourleaf.cli.bad_input import unwritable
from fourleaf.cli.logs import log_to_stderr
from fourleaf.cli.options import Answer, OutputFormat, filename
from fourleaf.cli.output.console import EXIT_OK, EXIT_PENDING, err, print_set_aside
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
    from fourleaf.simulator.tuning.cases import Split
    from fourleaf.simulator.tuning.evaluate import Evaluation
    from fourleaf.simulator.tuning.knobs import Settings
    from fourleaf.simulator.tuning.task import TuningTask
    from fourleaf.simulator.tuning.verdict import StudyVerdict


def tune(
    trace: TraceName = None,
    files: Annotated[
        list[str] | None,
        filename("Snapshots in place of the trace, oldest first; two at least. Repeatable."),
    ] = None,
    duration: Duration = 3600,
    fabric: FabricName = None,
    load: Load = None,
    days: Days = None,
    sizes: Annotated[str, sizes_option()] = "asked",
    period: Period = 60,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Decides what is tried, and ties.")
    ] = 0,
    window_slack: WindowSlack = None,
    config: Annotated[
        str | None, typer.Option(metavar="PATH", help="The SchedulerConfig to start from.")
    ] = None,
    objective: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE",
            help="allocation, largest-wait, leaves, wait or completion; repeatable, the first "
            "three without it. Their mean gain decides, and none may get much worse.",
        ),
    ] = None,
    knob: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="What is turned, as a path within spec; repeatable."),
    ] = None,
    held_out: Annotated[
        float,
        typer.Option(
            metavar="SHARE", min=0.05, max=0.95, help="The share that comes last, for the verdict."
        ),
    ] = 0.3,
    deals: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Replays of a trace: as recorded, and dealt anew."),
    ] = 3,
    tolerance: Annotated[
        float, typer.Option(metavar="PERCENT", min=0, help="What any objective may lose.")
    ] = 1.0,
    trials: Annotated[int, typer.Option(metavar="N", min=1, help="Of the whole study.")] = 60,
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Processes at work here.")] = 1,
    worker: Annotated[
        bool, typer.Option("--worker", help="Join the study as one worker, and report nothing.")
    ] = False,
    worker_number: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, envvar="JOB_COMPLETION_INDEX", help="Of this worker, from 0."
        ),
    ] = 0,
    storage: Annotated[
        str | None,
        typer.Option(metavar="URL", help="sqlite:///FILE (default), a database, journal:///FILE."),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Its name in the storage; the trace's without it."),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write tune.png and tune.html there.")
    ] = None,
    write_config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the ConfigMap there."),
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Write it even where nothing better was found.")
    ] = False,
    output: Answer = OutputFormat.TABLE,
) -> None:
    """Search the weights on the earlier part of a trace, and judge the choice on the later part.

    A study that was ended goes on where it was, and --trials counts from its beginning. The
    ConfigMap holds the evidence in its annotations.

    Exit code: 0 better on held-out (or, for a worker, all trials done), 2 bad input, 3 nothing
    better found.
    """
    from fourleaf.cli.input.tune_input import refused, settled
    from fourleaf.cli.render.tune import report
    from fourleaf.simulator.tuning.cases import split_of
    from fourleaf.simulator.tuning.document import document
    from fourleaf.simulator.tuning.storage import DEFAULT
    from fourleaf.simulator.tuning.worker import work

    log_to_stderr()
    task = settled(
        config,
        window_slack,
        trace=trace,
        snapshots=tuple(files or ()),
        duration=duration,
        fabric=fabric,
        load=load,
        days=days,
        sizes=sizes,
        held_out=held_out,
        deals=deals,
        period=period,
        seed=seed,
        objectives=tuple(objective or ()),
        knobs=tuple(knob or ()),
    )
    url, name = storage or DEFAULT, study or ("snapshots" if files else task.trace)
    with refused(task, url, name):
        if worker:
            work(url, name, task, trials, worker_number)
            raise typer.Exit(EXIT_OK)
        # Before the study is begun: evidence that is refused must leave no study of it behind.
        split = split_of(task)
        print_set_aside(split.problems)
        _search(url, name, task, trials, workers)
        verdict = _judged(url, name, task, split, tolerance / 100)
    tell(lambda: document(verdict), lambda: report(verdict), output)
    if pictures is not None:
        _draw(pictures, verdict)
    if write_config is not None and (verdict.better or anyway):
        _write_config(write_config, verdict, name)
    elif write_config is not None:
        err().print(f"{write_config} is not written: nothing better was found; --anyway writes it")
    raise typer.Exit(EXIT_OK if verdict.better else EXIT_PENDING)


def _search(url: str, name: str, task: TuningTask, trials: int, workers: int) -> None:
    """Run what is left of the trials, here or in processes, with progress on standard error."""
    from fourleaf.cli.render.tune import Watching
    from fourleaf.simulator.tuning.storage import open_storage
    from fourleaf.simulator.tuning.study import finished, open_study
    from fourleaf.simulator.tuning.worker import work
    from fourleaf.simulator.tuning.workers import together

    done = len(finished(open_study(open_storage(url), name, task)))
    with Watching(err(), task, trials, done) as watching:
        if done >= trials:
            return
        if workers == 1:
            work(url, name, task, trials, listen=watching.trial)
        else:
            together(url, name, task, trials, workers, watching.trial, watching.lost)


def _judged(url: str, name: str, task: TuningTask, split: Split, tolerance: float) -> StudyVerdict:
    """The verdict on the study as it stands, with progress on standard error."""
    from fourleaf.cli.render.tune import judging
    from fourleaf.simulator.tuning.evaluate import evaluate
    from fourleaf.simulator.tuning.storage import open_storage
    from fourleaf.simulator.tuning.study import open_study
    from fourleaf.simulator.tuning.verdict import verdict_of

    def judge(settings: Settings, held_out: bool) -> Evaluation:
        cases = split.held_out if held_out else split.train
        with judging(err(), task, settings, held_out) as begun:
            return evaluate(task, settings, cases, begun)

    return verdict_of(open_study(open_storage(url), name, task), task, split, judge, tolerance)


def _draw(folder: Path, verdict: StudyVerdict) -> None:
    """Write the sheet and the page. Raises `BadInput` where that is not possible."""
    from fourleaf.simulator.tuning.pareto import write_page, write_sheet
    from fourleaf.simulator.tuning.tables import points, tables
    from fourleaf.simulator.tuning.verdict import sentence

    objectives, drawn = verdict.task.objectives, points(verdict)
    split = verdict.split
    title = f"Tuning: {split.train_window}"
    notes = [sentence(verdict), f"Train: {split.train_window}. Held-out: {split.held_out_window}."]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_sheet(folder / "tune.png", title, objectives, drawn)
        write_page(folder / "tune.html", title, notes, tables(verdict), objectives, drawn)
    except OSError as error:
        raise unwritable("tune", error, "place", value=str(folder)) from error
    err().print(f"pictures: {folder / 'tune.png'}, {folder / 'tune.html'}")


def _write_config(file: Path, verdict: StudyVerdict, study: str) -> None:
    """Write the ConfigMap of the choice, or of the default where there is none."""
    from fourleaf.cli.output.tuned_config import config_map

    best = verdict.tuned or verdict.default
    text = config_map(verdict, best.settings, study)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable("tune", error, "place", value=str(file)) from error
    err().print(f"config: kubectl apply -f {file}")
