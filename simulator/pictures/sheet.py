"""All charts on one sheet, as PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from fourleaf.simulator.pictures.charts import CHARTS, Run
from fourleaf.simulator.pictures.html import INCHES

COLUMNS = 2


def write_sheet(path: Path, title: str, runs: Sequence[Run]) -> None:
    """Draw the charts of `runs` into the file `path`. Raises `OSError` where it cannot."""
    rows = -(-len(CHARTS) // COLUMNS)
    figure = Figure(figsize=(COLUMNS * INCHES[0], rows * INCHES[1]), layout="constrained")
    figure.suptitle(title)
    for number, chart in enumerate(CHARTS):
        axes = figure.add_subplot(rows, COLUMNS, number + 1)
        chart.draw(axes, runs)
        axes.set_title(chart.title, loc="left", fontsize="medium")
    figure.savefig(path, format="png", dpi=110, metadata={"Software": None})
