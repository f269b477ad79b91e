"""A page with charts and tables that needs no other file and no network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from io import StringIO
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from simulator.measures.tables import Table
from simulator.pictures.charts import CHARTS, Chart, Run
from simulator.pictures.sheet import INCHES

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem;
  color: #1e293b; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .3rem; }
p.meaning { margin: 0; color: #64748b; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(30rem, 1fr)); gap: 1.5rem; }
.charts svg { width: 100%; height: auto; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid #e2e8f0; }
th:first-child, td:first-child { text-align: left; }
"""


def page(title: str, note: str, tables: Sequence[Table], runs: Sequence[Run]) -> str:
    """The page as text: the tables, then every chart as a drawing within it."""
    charts = "\n".join(_section(chart, runs) for chart in CHARTS)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n<p>{escape(note)}</p>\n"
        + "\n".join(_table(one) for one in tables)
        + f'\n<div class="charts">\n{charts}\n</div>\n</body>\n</html>\n'
    )


def write_page(
    path: Path, title: str, note: str, tables: Sequence[Table], runs: Sequence[Run]
) -> None:
    """Write the page to `path`. Raises `OSError` where it cannot."""
    path.write_text(page(title, note, tables, runs), encoding="utf-8")


def _section(chart: Chart, runs: Sequence[Run]) -> str:
    return (
        f"<section><h2>{escape(chart.title)}</h2>"
        f'<p class="meaning">{escape(chart.meaning)}</p>\n{drawing(chart, runs)}</section>'
    )


def drawing(chart: Chart, runs: Sequence[Run]) -> str:
    """One chart as SVG, the same for the same runs."""
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": chart.title}):
        figure = Figure(figsize=INCHES, layout="constrained")
        chart.draw(figure.add_subplot(), runs)
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    return (
        f'<h2>{escape(table.title)}</h2>\n<div class="table"><table>\n'
        f"<tr>{head}</tr>\n{body}\n</table></div>"
    )
