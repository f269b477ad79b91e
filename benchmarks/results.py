"""`benchmarks/RESULTS.md`: one section per benchmark, replaced as a whole by its `--write`."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from benchmarks.verdicts import NoFigure, with_verdicts

RESULTS = Path(__file__).parent / "RESULTS.md"
INTRO = """# Results

Every section is written by the benchmark that it names; none is edited by hand. Times are
wall clock. The machine is shared and small, so compare figures of one section with each other
rather than with another machine's.
"""


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
        cwd=RESULTS.parent,
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
    """The command that replays a section anywhere, and whether findings came from a file."""
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


def write_section(name: str, title: str, body: str) -> None:
    """Replace the section `name`, or add it, with the command that was run."""
    text = RESULTS.read_text() if RESULTS.exists() else INTRO
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    command = ran(name, sys.argv[1:])
    section = f"{start}\n## {title}\n\n{command}: {machine()}\n\n{body}\n{end}"
    if start in text and end in text:
        before, after = text.split(start, 1)[0], text.split(end, 1)[1]
        text = before + section + after
    else:
        text = text.rstrip() + "\n\n" + section + "\n"
    _write(text)


def _write(text: str) -> None:
    """Write the results with the verdicts on top; where a figure of these is gone, say so."""
    try:
        text = with_verdicts(text)
    except NoFigure as error:
        sys.stderr.write(f"the verdicts stay as they were: {error}; see benchmarks/verdicts.py\n")
    RESULTS.write_text(text)


def amend_section(name: str, change: Callable[[str], str]) -> None:
    """Change the text of the section `name`; the command and machine that measured it stay.

    Raises `LookupError` where there is none.
    """
    text = RESULTS.read_text() if RESULTS.exists() else ""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if start not in text or end not in text:
        raise LookupError(f"{RESULTS} has no section {name}")
    before, rest = text.split(start, 1)
    section, after = rest.split(end, 1)
    title, told, body = section.strip("\n").split("\n\n", 2)
    _write(f"{before}{start}\n{title}\n\n{told}\n\n{change(body)}\n{end}{after}")
