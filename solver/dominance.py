"""Places that no best plan needs, found before a variable is made for them.

Take a gang that sits in one leaf, and call a leaf *quiet* when no phantom can use it. If
the gang sits at a place worth v while a quiet leaf worth more has room for it, moving it
there is better: every score is evaluated alone, so nothing else changes. Hence in a best
plan every quiet place worth more is blocked, each by at least one pod of another gang that
can use quiet leaves. With K such pods in all, v is at least the value of the (K + 1)-th
best quiet place, and places worth less need no variable.

What a place is worth depends on the nodes used there. The threshold counts every place at
its least, a place is dropped only where it is below at its most, so the cut is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

from solver.locations import Location
from solver.scorer import Scorer
from solver.units import Unit
from solver.view import View

WORTHWHILE = 4
"""So many times more quiet places than rivals, or too few would go to pay for the look."""


@dataclass(slots=True)
class Usable:
    """A location with room: gangs that fit, and its points by party."""

    place: Location
    fit: int
    worth: list[tuple[int, int]]


@dataclass(slots=True)
class _Option:
    """A place on nodes of one comfort: least and most points, before the party's own."""

    usable: Usable
    comfort: int
    least: int
    most: int


def prune(
    view: View, scorer: Scorer, units: list[tuple[Unit, dict[int, Usable]]]
) -> dict[int, set[tuple[int, int]]]:
    """Drop what cannot matter from the usable locations of each unit.

    Returns, by position of the unit, the (leaf, comfort) pairs that gangs of one pod need
    not consider although their leaf remains.
    """
    contested = {
        leaf
        for unit, usable in units
        if unit.phantom
        for entry in usable.values()
        for leaf, _ in entry.place.takes
    }
    rivals = sum(
        unit.most * sum(unit.kind.sizes)
        for unit, usable in units
        if not unit.phantom and (unit.loose or _touches_quiet(usable, contested))
    )
    skipped: dict[int, set[tuple[int, int]]] = {}
    for position, (unit, usable) in enumerate(units):
        if not _prunable(unit, usable):
            continue
        quiet = sum(
            len(view.by_comfort[leaf]) if counts == (1,) else 1
            for entry in usable.values()
            for leaf, counts in entry.place.takes
            if leaf not in contested
        )
        if quiet > WORTHWHILE * rivals:
            skipped[position] = _prune_unit(view, scorer, unit, usable, contested, rivals)
    return skipped


def _leaves(entry: Usable) -> list[int]:
    return [leaf for leaf, _ in entry.place.takes]


def _touches_quiet(usable: dict[int, Usable], contested: set[int]) -> bool:
    return any(not contested.issuperset(_leaves(entry)) for entry in usable.values())


def _prunable(unit: Unit, usable: dict[int, Usable]) -> bool:
    alone = unit.phantom or unit.loose or unit.careful or bool(unit.bound)
    return (
        not alone
        and len(unit.kind.sizes) == 1
        and all(len(entry.place.takes) == 1 for entry in usable.values())
    )


def _prune_unit(
    view: View,
    scorer: Scorer,
    unit: Unit,
    usable: dict[int, Usable],
    contested: set[int],
    rivals: int,
) -> set[tuple[int, int]]:
    options = [
        option for entry in usable.values() for option in _options(view, scorer, unit, entry)
    ]
    needed: set[tuple[int, int]] = set()
    for party in range(len(unit.parties)):
        mine = [
            (option, points)
            for option in options
            for number, points in option.usable.worth
            if number == party
        ]
        quiet = sorted(
            (
                option.least + points
                for option, points in mine
                if option.usable.place.takes[0][0] not in contested
            ),
            reverse=True,
        )
        floor = quiet[rivals] if rivals < len(quiet) else None
        needed |= {
            (option.usable.place.takes[0][0], option.comfort)
            for option, points in mine
            if floor is None or option.most + points >= floor
        }
    leaves = {leaf for leaf, _ in needed}
    for number in [n for n, entry in usable.items() if entry.place.takes[0][0] not in leaves]:
        del usable[number]
    return {
        (leaf, option.comfort)
        for option in options
        if (leaf := option.usable.place.takes[0][0]) in leaves
        and (leaf, option.comfort) not in needed
    }


def _options(view: View, scorer: Scorer, unit: Unit, entry: Usable) -> list[_Option]:
    """One option per comfort for gangs of one pod, else one for the whole leaf."""
    ((leaf, counts),) = entry.place.takes
    room = view.room(unit.kind).by_node[0]
    base = scorer.leaf_points(unit, leaf, counts, False)
    weight = scorer.leaf_weight(unit, leaf, counts)
    table = scorer.node_points(unit, 0)
    comforts = [
        view.comfort_id[nodes[0]] for nodes in view.by_comfort[leaf] if any(room[i] for i in nodes)
    ]
    points = [base + weight * table[comfort] for comfort in comforts]
    if counts == (1,):
        return [_Option(entry, c, n, n) for c, n in zip(comforts, points, strict=True)]
    return [_Option(entry, -1, min(points), max(points))]
