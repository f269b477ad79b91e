"""`NoMatchingNodes`: which law refuses which nodes, and which one dropped would be enough."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from fourleaf.model.gang import Gang, Role
from fourleaf.model.node import GPU_SOURCE_LABEL, OF_DEVICE_MAPS, OF_INVENTORY, Node
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.resources import counted, fits
from fourleaf.solver.explain import matching_advice
from fourleaf.solver.explain.own_taints import own_taints
from fourleaf.solver.instance.fabric_index import FabricIndex
from fourleaf.solver.instance.gang_classes import GangGroup

CORDONED = "cordoned"
NOT_READY = "notReady"
HELD_BACK = "heldBack"
SEALED = "sealed"
UNANNOUNCED = "unannounced"
SELECTOR = "selector"
TAINT = "taint"
BANDWIDTH = "bandwidth"
DOMAIN = "domain"
TOO_SMALL = "tooSmall"
DEVICES = "devices"
NO_LEAF = "noLeaf"
LAWS = (
    CORDONED,
    NOT_READY,
    HELD_BACK,
    SEALED,
    UNANNOUNCED,
    SELECTOR,
    TAINT,
    BANDWIDTH,
    DOMAIN,
    TOO_SMALL,
    DEVICES,
)
"""The laws in the order in which they are looked at; custom rules come after them."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A node and every law that refuses it, in the order in which laws are looked at."""

    node: Node
    holds: int
    laws: tuple[str, ...]


def no_matching_nodes(fabric: FabricIndex, group: GangGroup) -> Reason | None:
    """The reason where the eligible nodes could not hold the gang however it were spread."""
    kind = group.kind
    one = kind.key.one_per_node
    found = [sum(min(1, n) for n in holds) if one else sum(holds) for holds in kind.holds]
    short = next((r for r, n in enumerate(found) if n < kind.sizes[r]), None)
    if short is None and len(kind.sizes) > 1:
        # Each role fits alone: what the earlier roles leave is too little for a later one.
        joint, _ = kind.fill_nodes(range(len(fabric.nodes)), kind.sizes, capped=False)
        found = list(joint)
        short = next((r for r, n in enumerate(found) if n < kind.sizes[r]), None)
    if short is None:
        return None
    survey = Survey(fabric, group.gang, group.gang.roles[short], one, found[short])
    some = any(not refusal.laws for refusal in survey.nodes)
    if some and not survey.enough_without(survey.laws):
        return None
    return survey.reason()


