"""Where nodes stand that no label places: discovery fills in, and labels win."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fourleaf.model.readers.topology.findings import Finding, FindingKind, finding
from fourleaf.model.readers.topology.found import Found
from fourleaf.model.readers.topology.places import NOTHING, DiscoveredPlaces, discovered_places
from fourleaf.model.topology import Place


@dataclass(frozen=True, slots=True)
class DiscoveredStanding:
    """`places` of nodes that no label places, and how that came about.

    `decides`: leaves are those that were discovered, and no label counts.
    """

    decides: bool = False
    places: Mapping[str, Place] = field(default_factory=dict)
    spotted: DiscoveredPlaces = NOTHING
    findings: tuple[Finding, ...] = ()


NOWHERE = DiscoveredStanding()


def discovered_standing(
    found: Mapping[str, Found],
    with_gpus: Collection[str],
    labelled: Mapping[str, Place],
    labels_decide: bool,
) -> DiscoveredStanding:
    """Where the nodes `with_gpus` stand by what was `found` of them.

    Where labels decide, a node without one joins those of its discovered leaf, if their labels
    place all of these alike. Else the leaves are those that were discovered, once more than half
    of the nodes have one: a few would split a fabric in which all others are yet to be found.
    """
    if not found:
        return NOWHERE
    spotted = discovered_places({node: one for node, one in found.items() if node in with_gpus})
    if labels_decide:
        joined = _joined(spotted, labelled)
        told = finding(FindingKind.NODE_DISCOVERED, joined)
        return DiscoveredStanding(False, joined, spotted, told)
    if 2 * len(spotted.places) <= len(with_gpus):
        told = finding(FindingKind.FEW_DISCOVERED, spotted.places)
        return DiscoveredStanding(spotted=spotted, findings=told)
    told = finding(FindingKind.LEAVES_DISCOVERED, [spotted.source or ""])
    return DiscoveredStanding(True, spotted.places, spotted, told)


def _joined(spotted: DiscoveredPlaces, labelled: Mapping[str, Place]) -> dict[str, Place]:
    """The places of nodes without a label: those of all labelled nodes of their leaf."""
    among: dict[Place, set[Place]] = {}
    for node, place in spotted.places.items():
        if node in labelled:
            among.setdefault(place, set()).add(labelled[node])
    return {
        node: next(iter(among[place]))
        for node, place in spotted.places.items()
        if node not in labelled and len(among.get(place, ())) == 1
    }
