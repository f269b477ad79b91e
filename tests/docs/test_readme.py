"""The plan that the README shows is the one that the command prints."""

from __future__ import annotations

import re
from pathlib import Path

from typer.testing import CliRunner

from benchmarks.verdicts import sections
from fourleaf.cli.main import app

ROOT = Path(__file__).parents[2]
SHOWN = re.compile(r"On the example fabric .*?```\n(.*?)```", re.DOTALL)
FIGURES = re.compile(r"^\| \[[^|]*\]\(benchmarks/RESULTS.md(#[^)]*)\)[^|]* \| (.*)", re.MULTILINE)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
MILLISECONDS = re.compile(r"[0-9]+ ms")


def test_the_sample_plan_is_that_of_the_examples() -> None:
    """Line by line, but for how long it took; `...` stands for lines left out."""
    found = SHOWN.search((ROOT / "README.md").read_text())
    assert found
    said = CliRunner().invoke(app, ["plan", "-f", str(ROOT / "examples")], env={"COLUMNS": "80"})
    rest = MILLISECONDS.sub("", said.stdout).splitlines()
    for line in MILLISECONDS.sub("", found[1]).splitlines():
        if line.strip() != "...":
            assert line in rest, f"the command does not print: {line}"
            rest = rest[rest.index(line) + 1 :]


def test_the_figures_of_the_first_page_are_those_of_the_results() -> None:
    """Each number beside a link to a section stands in a table of that section."""
    found = sections((ROOT / "benchmarks" / "RESULTS.md").read_text())
    by_link = {one.link.partition("](")[2].rstrip(")"): one for one in found.values()}
    rows = FIGURES.findall((ROOT / "README.md").read_text())
    assert len(rows) == 3
    for link, cells in rows:
        for number in NUMBER.findall(cells):
            assert any(number in row.values() for row in by_link[link].rows()), number
