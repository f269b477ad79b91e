"""A page with the charts and tables of replays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fourleaf.simulator.measures.tables import Table
from fourleaf.simulator.pictures.charts import CHARTS, Chart, Run
from fourleaf.simulator.pictures.html import document, section, svg


def page(title: str, note: str, tables: Sequence[Table], runs: Sequence[Run]) -> str:
    """The page as text: the tables, then every chart as a drawing within it."""
    charts = "\n".join(section(one.title, one.meaning, drawing(one, runs)) for one in CHARTS)
    return document(title, [note], tables, charts)


def write_page(
    path: Path, title: str, note: str, tables: Sequence[Table], runs: Sequence[Run]
) -> None:
    """Write the page to `path`. Raises `OSError` where it cannot."""
    path.write_text(page(title, note, tables, runs), encoding="utf-8")


def drawing(chart: Chart, runs: Sequence[Run]) -> str:
    """One chart as SVG, the same for the same runs."""
    return svg(chart.title, lambda axes: chart.draw(axes, runs))
