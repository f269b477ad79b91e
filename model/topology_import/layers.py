"""From leaves and the switches above them to spines, cores and islands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fourleaf.model.readers.topology.findings import Finding, FindingKind
from fourleaf.model.readers.topology.switch_groups import Unions, group_names, grouped
from fourleaf.model.topology import natural_key
from fourleaf.model.topology_import.description import Position, in_order

LEVELS_KEPT = 2
"""Levels above the leaves that a position names: spine and core."""


@dataclass(frozen=True)
class Layers:
    """Switches and what is directly above each.

    `nodes`: leaf -> its nodes. `switches`: leaf -> the switches that make it (itself, or the
    rails of a unit). `above`: switch -> switches one level up, {} at the top. `beside`: switch
    -> all that it is cabled to, where the source tells.
    """

    nodes: Mapping[str, tuple[str, ...]]
    switches: Mapping[str, tuple[str, ...]]
    above: Mapping[str, frozenset[str]]
    beside: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def positions(self) -> tuple[Position, ...]:
        """Where each node stands.

        Leaves whose upper switches are mostly the same are a spine, and spines whose upper
        switches are mostly the same are under one core.
        """
        spine_of, spine_switches = self._up({leaf: self.switches[leaf] for leaf in self.nodes})
        core_of, _ = self._up(spine_switches)
        return in_order(
            Position(node, leaf, spine_of.get(leaf, ""), core_of.get(spine_of.get(leaf, ""), ""))
            for leaf, nodes in self.nodes.items()
            for node in nodes
        )

    def _up(
        self, domains: Mapping[str, Iterable[str]]
    ) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
        """The domain above each of `domains`, and the switches of those."""
        marks = {
            name: frozenset(up for one in switches for up in self.above.get(one, ()))
            for name, switches in domains.items()
        }
        groups = grouped(marks)
        switches = [frozenset().union(*(marks[name] for name in group)) for group in groups]
        above: dict[str, str] = {}
        for name, group in zip(group_names(switches), groups, strict=True):
            above.update(dict.fromkeys(group, name))
        every = zip(group_names(switches), switches, strict=True)
        return above, {name: tuple(sorted(own)) for name, own in every}

    def levels(self) -> int:
        """How many levels of switches stand above the leaves at most."""
        count, level = 0, {one for group in self.switches.values() for one in group}
        while level := {up for one in level for up in self.above.get(one, ())}:
            count += 1
            if count > len(self.above):
                break
        return count

    def left_out(self) -> tuple[Finding, ...]:
        """That there are levels above spine and core, which no position names."""
        extra = self.levels() - LEVELS_KEPT
        return (Finding(FindingKind.LEVELS_LEFT_OUT, extra),) if extra > 0 else ()

    def islands(self) -> tuple[str, ...]:
        """The first leaf of each part of the fabric that no switch joins to another."""
        unions = Unions()
        for leaf in self.nodes:
            for one in self.switches[leaf]:
                unions.join(one, ("leaf", leaf))
        for links in (self.above, self.beside):
            for switch, others in links.items():
                for other in others:
                    unions.join(switch, other)
        first: dict[object, str] = {}
        for leaf in sorted(self.nodes, key=natural_key):
            first.setdefault(unions.root(("leaf", leaf)), leaf)
        return tuple(first.values())
