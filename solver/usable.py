"""The places of a unit with room now, in classes: the same to every party of the unit.

Parties of a unit share the strategy and the pods, so what a place is worth to one of them
follows from three things: whether it may go there, over how many leaves and spines the place
goes, and which of its pods meet the party's preferred domain. Only the last is looked up
place by place, and only inside that domain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from solver.locations import Location, Locations
from solver.scorer import Scorer
from solver.units import Unit
from solver.view import Merged, View


@dataclass(slots=True)
class Usable:
    """Places of one class: what they are worth by party, and (place, gangs that fit) of each."""

    worth: dict[int, int]
    places: list[tuple[Location, int]] = field(default_factory=list)


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
    found, members = _merged(view, unit, groups)
    special = _special(unit, scorer, groups, found) if scorer else {}
    classes: dict[tuple[int, int, tuple[tuple[int, int], ...]], Usable] = {}
    most = unit.most
    for number, (place, fit) in found.items():
        used = place.leaves + place.spines if scorer else 0
        extra = tuple(special[number]) if number in special else ()
        key = (members[number], used, extra)
        known = classes.get(key)
        if known is None:
            inside = [g for i, g in enumerate(groups.values()) if members[number] >> i & 1]
            known = classes[key] = Usable(_worth(unit, scorer, inside, used, dict(extra)))
        known.places.append((place, min(fit, most)))
    return list(classes.values())


def _merged(view: View, unit: Unit, groups: Mapping[int, _Group]) -> Merged:
    """The places of all groups, worked out once for units that may go wherever there is room."""
    alone = unit.stand is not None or bool(unit.bound) or unit.within is not None
    key = tuple(groups)
    if not alone and key in view.merged:
        return view.merged[key]
    found: dict[int, tuple[Location, int]] = {}
    members: dict[int, int] = {}
    for position, group in enumerate(groups.values()):
        bit = 1 << position
        for place, fit in _open(view, unit, group):
            number = place.number
            if number in found:
                members[number] |= bit
            else:
                found[number] = (place, fit)
                members[number] = bit
    if not alone:
        view.merged[key] = (found, members)
    return found, members


def _open(view: View, unit: Unit, group: _Group) -> list[tuple[Location, int]]:
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
    unit: Unit, scorer: Scorer, groups: dict[int, _Group], found: dict[int, tuple[Location, int]]
) -> dict[int, list[tuple[int, int]]]:
    """Place number -> (party, points) where pods there meet the party's preferred domain."""
    special: dict[int, list[tuple[int, int]]] = defaultdict(list)
    met = scorer.preference(unit.gang, None)
    for group in groups.values():
        for number in group.parties:
            inside = scorer.view.ground.domain(unit.parties[number].gangs[0].preferred_domain)
            points: dict[int, int] = defaultdict(int)
            for leaf in inside or ():
                for place, counts in group.locations.at_leaf.get(leaf, ()):
                    if place.number in found:
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
