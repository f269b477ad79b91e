"""Places that no best plan needs, found before a variable is made for them.

Take a gang that sits in one leaf, and call a leaf *quiet* when no phantom can use it. If
the gang sits at a place worth v while a quiet leaf worth more has room for it, moving it
there is better: every score is evaluated alone, so nothing else changes. Hence in a best
plan every quiet place worth more is blocked by pods of other gangs that can use quiet
leaves: a pod by one on each node that would take it, a gang with its pods on different nodes
by so many that too few nodes are left. With K such pods in all, and quiet places counted
once for each pod that it takes to block them, v is at least the value of the (K + 1)-th best,
and places worth less need no variable.

What a place is worth depends on the nodes used there. The threshold counts every place at
its least, a place is dropped only where it is below at its most, so the cut is exact.
"""

from __future__ import annotations

from fourleaf.solver.cpsat.open_candidates import OpenCandidates
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.instance.gang_type import Counts
from fourleaf.solver.objective.scorer import Scorer

WORTHWHILE = 1
"""So many times more quiet places than rivals, or none would go."""

Option = tuple[int, int, int, int, int]
"""A place on nodes of one comfort: leaf, comfort, least and most points without the party's,
and the pods that it takes to block it."""


def prune(
    view: CycleState, scorer: Scorer, units: list[tuple[GangGroup, list[OpenCandidates]]]
) -> dict[int, set[tuple[int, int]]]:
    """Drop what cannot matter from the usable places of each unit.

    Returns, by position of the unit, the (leaf, comfort) pairs that gangs of one pod need
    not consider although their leaf remains.
    """
    reached = [_leaves(classes) for _, classes in units]
    contested: set[int] = set()
    for (unit, _), leaves in zip(units, reached, strict=True):
        if unit.phantom:
            contested |= leaves
    rivals = sum(
        unit.most * sum(unit.kind.sizes)
        for (unit, _), leaves in zip(units, reached, strict=True)
        if not unit.phantom and (unit.loose or not leaves <= contested)
    )
    skipped: dict[int, set[tuple[int, int]]] = {}
    for position, ((unit, classes), leaves) in enumerate(zip(units, reached, strict=True)):
        if not _prunable(unit):
            continue
        quiet = leaves - contested
        places = len(quiet)
        if unit.kind.sizes == (1,):
            comforts = view.open_comforts(unit.kind)
            places = sum([len(comforts[leaf]) for leaf in quiet])
        if places > WORTHWHILE * rivals:
            skipped[position] = _prune_unit(view, scorer, unit, classes, contested, rivals)
    return skipped


def _leaves(classes: list[OpenCandidates]) -> set[int]:
    """All leaves of the places."""
    return {leaf for group in classes for place, _ in group.places for leaf, _ in place.takes}


def _prunable(unit: GangGroup) -> bool:
    alone = unit.phantom or unit.loose or unit.careful or bool(unit.bound)
    return (
        not alone
        and len(unit.kind.sizes) == 1
        and all(party.locations.of_one_leaf for party in unit.parties)
    )


def _prune_unit(
    view: CycleState,
    scorer: Scorer,
    unit: GangGroup,
    classes: list[OpenCandidates],
    contested: set[int],
    rivals: int,
) -> set[tuple[int, int]]:
    options = [_options(view, scorer, unit, group) for group in classes]
    quiet = [
        sorted(
            [
                least
                for leaf, _, least, _, blockers in some
                if leaf not in contested
                for _ in range(blockers)
            ],
            reverse=True,
        )
        for some in options
    ]
    floors = [_floor(party, classes, quiet, rivals) for party in range(len(unit.parties))]
    needed: set[tuple[int, int]] = set()
    for group, some in zip(classes, options, strict=True):
        below = [floors[party] - points for party, points in group.worth.items()]
        floor = min(below)
        needed.update([(leaf, comfort) for leaf, comfort, _, most, _ in some if most >= floor])
    leaves = {leaf for leaf, _ in needed}
    for group in classes:
        group.places = [entry for entry in group.places if entry[0].takes[0][0] in leaves]
    classes[:] = [group for group in classes if group.places]
    return {
        (leaf, comfort)
        for some in options
        for leaf, comfort, _, _, _ in some
        if leaf in leaves and (leaf, comfort) not in needed
    }


def _floor(party: int, classes: list[OpenCandidates], quiet: list[list[int]], rivals: int) -> int:
    """What the party gets at its (rivals + 1)-th best quiet place; at least that is needed."""
    values = [
        least + group.worth[party]
        for group, some in zip(classes, quiet, strict=True)
        if party in group.worth
        for least in some[: rivals + 1]
    ]
    if rivals >= len(values):
        return -(1 << 62)
    values.sort(reverse=True)
    return values[rivals]


def _options(
    view: CycleState, scorer: Scorer, unit: GangGroup, group: OpenCandidates
) -> list[Option]:
    """One option per place and comfort for gangs of one pod, else one for the whole leaf."""
    table = scorer.node_points(unit, 0)
    comforts = view.open_comforts(unit.kind)
    counts: Counts = unit.kind.sizes
    weight = scorer.new_weight(unit)
    base_of = scorer.leaf_points(unit, counts, False)
    room, in_leaf = view.room(unit.kind).by_node[0], view.ground.in_leaf
    options: list[Option] = []
    for place, _ in group.places:
        leaf = place.takes[0][0]
        base = base_of[leaf]
        here = comforts[leaf]
        if counts == (1,):
            for comfort, nodes in here.items():
                points = base + weight * table[comfort]
                options.append((leaf, comfort, points, points, nodes))
            continue
        values = [weight * table[comfort] for comfort in here]
        blockers = 1
        if max(room[in_leaf[leaf].start : in_leaf[leaf].stop]) == 1:
            blockers = sum(here.values()) - counts[0] + 1
        options.append((leaf, -1, base + min(values), base + max(values), blockers))
    return options
