"""`benchmarks/RESULTS.md`, the first page of the results: pictures, and what each claim is worth.

`python -m benchmarks.first_page` writes it anew from the pages of tables; so does every `--write`.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from benchmarks.pictures import PICTURES
from benchmarks.read_tables import NoFigure, Tables, read_tables
from benchmarks.verdicts import VERDICTS

INTRO = """\
# Results

Every page of tables is written by the benchmark that it names; none is edited by hand. Times are
wall clock. The machine is shared and small, so compare figures of one page with each other rather
than with another machine's.
"""
SAID = """\
## Verdicts

Each figure is a cell of a table, copied by `python -m benchmarks.first_page`. Where no goal stands,
none was set. *Older*: what is measured has changed since, by a line or by much; the page of tables
names its commit."""


ROOMS = {
    "certify": ("solver", "model"), "churn": ("k8s_bridge", "solver", "model"),
    "communication": ("simulator", "solver", "model"),
    "dashboard": ("dashboard", "solver", "model"),
    "failures": ("simulator", "solver", "model"), "openb": ("solver", "model"),
    "plan": ("cli", "solver", "model"), "queue": ("k8s_bridge", "solver", "model"),
    "recovery": ("k8s_bridge", "solver", "model"), "read": ("model",),
    "repair": ("solver", "model"),
    "solve": ("solver", "model"), "start": ("k8s_bridge", "solver", "model"),
    "steady": ("k8s_bridge", "solver", "model"),
    "sustained": ("k8s_bridge", "solver", "model"), "tenants": ("k8s_bridge", "solver", "model"),
    "tenants.memory": ("k8s_bridge", "solver", "model"),
    "throughput": ("k8s_bridge", "solver", "model"), "trace": ("simulator", "solver", "model"),
    "tune": ("simulator", "solver", "model"), "verbs": ("cli", "solver", "model"),
    "webhook": ("webhook", "model"), "worker": ("k8s_bridge", "solver", "model"),
}  # fmt: skip
"""Benchmark -> the rooms whose code it measures."""


def is_older(tables: Tables) -> bool:
    """Whether the code that is measured has changed since, or its commit is not known here."""
    if not tables.commit:
        return True
    rooms = [f":/{room}" for room in ROOMS[tables.name]]
    done = subprocess.run(
        ["git", "diff", "--quiet", tables.commit, "--", *rooms],  # noqa: S607
        check=False,
        capture_output=True,
        cwd=Path(__file__).parent,
    )
    return done.returncode != 0


def first_page(known: Mapping[str, Tables]) -> str:
    """The first page of `known`. Raises `NoFigure`."""
    pictures, rows = list[str](), list[str]()
    for picture in PICTURES:
        pictures.append(picture.drawn(_of(known, picture.benchmark)))
    for one in VERDICTS:
        at = _of(known, one.benchmark)
        then = "older" if is_older(at) else "as now"
        cells = (one.claim, one.figure(at), one.goal(at), one.met(at), then, at.link)
        rows.append("| " + " | ".join(cells) + " |")
    judged = {one.benchmark for one in VERDICTS}
    rest = "".join(f"- {one.link}\n" for name, one in sorted(known.items()) if name not in judged)
    head = "| claim | figure | goal | met | code | tables |\n|---|---|---|---|---|---|"
    table = "\n".join([head, *rows])
    return "\n\n".join([INTRO.rstrip(), *pictures, SAID, table, f"More tables:\n\n{rest}"])


def _of(known: Mapping[str, Tables], benchmark: str) -> Tables:
    if benchmark not in known:
        raise NoFigure(f"there are no tables of {benchmark}")
    return known[benchmark]


def write(folder: Path) -> None:
    """Write the first page of the tables in `folder` beside it. Raises `NoFigure`."""
    folder.with_name("RESULTS.md").write_text(first_page(read_tables(folder)), "utf-8")


if __name__ == "__main__":
    write(Path(__file__).parent / "tables")
