"""The places of a group with room now, in classes: the same to every gang class of the group.

Gang classes of a group share the strategy and the pods, so what a place is worth to one of them
follows from three things: whether it may go there, over how many leaves and spines the place
goes, and which of its pods meet the gang class's preferred domain. Only the last is looked up
place by place, and only inside that domain.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import chain

from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.instance.joined_candidates import Entry, JoinedCandidates, ReachKey, join
from fourleaf.solver.objective.scorer import Scorer

Sharing = dict[int, list[int]]
"""By the identity of candidates, the gang classes of a group that have them."""
Extra = tuple[tuple[int, int], ...]
"""(gang class, points) of the gang classes whose preferred domain is met."""


@dataclass(slots=True)
class OpenCandidates:
    """Places of one class: points by gang class, and (place, gangs that fit) of each."""

    worth: dict[int, int]
    places: list[Entry] = field(default_factory=list)


def open_candidates(
    state: CycleState, group: GangGroup, scorer: Scorer | None
) -> list[OpenCandidates]:
    """The classes of a group that places gangs at candidates; without `scorer` all are worth 0."""
    sharing: Sharing = defaultdict(list)
    for number, gang_class in enumerate(group.gang_classes):
        sharing[id(gang_class.candidates)].append(number)
    merged = _merged(state, group, sharing)
    special = _special(group, scorer, sharing, merged) if scorer else {}
    apart: dict[ReachKey, list[int]] = defaultdict(list)
    for number in special:
        apart[merged.reach[number]].append(number)
    classes: dict[tuple[ReachKey, Extra], OpenCandidates] = {}

    def at(reach: ReachKey, extra: Extra) -> list[Entry]:
        members, used = reach if scorer else (reach[0], 0)
        key = ((members, used), extra)
        known = classes.get(key)
        if known is None:
            inside = [sharing[one] for i, one in enumerate(merged.order) if members >> i & 1]
            known = classes[key] = OpenCandidates(_worth(group, scorer, inside, used, dict(extra)))
        return known.places

    most = group.most
    for reach, places in merged.by_reach.items():
        without = special if reach in apart else ()
        common = [
            entry if entry[1] <= most else (entry[0], most)
            for number, entry in places.items()
            if number not in without
        ]
        if common:
            at(reach, ()).extend(common)
        for number in apart.get(reach, ()):
            place, fit = places[number]
            at(reach, tuple(special[number])).append((place, min(fit, most)))
    return list(classes.values())


def _merged(state: CycleState, group: GangGroup, sharing: Sharing) -> JoinedCandidates:
    """The places of all groups, worked out once for groups that may go wherever there is room."""
    if group.current_seats is not None or group.bound or group.within is not None:
        return join({one: _open(state, group, shared) for one, shared in sharing.items()})
    key = frozenset(sharing)
    known = state.merged.get(key)
    if known is None:
        places = {one: _open(state, group, shared) for one, shared in sharing.items()}
        known = state.merged[key] = join(places)
    return known


def _open(state: CycleState, group: GangGroup, shared: list[int]) -> list[Entry]:
    gang_class = group.gang_classes[shared[0]]
    if group.current_seats is not None:
        return [(place, 1) for place in group.current_seats.places]
    if not group.bound:
        places = state.open_places(gang_class.kind, gang_class.candidates)
    else:
        room = state.room(group.kind).by_leaf
        places = [
            (place, 1) for place in gang_class.candidates.required if group.fit_bound(place, room)
        ]
    if group.within is None:
        return places
    return [(place, fit) for place, fit in places if group.reaches(place)]


def _special(
    group: GangGroup, scorer: Scorer, sharing: Sharing, merged: JoinedCandidates
) -> dict[int, list[tuple[int, int]]]:
    """Place number -> (gang class, points) where pods there meet its preferred domain.

    The points are what they are worth above pods outside of it.
    """
    special: dict[int, list[tuple[int, int]]] = defaultdict(list)
    met = scorer.preference(group.gang, None)
    for number in chain.from_iterable(sharing.values()):
        gang_class = group.gang_classes[number]
        gang = gang_class.gangs[0]
        inside = scorer.state.fabric.domain(gang.preferred_domain)
        gain = met - scorer.outside(gang)
        points: dict[int, int] = defaultdict(int)
        for leaf in inside or ():
            for place, counts in gang_class.candidates.at_leaf.get(leaf, ()):
                if place.number in merged.reach:
                    points[place.number] += gain * scorer.leaf_weight(group, leaf, counts)
        for place_number, extra in points.items():
            special[place_number].append((number, extra))
    return special


def _worth(
    group: GangGroup,
    scorer: Scorer | None,
    inside: list[list[int]],
    used: int,
    extra: dict[int, int],
) -> dict[int, int]:
    """Points of `topologyAlignment` for a whole gang, by gang class."""
    gang_classes = sorted(chain.from_iterable(inside))
    if scorer is None:
        return dict.fromkeys(gang_classes, 0)
    total = scorer.new_weight(group)
    met = total * scorer.preference(group.gang, None)
    worth = {}
    for number in gang_classes:
        gang_class = group.gang_classes[number]
        gang = gang_class.gangs[0]
        compact = total * scorer.compactness(gang_class.candidates, gang, used)
        wish = scorer.state.fabric.domain(gang.preferred_domain) is not None
        outside = total * scorer.outside(gang)
        worth[number] = compact + (outside + extra.get(number, 0) if wish else met)
    return worth
