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

from dataclasses import dataclass, field

from fourleaf.solver.cpsat.open_candidates import OpenCandidates
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.instance.gang_type import Counts
from fourleaf.solver.objective.scorer import Scorer

QUIET_PLACES_PER_RIVAL = 1
"""So many times more quiet places than rivals, or none would go."""


@dataclass(slots=True)
class _Options:
    """Places of a class of candidates, without the points of the gang class; column by column.

    There are thousands of them, so that a record for each would cost a percent of a cycle.
    """

    key: list[tuple[int, int]] = field(default_factory=list)
    """(leaf, score class of the nodes); -1 for the whole leaf."""
    least: list[int] = field(default_factory=list)
    most: list[int] = field(default_factory=list)
    blocking: list[int] = field(default_factory=list)
    """The pods that it takes to block the place."""


def prune(
    state: CycleState, scorer: Scorer, groups: list[tuple[GangGroup, list[OpenCandidates]]]
) -> dict[int, set[tuple[int, int]]]:
    """Drop what cannot matter from the usable places of each group.

    Returns, by position of the group, the (leaf, score class) pairs that gangs of one pod need
    not consider although their leaf remains.
    """
    reached = [_leaves(classes) for _, classes in groups]
    contested: set[int] = set()
    for (group, _), leaves in zip(groups, reached, strict=True):
        if group.phantom:
            contested |= _loose_leaves(state, group) if group.loose else leaves
    rivals = sum(
        group.most * sum(group.kind.sizes)
        for (group, _), leaves in zip(groups, reached, strict=True)
        if not group.phantom and (group.loose or not leaves <= contested)
    )
    skipped: dict[int, set[tuple[int, int]]] = {}
    for position, ((group, classes), leaves) in enumerate(zip(groups, reached, strict=True)):
        # Where pods are kept apart, what one is worth follows from where the others are.
        apart = not group.phantom and scorer.spread_set(group, group.gang) is not None
        if group.phantom or apart or not group.in_one_leaf:
            continue
        quiet = leaves - contested
        places = len(quiet)
        if group.kind.sizes == (1,):
            score_classes = state.open_score_classes(group.kind)
            places = sum([len(score_classes[leaf]) for leaf in quiet])
        if places > QUIET_PLACES_PER_RIVAL * rivals:
            skipped[position] = _prune_group(state, scorer, group, classes, contested, rivals)
    return skipped


def _leaves(classes: list[OpenCandidates]) -> set[int]:
    """All leaves of the places."""
    return {leaf for opened in classes for place, _ in opened.places for leaf, _ in place.takes}


def _loose_leaves(state: CycleState, group: GangGroup) -> set[int]:
    """All leaves with room that a gang may use which takes any leaves of a spine."""
    room, spine_leaves = state.room(group.kind).by_leaf[0], state.fabric.spine_leaves
    spines = group.candidates.loose_spines
    return {leaf for spine in spines for leaf in spine_leaves[spine] if room[leaf]}


def _prune_group(
    state: CycleState,
    scorer: Scorer,
    group: GangGroup,
    classes: list[OpenCandidates],
    contested: set[int],
    rivals: int,
) -> set[tuple[int, int]]:
    options = [_options(state, scorer, group, opened) for opened in classes]
    quiet = [
        sorted(
            [
                least
                for (leaf, _), least, blocking in zip(
                    some.key, some.least, some.blocking, strict=True
                )
                if leaf not in contested
                for _ in range(blocking)
            ],
            reverse=True,
        )
        for some in options
    ]
    floors = [
        _floor(gang_class, classes, quiet, rivals) for gang_class in range(len(group.gang_classes))
    ]
    needed: set[tuple[int, int]] = set()
    for opened, some in zip(classes, options, strict=True):
        below = [floors[gang_class] - points for gang_class, points in opened.worth.items()]
        floor = min(below)
        needed.update([key for key, most in zip(some.key, some.most, strict=True) if most >= floor])
    leaves = {leaf for leaf, _ in needed}
    for opened in classes:
        opened.places = [entry for entry in opened.places if entry[0].takes[0][0] in leaves]
    classes[:] = [opened for opened in classes if opened.places]
    return {key for some in options for key in some.key if key[0] in leaves and key not in needed}


def _floor(
    gang_class: int, classes: list[OpenCandidates], quiet: list[list[int]], rivals: int
) -> int:
    """What the gang class gets at its (rivals + 1)-th best quiet place; at least that is needed."""
    values = [
        least + opened.worth[gang_class]
        for opened, some in zip(classes, quiet, strict=True)
        if gang_class in opened.worth
        for least in some[: rivals + 1]
    ]
    if rivals >= len(values):
        return -(1 << 62)
    values.sort(reverse=True)
    return values[rivals]


def _options(
    state: CycleState, scorer: Scorer, group: GangGroup, opened: OpenCandidates
) -> _Options:
    """One option per place and score class for gangs of one pod, else one for the whole leaf."""
    table = scorer.node_points(group, 0)
    score_classes = state.open_score_classes(group.kind)
    counts: Counts = group.kind.sizes
    weight = scorer.new_weight(group)
    base_of = scorer.leaf_points(group, counts, False)
    room, in_leaf = state.room(group.kind).by_node[0], state.fabric.in_leaf
    options = _Options()
    for place, _ in opened.places:
        leaf = place.takes[0][0]
        base = base_of[leaf]
        here = score_classes[leaf]
        if counts == (1,):
            for score_class, nodes in here.items():
                points = base + weight * table[score_class]
                options.key.append((leaf, score_class))
                options.least.append(points)
                options.blocking.append(nodes)
            continue
        values = [weight * table[score_class] for score_class in here]
        blockers = 1
        if max(room[in_leaf[leaf].start : in_leaf[leaf].stop]) == 1:
            blockers = sum(here.values()) - counts[0] + 1
        options.key.append((leaf, -1))
        options.least.append(base + min(values))
        options.most.append(base + max(values))
        options.blocking.append(blockers)
    if counts == (1,):
        options.most = options.least
    return options
