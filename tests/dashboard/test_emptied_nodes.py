"""What there is to plan once nodes were emptied, worked out by hand; no solver is asked."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.dashboard.emptied_nodes import Emptied, afterwards
from fourleaf.model.fabric import Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.plan import Move, PlanStatus
from fourleaf.model.previews.drain import Drained
from fourleaf.model.relocation import RepairPlan
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from tests.dashboard.made import moment, node, runs

EIGHT = Resources(gpus=8)


def gang(name: str, pods: tuple[str, ...], bound: tuple[tuple[str, str], ...] = ()) -> Gang:
    """A gang of `ml` with `pods` to be placed."""
    return Gang(GangKey("ml", name), (Role(pods, EIGHT, bound=bound),))


def source() -> Snapshot:
    """Two nodes: g and h run on a, g lacks a member that waits, w waits as well."""
    running = [runs("g-0", "a", 4, "g", (0, 1, 2, 3)), runs("h-0", "a", 4, "h")]
    gangs = (gang("g", ("g-1",), (("g-0", "a"),)), gang("w", ("w-0",)))
    return moment([Leaf("l0", "s0", (node("a"), node("b")))], running, gangs).snapshot


def emptied(enabled: bool = True) -> Emptied:
    """Node a is emptied: g-0 goes to b, its waiting member too, and h starts over."""
    moves = (
        Move("ml", "g-0", "a", "b", "its node is emptied"),
        Move("ml", "g-1", "", "b", "it waits for a node"),
    )
    drained = Drained(
        ("a",),
        RepairPlan(PlanStatus.OPTIMAL, restarts=(GangKey("ml", "h"),)),
        {GangKey("ml", "g"): moves},
        {},
        (),
        (),
        enabled,
    )
    return Emptied(drained, {GangKey("ml", "h"): gang("h", ("h-0",))})


def test_who_moves_stands_elsewhere_and_who_starts_over_waits() -> None:
    """g-0 is on b, with devices that nobody knows yet; h waits, whole, beside g and w."""
    after = afterwards(source(), emptied())
    assert after.running == (runs("g-0", "b", 4, "g"),)
    assert after.gangs == (
        gang("g", ("g-1",), (("g-0", "b"),)),
        gang("w", ("w-0",)),
        gang("h", ("h-0",)),
    )


def test_where_repair_is_off_nobody_moves() -> None:
    """As the page says then."""
    assert afterwards(source(), emptied(enabled=False)) == source()


def test_who_finds_no_place_keeps_what_it_holds() -> None:
    """Nobody moves and nobody starts over: all stays."""
    one = emptied()
    nobody = Emptied(replace(one.drained, moves={}), {})
    assert afterwards(source(), nobody) == source()
