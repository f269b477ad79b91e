"""A study for people: progress while it runs, and its report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from fourleaf.cli.render.replay import as_is
from fourleaf.simulator.tuning.knobs import Settings, settings_of
from fourleaf.simulator.tuning.objectives import OBJECTIVES
from fourleaf.simulator.tuning.tables import tables
from fourleaf.simulator.tuning.task import TuningTask
from fourleaf.simulator.tuning.verdict import StudyVerdict, sentence

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial


class Watching:
    """Shows trials as they end: a bar on a terminal, a line each elsewhere."""

    def __init__(self, console: Console, task: TuningTask, trials: int, done: int) -> None:
        self._console = console
        self._task = task
        self._trials = trials
        self._done = done
        self._bar = Progress(
            TextColumn("trials"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._row = self._bar.add_task("", total=trials, completed=done)

    def __enter__(self) -> Watching:
        if self._console.is_terminal:
            self._bar.start()
        elif self._done:
            self._console.print(f"{self._done} of {self._trials} trials were done before")
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def trial(self, one: FrozenTrial) -> None:
        """Take note of a trial that ended."""
        self._done += 1
        said = ", ".join(
            f"{name} {OBJECTIVES[name].shown(value)}"
            for name, value in zip(self._task.objectives, one.values, strict=True)
        )
        self._bar.update(self._row, completed=self._done, description=said)
        if not self._console.is_terminal:
            self._console.print(
                f"trial {one.number}, {self._done} of {self._trials}: {said}", soft_wrap=True
            )

    def lost(self, number: int, code: int) -> None:
        """Say that a worker died."""
        self._console.print(f"worker {number} died ({code}); the study goes on")


@contextmanager
def judging(
    console: Console, task: TuningTask, settings: Settings, held_out: bool
) -> Iterator[Callable[[int, int], None]]:
    """Shows which replay of a verdict runs: a spinner on a terminal, a line each elsewhere."""
    which = "the default" if settings == settings_of(task.config, task.knobs) else "the choice"
    part = "held-out" if held_out else "train"

    def said(number: int, count: int) -> str:
        return f"judging {which} on {part}: replay {number} of {count}"

    if not console.is_terminal:
        yield lambda number, count: console.print(said(number, count), soft_wrap=True)
        return
    with console.status("") as status:
        yield lambda number, count: status.update(said(number, count))


def report(verdict: StudyVerdict) -> Iterator[RenderableType]:
    """The verdict first, then what it rests on."""
    split, task = verdict.split, verdict.task
    yield Text(sentence(verdict), style="bold")
    yield Text(f"train: {split.train_window}; {_cases(len(split.train))}", style="dim")
    looks = f"; judged {verdict.looks} times so far" if verdict.looks > 1 else ""
    held_out = f"{split.held_out_window}; {_cases(len(split.held_out))}{looks}"
    yield Text(f"held-out: {held_out}", style="dim")
    unproven = sum(one.train.unproven for one in verdict.trials)
    if unproven:
        yield Text(f"{unproven} cycles were not proven: a time limit had a say", style="yellow")
    for one in tables(verdict):
        yield Text(f"\n{one.title}", style="bold")
        yield as_is(one)
    yield Text(f"\nsampler: TPE, seed {task.seed}", style="dim")


def _cases(count: int) -> str:
    return "1 replay" if count == 1 else f"{count} replays"
