"""What of that which agents found contradicts itself, or the labels of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fourleaf.model.problems import brief
from fourleaf.model.readers.topology.findings import Finding, FindingKind, finding
from fourleaf.model.readers.topology.found import DiscoverySource, Found
from fourleaf.model.readers.topology.places import DiscoveredPlaces
from fourleaf.model.topology import natural_key

_SWITCHES = (DiscoverySource.IBNETDISCOVER, DiscoverySource.LLDP)
"""Sources whose leaves are switches; the domains of clouds may be wider than a leaf."""
_MOST_LEAVES = 2
"""Leaves that are named of those over which something spans."""


def contradictions(
    found: Mapping[str, Found], spotted: DiscoveredPlaces, leaf_of: Mapping[str, str]
) -> tuple[Finding, ...]:
    """What is wrong, given the leaf that each node stands in, by its name."""
    switches = (
        (place.leaf, node)
        for source in _SWITCHES
        for node, place in spotted.by_source.get(source, {}).items()
    )
    cliques = ((one.clique, node) for node, one in found.items() if one.clique)
    faults = (
        f"{node} ({source}: {brief(message)})"
        for node, one in found.items()
        for source, message in one.faults
    )
    return (
        *finding(FindingKind.NODE_IN_TWO_LEAVES, spotted.between),
        *finding(FindingKind.SWITCH_IN_TWO_LEAVES, _spanning(switches, leaf_of)),
        *finding(FindingKind.CLIQUE_IN_TWO_LEAVES, _spanning(cliques, leaf_of)),
        *finding(FindingKind.DISCOVERY_FAILED, faults),
    )


def _spanning(members: Iterable[tuple[str, str]], leaf_of: Mapping[str, str]) -> list[str]:
    """The domains whose nodes stand in several leaves, with some of those."""
    leaves: dict[str, set[str]] = {}
    for domain, node in members:
        if node in leaf_of:
            leaves.setdefault(domain, set()).add(leaf_of[node])
    return [
        f"{domain} ({' and '.join(sorted(own, key=natural_key)[:_MOST_LEAVES])})"
        for domain, own in leaves.items()
        if len(own) > 1
    ]
