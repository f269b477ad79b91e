"""A tree of switches as Slurm and topograph write it: what is under which switch, with lines."""

from __future__ import annotations

from dataclasses import dataclass, field

from fourleaf.model.readers.topology.findings import Finding, FindingKind, finding
from fourleaf.model.readers.topology.switch_groups import in_circle
from fourleaf.model.topology_import.description import Description, DescriptionFormat
from fourleaf.model.topology_import.hostlist import BadHostlist, expand
from fourleaf.model.topology_import.layers import Layers
from fourleaf.model.topology_import.leaf_members import LeafMembers
from fourleaf.model.topology_import.text import MAX_NODES, Text

NODES = "Nodes"
EVERY = "ALL"
"""What Slurm takes for every node of its cluster, in any case."""
EVERY_MESSAGE = "stands for every node of the cluster, and this file does not list them"
EVERY_ADVICE = "List the nodes of the switch, like gpu[001-064]."


@dataclass
class Tree:
    """Switches as they are read. `names` are what to call a switch instead of its identity."""

    text: Text
    nodes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    children: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    listed: int = 0

    def add(self, switch: str, line: int, nodes: str, switches: str, key: str) -> None:
        """Take in a switch with hostlists of what is under it; `key` names its own field."""
        if not self.text.sound(line, key, switch):
            return
        if switch in self.lines:
            message = f"is defined in line {self.lines[switch]} already"
            self.text.error(line, key, switch, message, "Keep one of the two lines.")
            return
        self.lines[switch] = line
        if nodes and switches:
            advice = "Give a switch either nodes or switches."
            self.text.error(line, key, switch, "has both nodes and switches", advice)
        elif nodes:
            self.nodes[switch] = self.expanded(line, NODES, nodes)
        elif switches:
            self.children[switch] = self.expanded(line, "Switches", switches)

    def expanded(self, line: int, where: str, value: str) -> tuple[str, ...]:
        """The names of a hostlist; errors are kept."""
        try:
            found = expand(value, MAX_NODES - self.listed)
        except BadHostlist as bad:
            self.text.error(line, where, value, str(bad), bad.advice)
            return ()
        if where == NODES and any(one.upper() == EVERY for one in found):
            self.text.error(line, where, value, EVERY_MESSAGE, EVERY_ADVICE)
            return ()
        self.listed += len(found)
        return tuple(one for one in found if self.text.sound(line, where, one))

    def description(self, kind: DescriptionFormat, notes: tuple[Finding, ...] = ()) -> Description:
        """The fabric. Raises `BadInput` for unknown switches, cycles, and no nodes at all."""
        above = self._above()
        if not self.text.report.errors:
            self._refuse_cycles(above)
        if not self.text.report.errors and not any(self.nodes.values()):
            advice = "Give the file that lists the nodes of each leaf switch."
            self.text.error(0, "", None, "names no node", advice)
        self.text.stop_on_errors()
        stands = LeafMembers()
        for switch, nodes in self.nodes.items():
            for node in nodes:
                stands.add(node, self._named(switch))
        named = {self._named(one): frozenset(map(self._named, up)) for one, up in above.items()}
        layers = Layers(stands.by_leaf(), {leaf: (leaf,) for leaf in stands.by_leaf()}, named)
        positions = layers.positions()
        spine_of = {one.leaf: one.spine for one in positions}
        return Description(
            kind,
            self.text.name,
            positions,
            islands=layers.islands() if self.children else (),
            listed=tuple((spine_of[leaf], leaf) for leaf in stands.by_leaf()),
            findings=(*notes, *layers.left_out(), *stands.findings(), *self._empty()),
        )

    def _named(self, switch: str) -> str:
        return self.names.get(switch, switch)

    def _empty(self) -> tuple[Finding, ...]:
        """Switches with nothing under them."""
        bare = self.lines.keys() - self.nodes.keys() - self.children.keys()
        return finding(FindingKind.LEAF_WITHOUT_NODES, map(self._named, bare))

    def _above(self) -> dict[str, frozenset[str]]:
        above: dict[str, set[str]] = {switch: set() for switch in self.lines}
        for switch, children in self.children.items():
            for child in children:
                if child not in self.lines:
                    advice = "Define it in a line of its own, or take it out."
                    message = "names a switch that is not defined"
                    self.text.error(self.lines[switch], "Switches", child, message, advice)
                else:
                    above[child].add(switch)
        return {switch: frozenset(up) for switch, up in above.items()}

    def _refuse_cycles(self, above: dict[str, frozenset[str]]) -> None:
        """Keep an error where a switch stands above itself."""
        stuck = in_circle(above)
        if stuck is not None:
            advice = "Take out the link that leads back."
            message = "stands in a circle of switches"
            self.text.error(self.lines[stuck], "Switches", stuck, message, advice)
