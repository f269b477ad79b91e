"""The plan that the README shows is the one that the command prints."""

from __future__ import annotations

import re
from pathlib import Path

from typer.testing import CliRunner

from fourleaf.cli.main import app

ROOT = Path(__file__).parents[2]
SHOWN = re.compile(r"On the example fabric .*?```\n(.*?)```", re.DOTALL)
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
