"""From what agents found to a place for each node, by the one source that places most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fourleaf.model.readers.topology.found import DiscoverySource, Found
from fourleaf.model.readers.topology.label_values import label_value
from fourleaf.model.readers.topology.rails import named_units, rail_units, unit_of_hosts
from fourleaf.model.topology import ONLY_SPINE, Place

_Places = Mapping[str, Place]


@dataclass(frozen=True, slots=True)
class DiscoveredPlaces:
    """Where nodes stand by each source, and which `source` speaks for the fabric, None for none.

    `between` are nodes whose interfaces see switches of several leaves.
    """

    source: DiscoverySource | None = None
    by_source: Mapping[DiscoverySource, _Places] = field(default_factory=dict)
    between: tuple[str, ...] = ()

    @property
    def places(self) -> _Places:
        """Where nodes stand, by their names."""
        return self.by_source[self.source] if self.source else {}


NOTHING = DiscoveredPlaces()


def discovered_places(found: Mapping[str, Found]) -> DiscoveredPlaces:
    """Where the nodes of `found` (by name) stand.

    Names of two sources are not alike even where they mean one switch, so one source speaks for
    all: the one that places most nodes, and among equals the most telling.
    """
    by_source: dict[DiscoverySource, dict[str, Place]] = {}
    for node, one in found.items():
        for source, place in one.places:
            by_source.setdefault(source, {})[node] = place
        if one.clique:
            place = Place((), ONLY_SPINE, label_value(one.clique))
            by_source.setdefault(DiscoverySource.NVLINK, {})[node] = place
    by_source = {source: _without_lone_doubters(places) for source, places in by_source.items()}
    seen, between = _by_switches(found)
    by_source[DiscoverySource.LLDP] = seen
    best = max(DiscoverySource, key=lambda source: len(by_source.get(source, ())))
    return DiscoveredPlaces(best if by_source.get(best) else None, by_source, between)


def _without_lone_doubters(places: dict[str, Place]) -> dict[str, Place]:
    """`places` without those of nodes that alone say where a leaf or spine of others stands.

    Two leaves of one name are told apart by their spines, two spines by what is coarser. So one
    agent that lies would rename leaves of others, which preferences and records name.
    """
    leaves = Counter((one.leaf, one) for one in places.values())
    spines = Counter((one.spine, one.coarser) for one in places.values())
    shared = _of_several(leaves), _of_several(spines)
    return {
        node: one
        for node, one in places.items()
        if (leaves[one.leaf, one] > 1 or one.leaf not in shared[0])
        and (spines[one.spine, one.coarser] > 1 or one.spine not in shared[1])
    }


def _of_several(counts: Mapping[tuple[str, Any], int]) -> set[str]:
    """The names that several nodes give to one thing."""
    return {name for (name, _), many in counts.items() if many > 1}


def _by_switches(found: Mapping[str, Found]) -> tuple[dict[str, Place], tuple[str, ...]]:
    """Places by the switches that nodes see, and nodes between leaves.

    Switches that share their nodes, as rails or the two of a pair do, are one leaf.
    """
    alike: dict[tuple[tuple[str, str, int], ...], list[str]] = {}
    for node, one in found.items():
        if one.switches:
            alike.setdefault(one.switches, []).append(node)
    hosts = {nodes[0]: {id_: ports for id_, _, ports in seen} for seen, nodes in alike.items()}
    many = {nodes[0]: len(nodes) for nodes in alike.values()}
    names = _switch_names({seen: len(nodes) for seen, nodes in alike.items()})
    leaf_of, between = unit_of_hosts(hosts, named_units(rail_units(hosts, many), names))
    places: dict[str, Place] = {}
    for nodes in alike.values():
        if nodes[0] in leaf_of:
            place = Place((), ONLY_SPINE, label_value(leaf_of[nodes[0]]))
            places.update(dict.fromkeys(nodes, place))
    split = set(between)
    return places, tuple(one for nodes in alike.values() if nodes[0] in split for one in nodes)


def _switch_names(seen: Mapping[tuple[tuple[str, str, int], ...], int]) -> dict[str, str]:
    """Chassis ID -> the name of the switch, the ID itself where it has none of its own.

    `seen`: the switches of a node -> how many nodes see the same. Nodes vote on both: what most of
    those on a switch call it, and which of two switches has a name. So one agent that lies renames
    no leaf of others.
    """
    votes: dict[str, Counter[str]] = {}
    for switches, nodes in seen.items():
        for id_, name, _ in switches:
            votes.setdefault(id_, Counter())[name] += nodes
    called = {id_: max(said, key=lambda name: (said[name], name)) for id_, said in votes.items()}
    weight: dict[str, list[int]] = {}
    for id_, name in called.items():
        weight.setdefault(name, []).append(votes[id_][name])
    names: dict[str, str] = {}
    for id_, name in called.items():
        rivals = weight[name]
        own = votes[id_][name]
        alone = own == max(rivals) and rivals.count(own) == 1
        names[id_] = name if name and alone and (name == id_ or name not in votes) else id_
    return names
