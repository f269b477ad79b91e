"""Places that share a leaf with where a gang stands, so that some members may stay.

A leaf is *plain* when its nodes are slots: to everyone who may use it a node is good for one
pod or for none, and no two pods fit on one node. Within a plain leaf nothing is won by moving
from node to node, and a gang with as many pods there as before keeps them all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from fourleaf.solver.instance.candidates import Candidate
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import CurrentSeats, GangClass, GangGroup
from fourleaf.solver.instance.gang_type import Counts, GangType
from fourleaf.solver.relocation.participants import Mover, MoveScope


def plain_leaves(state: CycleState, groups: Iterable[GangGroup]) -> frozenset[int]:
    """Leaves that are plain to the pods of all groups."""
    users: dict[tuple[GangType, int], tuple[list[int], int]] = {}
    for group in groups:
        rooms = state.room(group.kind)
        for role in group.roles:
            gpus = group.kind.requests[role].gpus
            users[group.kind, role] = (rooms.by_node[role], gpus)
    if not users:
        return frozenset()
    least = min(gpus for _, gpus in users.values())
    rows = list({id(row): row for row, _ in users.values()}.values())
    first = rows[0]
    slots = [
        not any(row[i] for row in rows)
        if not first[i]
        else 2 * least > free.gpus and all(row[i] == 1 for row in rows)
        for i, free in enumerate(state.free)
    ]
    return frozenset(
        leaf for leaf, nodes in enumerate(state.fabric.in_leaf) if all(slots[i] for i in nodes)
    )


def near_unit(
    state: CycleState, mover: Mover, base: GangGroup, plain: frozenset[int]
) -> GangGroup | None:
    """The group of a mover for its places that share a leaf with where it stands.

    All its places where it may only go within its spines, or where its base group is of one
    gang anyhow. `None` where there is no such place but the one where it stands.
    """
    fabric = state.fabric
    kind = base.kind
    by_leaf: dict[tuple[int, int], dict[int, int]] = defaultdict(dict)
    for (role, node), pods in mover.seats.items():
        by_leaf[role, fabric.leaf_of[node]][node] = pods
    room = state.room(kind)
    extra = {
        where: more
        for where, nodes in by_leaf.items()
        if (more := sum(max(0, pods - room.by_node[where[0]][i]) for i, pods in nodes.items()))
    }
    leaves = {leaf for _, leaf in by_leaf}
    spines = frozenset(fabric.spine_of[leaf] for leaf in leaves)
    single = alone(base)
    stands = {
        leaf: tuple(sum(by_leaf.get((role, leaf), {}).values()) for role in base.roles)
        for leaf in leaves
    }
    places: list[Candidate] = []
    if not base.loose:
        places = [
            place
            for place in _places(mover, base, leaves, spines, single)
            if _holds(place, room.by_leaf, extra)
            and not (not mover.hit and _same(place, stands, plain))
        ]
        if not places:
            return None
    whole = mover.whole
    limited = None if single and mover.reach is MoveScope.ANYWHERE else spines
    return GangGroup(
        [GangClass([whole], kind, base.candidates)],
        most=1,
        loose=base.loose,
        by_take=base.loose,
        careful=base.careful,
        current_seats=CurrentSeats(dict(by_leaf), tuple(places), extra),
        within=limited,
    )


def alone(group: GangGroup) -> bool:
    """Whether the group holds one gang for reasons of its own."""
    return group.careful or group.by_take


def _places(
    mover: Mover, base: GangGroup, leaves: set[int], spines: frozenset[int], single: bool
) -> list[Candidate]:
    candidates = base.candidates
    if mover.reach is MoveScope.SPINES:
        spine_of = candidates.fabric.spine_of
        return [
            place
            for place in candidates.required
            if all(spine_of[leaf] in spines for leaf, _ in place.takes)
        ]
    if single:
        return list(candidates.required)
    found = {
        id(place): place for leaf in sorted(leaves) for place, _ in candidates.at_leaf.get(leaf, ())
    }
    return list(found.values())


def _holds(place: Candidate, room: list[list[int]], extra: dict[tuple[int, int], int]) -> bool:
    return all(
        count <= room[role][leaf] + extra.get((role, leaf), 0)
        for leaf, counts in place.takes
        for role, count in enumerate(counts)
    )


def _same(place: Candidate, stands: dict[int, Counts], plain: frozenset[int]) -> bool:
    """Whether going there is no better than staying."""
    return all(leaf in plain for leaf in stands) and dict(place.takes) == stands
