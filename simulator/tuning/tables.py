"""The report of a study, as tables of text."""

from __future__ import annotations

from fourleaf.simulator.measures.tables import Table
from fourleaf.simulator.tuning.choice import Compared, compared
from fourleaf.simulator.tuning.knobs import KNOBS
from fourleaf.simulator.tuning.objectives import OBJECTIVES
from fourleaf.simulator.tuning.pareto import Point
from fourleaf.simulator.tuning.verdict import StudyVerdict

MOST_TRIALS = 12
"""Trials of the front that are listed."""


def tables(verdict: StudyVerdict) -> tuple[Table, ...]:
    """The default beside the choice on train and held-out, the knobs, and the Pareto front."""
    return _figures(verdict), _settings(verdict), _front(verdict)


def points(verdict: StudyVerdict) -> list[Point]:
    """The trials as the pictures show them."""
    tuned = None if verdict.tuned is None else verdict.tuned.number
    return [
        Point(
            one.number,
            one.train.values,
            one.number in verdict.front,
            one.number == verdict.default.number,
            one.number == tuned,
        )
        for one in verdict.trials
    ]


def gain(share: float) -> str:
    """A gain in percent, with its sign."""
    return f"{share:+.1%}".replace("%", " %")


def _figures(verdict: StudyVerdict) -> Table:
    header = (
        "objective", "train: default", "chosen", "gain", "held-out: default", "chosen", "gain"
    )  # fmt: skip
    rows = tuple(
        (name, *_train(verdict, at), *_cells(verdict, verdict.held_out, at))
        for at, name in enumerate(verdict.task.objectives)
    )
    return Table("Default and chosen", header, rows)


def _train(verdict: StudyVerdict, at: int) -> tuple[str, str, str]:
    """The figures on train; those of the default stand there even where nothing was chosen."""
    if verdict.train is not None:
        return _cells(verdict, verdict.train, at)
    shown = OBJECTIVES[verdict.task.objectives[at]].shown
    return shown(verdict.default.train.values[at]), "-", "-"


def _cells(verdict: StudyVerdict, one: Compared | None, at: int) -> tuple[str, str, str]:
    shown = OBJECTIVES[verdict.task.objectives[at]].shown
    if one is None:
        return "-", "-", "-"
    return shown(one.default.values[at]), shown(one.tuned.values[at]), gain(one.gains[at])


def _settings(verdict: StudyVerdict) -> Table:
    rows = []
    for name in verdict.task.knobs:
        stands = verdict.default.settings[name]
        low, high = KNOBS[name].reach(stands)
        found = f"{verdict.tuned.settings[name]:g}" if verdict.tuned is not None else "-"
        rows.append((name, f"{stands:g}", found, f"{low:g} to {high:g}"))
    return Table("Settings", ("knob", "default", "chosen", "searched"), tuple(rows))


def _front(verdict: StudyVerdict) -> Table:
    """The trials that no other beats in all objectives, most gain on the mean first."""
    best = sorted(
        (one for one in verdict.trials if one.number in verdict.front),
        key=lambda one: -compared(verdict.task, verdict.default.train, one.train).gain,
    )
    rows = tuple(
        (
            str(one.number),
            *(
                OBJECTIVES[name].shown(value)
                for name, value in zip(verdict.task.objectives, one.train.values, strict=True)
            ),
            ", ".join(f"{name.rsplit('.', 1)[-1]} {one.settings[name]:g}" for name in one.settings),
        )
        for one in best[:MOST_TRIALS]
    )
    title = f"Pareto front on train, {min(MOST_TRIALS, len(best))} of {len(best)}"
    return Table(title, ("trial", *verdict.task.objectives, "settings"), rows)
