"""The table of promises is whole, and what it names is there."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator

from tests.docs.pages import read_page
from tests.docs.test_commands import PATHS, ROOT
from tests.promises.table import FLOOR, Promise, promises

ROWS = promises()
TEST = re.compile(r"(?P<file>tests/[\w/]+/test_\w+\.py)::(?P<name>test_\w+)?")
COMMAND = re.compile(r"(?P<page>[\w./-]+\.md): \$ (?P<command>.+)")
BENCHMARK = re.compile(r"python -m benchmarks\.(?P<name>\w+)")


def missing(held_by: str) -> bool:
    """Whether what is to hold a promise is not there, or is never run."""
    if found := TEST.fullmatch(held_by):
        path, name = ROOT / found["file"], found["name"] or "test_"
        return not path.exists() or not re.search(
            rf"^(?:async )?def {name}", path.read_text(), re.M
        )
    if found := COMMAND.fullmatch(held_by):
        path = ROOT / found["page"]
        steps = read_page(path).steps if path in PATHS else ()
        return not any(
            step.skipped is None and step.command.startswith(found["command"]) for step in steps
        )
    if found := BENCHMARK.fullmatch(held_by):
        spec = importlib.util.find_spec(f"benchmarks.{found['name']}")
        return spec is None or not (ROOT / "benchmarks" / "tables" / f"{found['name']}.md").exists()
    return True


def faults(row: Promise) -> Iterator[str]:
    """What is wrong with a row."""
    yield from (f"{row.n}: {one} is not there" for one in row.by if missing(one))
    if row.verdict == "Y" and not row.by:
        yield f"{row.n}: nothing holds it"
    if row.verdict == "differs" and not row.why:
        yield f"{row.n}: no reason is given"


def test_every_promise_has_a_row() -> None:
    """Numbers run from 1 to 201, each once."""
    assert [row.n for row in ROWS] == list(range(1, 202))


def test_what_holds_a_promise_is_there() -> None:
    """Tests by file and name, commands by their page, benchmarks by their results."""
    assert [fault for row in ROWS for fault in faults(row)] == []


def test_a_promise_once_kept_is_kept() -> None:
    """As many rows are kept as the floor says, which is raised with them."""
    assert sum(row.verdict == "Y" for row in ROWS) == FLOOR


def test_what_is_not_there_is_noticed() -> None:
    """A test that was renamed, a command that no page runs, a benchmark without results."""
    assert missing("tests/promises/test_table.py::test_what_was_renamed")
    assert missing("tests/promises/test_gone.py::")
    assert missing("docs/tutorial.md: $ make gold")
    assert missing("python -m benchmarks.alchemy")
    assert missing("a good feeling")
    assert not missing("docs/tutorial.md: $ fourleaf status")
