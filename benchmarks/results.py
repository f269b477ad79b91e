"""What was measured: a page of tables for each benchmark, written as a whole by its `--write`.

`benchmarks/RESULTS.md` is their first page: see `benchmarks.first_page`.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from benchmarks import first_page
from benchmarks.read_tables import NoFigure

TABLES = Path(__file__).parent / "tables"


def machine() -> str:
    """One line: processor, cores, load, versions and commit."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
        cwd=TABLES.parent,
    ).stdout.strip()
    return (
        f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; "
        f"Python {platform.python_version()} ({platform.python_compiler()}), "
        f"ortools {version('ortools')}, commit {commit}"
    )


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def ran(name: str, args: Sequence[str]) -> str:
    """The command that measures all of it again anywhere, and whether findings came from a file."""
    left = list(args)
    if "--kept" in left:
        at = left.index("--kept")
        del left[at : at + 2]
    left = [one for one in left if one not in ("--no-replay", "--any-code")]
    command = " ".join([f"`python -m benchmarks.{name}", *left]) + "`"
    if "--kept" not in args:
        return command
    older = "; findings of baselines may be of earlier code" if "--any-code" in args else ""
    return f"{command} (here with findings kept in a file{older})"


def write_tables(name: str, title: str, body: str) -> None:
    """Write the page of the benchmark `name`, with the command that was run, and the first page."""
    command = ran(name, sys.argv[1:])
    _write(name, f"# {title}\n\n{command}: {machine()}\n\n{body}\n")


def amend_tables(name: str, change: Callable[[str], str]) -> None:
    """Change what follows title and command on the page of `name`: these say who measured it.

    Raises `LookupError` where there is none.
    """
    path = TABLES / f"{name}.md"
    if not path.exists():
        raise LookupError(f"{path} is not there")
    title, told, body = path.read_text("utf-8").strip("\n").split("\n\n", 2)
    _write(name, f"{title}\n\n{told}\n\n{change(body)}\n")


def with_rows(body: str, rows: Sequence[Sequence[str]], told: str, keys: int = 1) -> str:
    """The tables of `body` with these `rows` in place of those of the same first cells, and `told`.

    The first `keys` cells of a row say what was measured. Raises `LookupError` where there is no
    such row, or it has other columns.
    """
    lines = body.split("\n")
    for row in rows:
        start = f"| {' | '.join(row[:keys])} |"
        at = next((i for i, line in enumerate(lines) if line.startswith(start)), None)
        if at is None:
            raise LookupError(f"the page has no row of {', '.join(row[:keys])}")
        if lines[at].count(" | ") != len(row) - 1:
            raise LookupError(f"the row of {', '.join(row[:keys])} has other columns")
        lines[at] = "| " + " | ".join(row) + " |"
    names = "; ".join(", ".join(row[:keys]) for row in rows)
    return "\n".join(lines) + f"\n\nMeasured again since, {told}: {names}."


def _write(name: str, text: str) -> None:
    """Write a page of tables, and the first page; where a figure of that is gone, say so."""
    TABLES.mkdir(exist_ok=True)
    (TABLES / f"{name}.md").write_text(text, "utf-8")
    try:
        first_page.write(TABLES)
    except NoFigure as error:
        sys.stderr.write(f"the verdicts stay as they were: {error}; see benchmarks/verdicts.py\n")
