"""The places of a unit with room now, in classes: the same to every party of the unit.

Parties of a unit share the strategy and the pods, so what a place is worth to one of them
follows from three things: whether it may go there, over how many leaves and spines the place
goes, and which of its pods meet the party's preferred domain. Only the last is looked up
place by place, and only inside that domain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fourleaf.solver.instance.candidates import Candidates
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.instance.joined_candidates import Entry, JoinedCandidates, ReachKey, join
from fourleaf.solver.objective.scorer import Scorer

Extra = tuple[tuple[int, int], ...]
"""(party, points) of the parties whose preferred domain is met."""


@dataclass(slots=True)
class OpenCandidates:
    """Places of one class: what they are worth by party, and (place, gangs that fit) of each."""

    worth: dict[int, int]
    places: list[Entry] = field(default_factory=list)


@dataclass(slots=True)
class _Group:
    """Parties of a unit with the same locations."""

    locations: Candidates
    parties: list[int] = field(default_factory=list)


def open_candidates(
    view: CycleState, unit: GangGroup, scorer: Scorer | None
) -> list[OpenCandidates]:
    """The classes of a unit that places gangs at locations; without `scorer` all are worth 0."""
    groups: dict[int, _Group] = {}
    for number, party in enumerate(unit.parties):
        groups.setdefault(id(party.locations), _Group(party.locations)).parties.append(number)
    merged = _merged(view, unit, groups)
    special = _special(unit, scorer, groups.values(), merged) if scorer else {}
    apart: dict[ReachKey, list[int]] = defaultdict(list)
    for number in special:
        apart[merged.reach[number]].append(number)
    classes: dict[tuple[ReachKey, Extra], OpenCandidates] = {}

    def at(reach: ReachKey, extra: Extra) -> list[Entry]:
        members, used = reach if scorer else (reach[0], 0)
        key = ((members, used), extra)
        known = classes.get(key)
        if known is None:
            inside = [groups[one] for i, one in enumerate(merged.order) if members >> i & 1]
            known = classes[key] = OpenCandidates(_worth(unit, scorer, inside, used, dict(extra)))
        return known.places

    most = unit.most
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


def _merged(view: CycleState, unit: GangGroup, groups: Mapping[int, _Group]) -> JoinedCandidates:
    """The places of all groups, worked out once for units that may go wherever there is room."""
    if unit.stand is not None or unit.bound or unit.within is not None:
        return join({one: _open(view, unit, group) for one, group in groups.items()})
    key = frozenset(groups)
    known = view.merged.get(key)
    if known is None:
        places = {one: _open(view, unit, group) for one, group in groups.items()}
        known = view.merged[key] = join(places)
    return known


def _open(view: CycleState, unit: GangGroup, group: _Group) -> list[Entry]:
    party = unit.parties[group.parties[0]]
    if unit.stand is not None:
        return [(place, 1) for place in unit.stand.places]
    if not unit.bound:
        places = view.open_places(party.kind, party.locations)
    else:
        room = view.room(unit.kind).by_leaf
        places = [(place, 1) for place in party.locations.required if unit.fit_bound(place, room)]
    if unit.within is None:
        return places
    return [(place, fit) for place, fit in places if unit.reaches(place)]


def _special(
    unit: GangGroup, scorer: Scorer, groups: Iterable[_Group], merged: JoinedCandidates
) -> dict[int, list[tuple[int, int]]]:
    """Place number -> (party, points) where pods there meet the party's preferred domain."""
    special: dict[int, list[tuple[int, int]]] = defaultdict(list)
    met = scorer.preference(unit.gang, None)
    for group in groups:
        for number in group.parties:
            inside = scorer.view.ground.domain(unit.parties[number].gangs[0].preferred_domain)
            points: dict[int, int] = defaultdict(int)
            for leaf in inside or ():
                for place, counts in group.locations.at_leaf.get(leaf, ()):
                    if place.number in merged.reach:
                        points[place.number] += met * scorer.leaf_weight(unit, leaf, counts)
            for place_number, extra in points.items():
                special[place_number].append((number, extra))
    return special


def _worth(
    unit: GangGroup, scorer: Scorer | None, groups: list[_Group], used: int, extra: dict[int, int]
) -> dict[int, int]:
    """Points of `topologyAlignment` for a whole gang, by party."""
    parties = sorted(number for group in groups for number in group.parties)
    if scorer is None:
        return dict.fromkeys(parties, 0)
    total = scorer.new_weight(unit)
    met = total * scorer.preference(unit.gang, None)
    worth = {}
    for number in parties:
        party = unit.parties[number]
        gang = party.gangs[0]
        compact = total * scorer.compactness(party.locations, gang, used)
        wish = scorer.view.ground.domain(gang.preferred_domain) is not None
        worth[number] = compact + (extra.get(number, 0) if wish else met)
    return worth