class Survey:
    """Every node looked at for one role of a gang, of which `found` pods have a node."""

    def __init__(self, fabric: FabricIndex, gang: Gang, role: Role, one: bool, found: int) -> None:
        self.fabric = fabric
        self.gang = gang
        self.role = role
        self.one = one
        self.found = found

    @cached_property
    def nodes(self) -> list[Refusal]:
        """Every node and what refuses it."""
        fabric, constraint = self.fabric, self.role.constraint
        labels = fabric.labels
        selected = labels.listed(labels.selected(constraint))
        otherwise = labels.listed(labels.selected(matching_advice.of_any_source(constraint)))
        # Rules may tell any two nodes apart.
        alike = range(len(fabric.nodes)) if fabric.extensions.rules else fabric.alike
        known: dict[tuple[int, bool, bool], tuple[int, tuple[str, ...]]] = {}
        found = []
        for i, key in enumerate(zip(alike, selected, otherwise, strict=True)):
            if key not in known:
                known[key] = self._judged(i, selected[i], otherwise[i])
            found.append(Refusal(fabric.nodes[i], *known[key]))
        return found

    @cached_property
    def laws(self) -> tuple[str, ...]:
        """Every law that refuses some node, in the order in which laws are looked at."""
        refusing = {law for one in self.nodes for law in one.laws}
        rules = [rule_law(rule.name) for rule in self.fabric.extensions.rules]
        return tuple(law for law in dict.fromkeys([*LAWS, *rules]) if law in refusing)

    def _judged(
        self, index: int, is_selected: bool, by_any_source: bool
    ) -> tuple[int, tuple[str, ...]]:
        """How many pods a node holds, and every law that refuses it.

        `by_any_source`: it is selected, no matter what names its GPUs.
        """
        gang, role, fabric = self.gang, self.role, self.fabric
        node = fabric.nodes[index]
        shut = {
            CORDONED: node.cordoned,
            NOT_READY: not node.ready,
            HELD_BACK: bool(node.held_back),
            SEALED: node.sealed,
        }
        laws = [law for law, is_so in shut.items() if is_so]
        if node.labels.get(GPU_SOURCE_LABEL) in (OF_INVENTORY, OF_DEVICE_MAPS):
            names_source = matching_advice.of_any_source(role.constraint) != role.constraint
            if names_source and not is_selected:
                laws.append(UNANNOUNCED)
            is_selected = by_any_source
        if not is_selected:
            laws.append(SELECTOR)
        if not role.constraint.tolerates(own_taints(node)):
            laws.append(TAINT)
        if not fabric.carries(index, gang.bandwidth):
            laws.append(BANDWIDTH)
        if not fabric.open_to(index, fabric.spec.namespace(gang.key.namespace).domains):
            laws.append(DOMAIN)
        holds = fits(node.allocatable, role.request)
        if not fits(counted(node.allocatable), counted(role.request)):
            laws.append(TOO_SMALL)
        elif not holds:
            laws.append(DEVICES)
        laws += [
            rule_law(rule.name)
            for rule in fabric.extensions.rules
            if not rule.allows(gang, role, node)
        ]
        return min(1, holds) if self.one else holds, tuple(laws)

    def enough_without(self, laws: tuple[str, ...]) -> bool:
        """Whether the nodes would hold the role if these laws were dropped."""
        gained = self.gained(laws)
        if TOO_SMALL in laws and not self._step(TOO_SMALL, laws):
            gained = [one for one in gained if TOO_SMALL not in one.laws]
        return self.found + sum(max(1, one.holds) for one in gained) >= self.role.size

    def gained(self, laws: tuple[str, ...]) -> list[Refusal]:
        """Nodes that `laws` alone refuse."""
        dropped = set(laws)
        return [one for one in self.nodes if one.laws and dropped.issuperset(one.laws)]

    def reason(self) -> Reason:
        """Counts by law, each node under the first law that refuses it, and what to change."""
        refused = Counter(one.laws[0] for one in self.nodes if one.laws)
        counts = [("needed", self.role.size), ("eligible", self.found)]
        counts.append(("total", len(self.nodes)))
        counts += [(law, refused[law]) for law in self.laws if refused[law]]
        if nameless := len(self.fabric.source.refused):
            counts.append((NO_LEAF, nameless))
        return Reason(ReasonKind.NO_MATCHING_NODES, "", tuple(counts), unblock=self.unblock())

    def unblock(self) -> tuple[str, ...]:
        """A step for every single law that is enough to drop, else for the fewest together."""
        for together in range(1, len(self.laws) + 1):
            steps = [
                " and ".join(filter(None, (self._step(law, laws) for law in laws)))
                for laws in combinations(self.laws, together)
                if self.enough_without(laws)
            ]
            if steps:
                return tuple(steps)
        missing = self.role.size - self.found
        noun = "pod" if missing == 1 else "pods"
        return (f"add nodes for {missing} more {noun} that meet what it asks for",)

    def _step(self, law: str, laws: tuple[str, ...]) -> str:
        """What drops `law` where all of `laws` are dropped; "" where nothing would."""
        gained = [(one.node, max(1, one.holds)) for one in self.gained(laws) if law in one.laws]
        missing = min(self.role.size - self.found, sum(holds for _, holds in gained))
        if not gained:
            return ""
        names = matching_advice.named([node.name for node, _ in gained])
        match law:
            case "cordoned":
                return f"uncordon {names}"
            case "notReady":
                return f"bring {names} back to ready"
            case "heldBack":
                return f"set the inventory of {names} right ({gained[0][0].held_back})"
            case "sealed":
                return matching_advice.unseal_step([node.name for node, _ in gained])
            case "devices" | "unannounced":
                step = matching_advice.devices_step
                step = step if law == DEVICES else matching_advice.source_step
                return step(self.role, [node for node, _ in gained])
            case "selector":
                return matching_advice.selector_step(self.role, gained, missing)
            case "taint":
                return matching_advice.taint_step(self.role, gained, missing)
            case "bandwidth":
                return matching_advice.bandwidth_step(self.fabric, gained, missing)
            case "domain":
                return matching_advice.domain_step(self.gang, gained, missing)
            case "tooSmall":
                return self._smaller([node for node, _ in gained], missing, laws)
        return f"let {law} allow {names}"

    def _smaller(self, gained: list[Node], missing: int, laws: tuple[str, ...]) -> str:
        """Ask for less: where that is enough by itself, each node holds as many as it can then.

        Nodes that match now are among these, unless other roles have a part of them.
        """
        matching = [one for one in self.nodes if not one.laws]
        request, every = self.role.request, self.fabric.nodes
        if laws != (TOO_SMALL,) or sum(one.holds for one in matching) != self.found:
            return matching_advice.smaller_step(request, gained, missing, every, one=True)
        nodes = [*gained, *(one.node for one in matching)]
        return matching_advice.smaller_step(request, nodes, self.role.size, every, self.one)


def rule_law(name: str) -> str:
    """The count under which a custom rule's refusals stand."""
    return f"rule {name}"
