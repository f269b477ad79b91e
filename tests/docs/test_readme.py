"""The plan that the README shows is the one that the command prints."""

from __future__ import annotations

import re
from pathlib import Path

from typer.testing import CliRunner

from benchmarks.read_tables import read_tables
from fourleaf.cli.main import app

ROOT = Path(__file__).parents[2]
SHOWN = re.compile(r"On the example fabric .*?```\n(.*?)```", re.DOTALL)
FIGURES = re.compile(r"^\| \[[^|]*\]\(benchmarks/tables/(\w+)\.md\)[^|]* \| (.*)", re.MULTILINE)
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
    """Each number beside a link to tables stands in one of them."""
    found = read_tables(ROOT / "benchmarks" / "tables")
    rows = FIGURES.findall((ROOT / "README.md").read_text())
    assert len(rows) == 3
    for name, cells in rows:
        for number in NUMBER.findall(cells):
            assert any(number in row.values() for row in found[name].rows()), number


def test_the_comparison_has_the_figures_of_its_table() -> None:
    """Of 22 cases in which greedy leaves gangs waiting, how many are improved, how many proven."""
    tables = read_tables(ROOT / "benchmarks" / "tables")["certify"]
    row = ("gangs", "32", "greedy", "1")
    columns = ("cases", "improved", "certified optimal")
    counts = [tables.cell(one, *row).split()[0] for one in columns]
    text = " ".join((ROOT / "OPTIMIZATION_COMPARISON.md").read_text("utf-8").split())
    shown = re.search(r"of (\d+) batches .* more in (\d+), .* the other (\d+) that", text)
    assert shown is not None
    assert list(shown.groups()) == counts
