"""The map of the fabric, at every size."""

from __future__ import annotations

import pytest

from fourleaf.cli.render.fabric_map import MAX_ROWS, fabric_map
from fourleaf.cli.render.glyphs import ASCII, UNICODE, glyphs_for
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan, PlanStatus
from fourleaf.model.snapshot import Snapshot
from tests.cli.made import example, example_plan, fabric, placed

NOTHING = Plan(PlanStatus.OPTIMAL, ())


def lines(snapshot: Snapshot, plan: Plan = NOTHING, width: int = 80) -> list[str]:
    """The rows of the map without the legend."""
    return [line.plain for line in fabric_map(snapshot, plan, width, UNICODE)[:-2]]


def test_example_shows_each_state_of_a_node() -> None:
    """Free, busy, partly taken, cordoned, not ready, placed now and shared look different."""
    drawn = [line.plain for line in fabric_map(example(), example_plan(), 78, UNICODE)]
    assert drawn == [
        "spine-0  ···· ···· ·█·· BBBB ████ ···· ▄·◌· ····  leaf-00 – leaf-07",
        "spine-1  ···· ██·· ··██ AAAA AAAA *!·· ···· ·▄▄·  leaf-08 – leaf-15",
        "",
        "A placed now  * shared  · free  ▄ partly  █ busy  ◌ cordoned  ! not ready",
    ]


def test_ascii_map_holds_nothing_else() -> None:
    """A terminal that knows no Unicode gets the same map in ASCII."""
    drawn = fabric_map(example(), example_plan(), 78, ASCII)
    assert all(line.plain.isascii() for line in drawn)
    assert drawn[0].plain.startswith("spine-0  .... .... .#.. BBBB #### ....")
    assert glyphs_for("ISO-8859-1") is ASCII
    assert glyphs_for("utf-8") is UNICODE


def test_thousand_nodes_fit_on_a_screen() -> None:
    """1000 nodes in 32 spines take one row each in 80 columns, a cell per node."""
    drawn = lines(fabric(32, 8, 4))
    assert len(drawn) == 32
    assert drawn[0].count("·") == 32
    assert max(map(len, drawn)) <= 80


def test_large_fabric_has_a_cell_per_leaf() -> None:
    """Where a cell per node needs too many rows, each leaf becomes one cell."""
    snapshot = fabric(60, 32, 4)
    key = GangKey("ml", "g")
    drawn = lines(snapshot, Plan(PlanStatus.OPTIMAL, (placed(key, ["leaf-59-31-0"]),)))
    assert len(drawn) == 60
    assert drawn[0].split()[1] == "·" * 32
    assert drawn[59].split()[1] == "·" * 31 + "A"


def test_too_many_spines_show_those_with_placements_first() -> None:
    """What does not fit is counted, and what was placed now is never hidden."""
    plan = Plan(PlanStatus.OPTIMAL, (placed(GangKey("ml", "g"), ["leaf-199-0-0"]),))
    drawn = lines(fabric(200, 1, 2), plan)
    assert len(drawn) == MAX_ROWS + 1
    assert drawn[0].startswith("spine-199")
    assert drawn[-1] == "and 136 more spines"


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_no_row_is_wider_than_the_terminal(width: int) -> None:
    """Leaves of 100 nodes are broken into pieces, small ones wrap as groups."""
    for snapshot in (fabric(2, 3, 100), fabric(3, 40, 4)):
        drawn = lines(snapshot, width=width)
        assert all(len(line) <= width for line in drawn)
        total = len(snapshot.fabric.nodes)
        assert sum(line.count("·") for line in drawn) == total


def test_empty_fabric_has_no_rows() -> None:
    """Nothing to draw is not an error."""
    assert lines(fabric(0, 0, 0)) == []
