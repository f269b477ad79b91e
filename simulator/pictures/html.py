"""Pages that need no other file and no network: head, tables, drawings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from io import StringIO

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourleaf.simulator.measures.tables import Table

INCHES = (7.0, 3.4)
"""Width and height of one chart."""
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


def document(title: str, notes: Sequence[str], tables: Sequence[Table], charts: str) -> str:
    """The page as text: the tables, then the charts, which are HTML already."""
    said = "\n".join(f"<p>{escape(note)}</p>" for note in notes)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{said}\n"
        + "\n".join(_table(one) for one in tables)
        + f'\n<div class="charts">\n{charts}\n</div>\n</body>\n</html>\n'
    )


def section(title: str, meaning: str, drawing: str) -> str:
    """One chart with its title and what it means."""
    return (
        f"<section><h2>{escape(title)}</h2>"
        f'<p class="meaning">{escape(meaning)}</p>\n{drawing}</section>'
    )


def svg(salt: str, draw: Callable[[Axes], None]) -> str:
    """One drawing as SVG, the same for the same data; `salt` keeps its ids its own."""
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": salt}):
        figure = Figure(figsize=INCHES, layout="constrained")
        draw(figure.add_subplot())
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def _table(table: Table) -> str:
    head = _cells("th", table.header)
    body = "\n".join(f"<tr>{_cells('td', row)}</tr>" for row in table.rows)
    return (
        f'<h2>{escape(table.title)}</h2>\n<div class="table"><table>\n'
        f"<tr>{head}</tr>\n{body}\n</table></div>"
    )


def _cells(tag: str, cells: Iterable[str]) -> str:
    return "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
