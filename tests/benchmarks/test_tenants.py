"""The benchmark of honest gangs beside others runs, in small."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from benchmarks import first_page, results
from benchmarks.read_tables import read_tables
from benchmarks.results import with_rows
from benchmarks.tenants import memory, pods
from benchmarks.tenants.__main__ import HEADER, columns
from benchmarks.tenants.loads import LOADS, Load
from benchmarks.tenants.measure import measured

SMALL = Load(pods.hopeless(3, 2), pods.repelling(2, "r"), namespaces=2, throttled=50, busy=10)


async def test_two_gangs_are_bound_beside_a_small_load() -> None:
    """All counts of the row are those of the load, and no lead is lost over eight small pods."""
    row = await measured(SMALL, 30.0, honest=2)
    assert (row.pods, row.bound, row.leads_lost) == (8, 2, 0)
    assert row.posted > 1_000
    assert 0.0 < row.median <= row.longest < 30.0
    assert len(columns("none", row, row.median)) == len(HEADER)


@pytest.mark.parametrize("name", LOADS)
def test_each_load_can_be_made(name: str) -> None:
    """Names of its pods are different, or the API server would refuse one."""
    load = LOADS[name]()
    names = [body["metadata"]["name"] for body in (*load.bodies, *load.standing)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("last", "ends"), [(191.0, False), (231.0, True)])
def test_memory_is_written_as_a_page_of_tables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, last: float, ends: bool
) -> None:
    """Its command, its goal, a row for each round; status 1 where the second added too much."""
    found = [[90.0, 90.5], [226.0, 181.0], [232.0, last]]
    monkeypatch.setattr(memory, "plane", nullcontext)
    monkeypatch.setattr(memory, "measured", lambda *_: found)
    monkeypatch.setattr(results, "TABLES", tmp_path)
    monkeypatch.setattr(first_page, "write", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["memory", "--write"])
    with pytest.raises(SystemExit) if ends else nullcontext():
        memory.main(5000, True)
    (tables,) = read_tables(tmp_path).values()
    assert tables.name in first_page.ROOMS
    assert "`python -m benchmarks.tenants.memory --write`: " in tables.text
    assert "less than 16 MiB" in tables.text
    held = [(one["pods so far"], one["leader"], one["follower"]) for one in tables.rows()]
    assert held[0] == ("0", "90.0", "90.5")
    assert held[1:] == [("5,000", "226.0", "181.0"), ("10,000", "232.0", f"{last:.1f}")]


def test_rows_that_are_measured_again_take_the_place_of_the_old_ones() -> None:
    """The others stay, and it is said which are newer."""
    body = "How.\n\n| load | median |\n|---|---|\n| none | 4 |\n| a | 5 |\n| b | 6 |"
    assert with_rows(body, [["b", "1"]], "by us") == (
        body.replace("| b | 6 |", "| b | 1 |") + "\n\nMeasured again since, by us: b."
    )
    with pytest.raises(LookupError, match="no row of c"):
        with_rows(body, [["c", "1"]], "by us")
    with pytest.raises(LookupError, match="the row of b has other columns"):
        with_rows(body, [["b", "1", "yes"]], "by us")
    body = "| a | 1 | 5 |\n| a | 2 | 6 |"
    told = "\n\nMeasured again since, by us: a, 2."
    assert with_rows(body, [["a", "2", "7"]], "by us", 2) == "| a | 1 | 5 |\n| a | 2 | 7 |" + told
