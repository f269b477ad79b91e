"""Hosts of a description and nodes of Kubernetes, matched by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from fourleaf.model.topology import natural_key
from fourleaf.model.topology_import.description import Description, in_order

_ADDRESS = re.compile(r"[0-9.]+|[0-9a-f:]*:[0-9a-f:]*")


@dataclass(frozen=True)
class Match:
    """`nodes`: host -> node. What is left over on either side, in natural order."""

    nodes: Mapping[str, str]
    hosts_left: tuple[str, ...]
    nodes_left: tuple[str, ...]


def match_names(hosts: Iterable[str], nodes: Iterable[str]) -> Match:
    """Match by the same name, then without regard to case, then by the name before the domain.

    A name that would fit several on either side matches none of them: there is no guessing.
    """
    found: dict[str, str] = {}
    hosts_left, nodes_left = dict.fromkeys(hosts), dict.fromkeys(nodes)
    for form in (str, str.lower, _short):
        for host, node in _pairs(hosts_left, nodes_left, form):
            found[host] = node
            del hosts_left[host], nodes_left[node]
    return Match(
        found,
        tuple(sorted(hosts_left, key=natural_key)),
        tuple(sorted(nodes_left, key=natural_key)),
    )


def renamed(one: Description, match: Match) -> Description:
    """`one` with the names that Kubernetes has for its nodes; hosts without a node are left out."""
    positions = (
        replace(place, node=match.nodes[place.node])
        for place in one.positions
        if place.node in match.nodes
    )
    return replace(one, positions=in_order(positions))


def _short(name: str) -> str:
    lower = name.lower()
    return lower if _ADDRESS.fullmatch(lower) else lower.partition(".")[0]


def _pairs(
    hosts: Iterable[str], nodes: Iterable[str], form: Callable[[str], str]
) -> list[tuple[str, str]]:
    """Hosts and nodes that alone have one form among their kind."""
    left, right = _by_form(hosts, form), _by_form(nodes, form)
    return [
        (own[0], right[key][0])
        for key, own in left.items()
        if len(own) == 1 and len(right.get(key, ())) == 1
    ]


def _by_form(names: Iterable[str], form: Callable[[str], str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(form(name), []).append(name)
    return found
