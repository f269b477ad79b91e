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

from fourleaf.solver.locations import Locations
from fourleaf.solver.merged import Entry, Merged, Reach, merge
from fourleaf.solver.scorer import Scorer
from fourleaf.solver.units import Unit
from fourleaf.solver.view import View

Extra = tuple[tuple[int, int], ...]
"""(party, points) of the parties whose preferred domain is met."""


@dataclass(slots=True)
class Usable:
    """Places of one class: what they are worth by party, and (place, gangs that fit) of each."""

    worth: dict[int, int]
    places: list[Entry] = field(default_factory=list)


@dataclass(slots=True)
class _Group:
    """Parties of a unit with the same locations."""

    locations: Locations
    parties: list[int] = field(default_factory=list)


def usable(view: View, unit: Unit, scorer: Scorer | None) -> list[Usable]:
    """The classes of a unit that places gangs at locations; without `scorer` all are worth 0."""
    groups: dict[int, _Group] = {}
    for number, party in enumerate(unit.parties):
        groups.setdefault(id(party.locations), _Group(party.locations)).parties.append(number)
    merged = _merged(view, unit, groups)
    special = _special(unit, scorer, groups.values(), merged) if scorer else {}
    apart: dict[Reach, list[int]] = defaultdict(list)
    for number in special:
        apart[merged.reach[number]].append(number)
    classes: dict[tuple[Reach, Extra], Usable] = {}

    def at(reach: Reach, extra: Extra) -> list[Entry]:
        members, used = reach if scorer else (reach[0], 0)
        key = ((members, used), extra)
        known = classes.get(key)
        if known is None:
            inside = [groups[one] for i, one in enumerate(merged.order) if members >> i & 1]
            known = classes[key] = Usable(_worth(unit, scorer, inside, used, dict(extra)))
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


def _merged(view: View, unit: Unit, groups: Mapping[int, _Group]) -> Merged:
    """The places of all groups, worked out once for units that may go wherever there is room."""
    if unit.stand is not None or unit.bound or unit.within is not None:
        return merge({one: _open(view, unit, group) for one, group in groups.items()})
    key = frozenset(groups)
    known = view.merged.get(key)
    if known is None:
        places = {one: _open(view, unit, group) for one, group in groups.items()}
        known = view.merged[key] = merge(places)
    return known


def _open(view: View, unit: Unit, group: _Group) -> list[Entry]:
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
    unit: Unit, scorer: Scorer, groups: Iterable[_Group], merged: Merged
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
    unit: Unit, scorer: Scorer | None, groups: list[_Group], used: int, extra: dict[int, int]
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
