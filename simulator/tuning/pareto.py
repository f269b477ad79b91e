"""What a study tried, each pair of objectives on axes of its own, as PNG and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourleaf.simulator.measures.summary import HOUR
from fourleaf.simulator.measures.tables import Table, duration
from fourleaf.simulator.pictures.charts import COLOURS
from fourleaf.simulator.pictures.html import INCHES, document, section, svg
from fourleaf.simulator.tuning.objectives import OBJECTIVES, Direction, Objective

FRONT, CHOSEN, OTHER = COLOURS[0], COLOURS[1], COLOURS[4]


@dataclass(frozen=True, slots=True)
class Point:
    """One trial: its values in the order of the objectives, and what there is to say of it."""

    number: int
    values: tuple[float, ...]
    front: bool = False
    default: bool = False
    chosen: bool = False


def write_sheet(path: Path, title: str, objectives: Sequence[str], points: Sequence[Point]) -> None:
    """Draw all pairs into the file `path`. Raises `OSError` where it cannot."""
    pairs = _pairs(objectives)
    figure = Figure(figsize=(INCHES[0], len(pairs) * INCHES[1]), layout="constrained")
    figure.suptitle(title)
    for number, pair in enumerate(pairs):
        draw(objectives, points, pair, figure.add_subplot(len(pairs), 1, number + 1))
    figure.savefig(path, format="png", dpi=110, metadata={"Software": None})


def write_page(
    path: Path,
    title: str,
    notes: Sequence[str],
    tables: Sequence[Table],
    objectives: Sequence[str],
    points: Sequence[Point],
) -> None:
    """Write the page to `path`. Raises `OSError` where it cannot."""
    charts = "\n".join(
        section(
            " and ".join(_named(objectives, pair)),
            "; ".join(f"{one}: {OBJECTIVES[one].meaning}" for one in _named(objectives, pair)),
            svg(str(pair), partial(draw, objectives, points, pair)),
        )
        for pair in _pairs(objectives)
    )
    path.write_text(document(title, notes, tables, charts), encoding="utf-8")


def draw(
    objectives: Sequence[str], points: Sequence[Point], pair: tuple[int, int], axes: Axes
) -> None:
    """One pair of objectives; a single one is drawn over the trials in their order."""
    across, up = pair
    measures = [OBJECTIVES[name] for name in objectives]
    for label, colour, marker, size, some in (
        ("trial", OTHER, "o", 14, [p for p in points if not p.front]),
        ("Pareto front", FRONT, "o", 26, [p for p in points if p.front]),
        ("default", "black", "s", 60, [p for p in points if p.default]),
        ("chosen", CHOSEN, "*", 140, [p for p in points if p.chosen]),
    ):
        if some:
            x = [
                p.number if across == up else _scaled(measures[across], p.values[across])
                for p in some
            ]
            y = [_scaled(measures[up], p.values[up]) for p in some]
            axes.scatter(x, y, s=size, color=colour, marker=marker, label=label, zorder=3)
    axes.set_xlabel("trial" if across == up else _label(measures[across]))
    axes.set_ylabel(_label(measures[up]))
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def _named(objectives: Sequence[str], pair: tuple[int, int]) -> list[str]:
    return list(dict.fromkeys(objectives[at] for at in pair))


def _pairs(objectives: Sequence[str]) -> list[tuple[int, int]]:
    return list(combinations(range(len(objectives)), 2)) or [(0, 0)]


def _scaled(one: Objective, value: float) -> float:
    """Hours for times, percent for shares of GPU-seconds, others as they are."""
    if one.shown is duration:
        return value / HOUR
    return 100 * value if one.name == "allocation" else value


def _label(one: Objective) -> str:
    unit = ", hours" if one.shown is duration else " in %" if one.name == "allocation" else ""
    better = "more" if one.direction is Direction.MAXIMIZE else "less"
    return f"{one.name}{unit} ({better} is better)"
