"""Nodes that one thing alone keeps a gang off: a cordon, no readiness, a seal, a taint.

Told beside what is busy on the others. Once enough other nodes match, no law is why the gang waits,
and that a part of the fabric is not for it would be said nowhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from fourleaf.model.gang import Gang, Role
from fourleaf.model.node import Node
from fourleaf.model.reasons.text import (
    CORDON,
    MOST_NAMED,
    NO_READINESS,
    OTHER_TAINTS,
    SEAL,
    TAINTED,
)
from fourleaf.model.resources import fits
from fourleaf.solver.explain import matching_advice
from fourleaf.solver.explain.own_taints import own_taints
from fourleaf.solver.instance.fabric_index import FabricIndex

LeftOut = Mapping[str, list[int]]
"""What alone keeps a gang off -> those nodes, by index: cordons, readiness, seals, then taints,
those of most nodes first."""


def may_be_left_out(node: Node) -> bool:
    """Whether a cordon, no readiness, a seal or a taint could keep some gang off a node."""
    return node.cordoned or not node.ready or node.sealed or bool(node.taints)


def left_out_of(fabric: FabricIndex, nodes: list[int], gang: Gang) -> LeftOut:
    """The nodes of `nodes` (indices) that one thing alone keeps some role off."""
    found: dict[str, list[int]] = {CORDON: [], NO_READINESS: [], SEAL: []}
    for i in nodes:
        for role in gang.roles:
            if what := _only_hindrance(fabric, i, gang, role):
                found.setdefault(what, []).append(i)
                break
    first = (CORDON, NO_READINESS, SEAL)
    taints = [one for one in found.items() if one[0] not in first]
    taints.sort(key=lambda one: (-len(one[1]), one[0]))
    return dict([*((name, found[name]) for name in first if found[name]), *taints])


def as_counts(left_out: LeftOut) -> tuple[tuple[str, int], ...]:
    """Counts of such nodes: a few taints by name, the nodes of all others in one count."""
    counts = {name: len(nodes) for name, nodes in left_out.items()}
    taints = [name for name in counts if name.startswith(TAINTED)]
    others = Counter[str]()
    for name in taints[MOST_NAMED:]:
        others[OTHER_TAINTS] += counts.pop(name)
    return (*counts.items(), *others.items())


def _only_hindrance(fabric: FabricIndex, index: int, gang: Gang, role: Role) -> str:
    """The one thing that keeps the pods of a role off a node, "" where there is none or more."""
    node = fabric.nodes[index]
    if node.held_back:
        return ""
    hindrances = [CORDON] * node.cordoned + [NO_READINESS] * (not node.ready)
    hindrances += [SEAL] * node.sealed
    taints = role.constraint.untolerated(own_taints(node).taints)
    if taints:
        names = dict.fromkeys(map(matching_advice.taint_name, taints))
        hindrances.append(f"{TAINTED}{' and '.join(names)}")
    would_do = (
        len(hindrances) == 1
        and role.constraint.selects(node)
        and fits(node.allocatable, role.request)
        and fabric.carries(index, gang.bandwidth)
        and fabric.open_to(index, fabric.spec.namespace(gang.key.namespace).domains)
        and all(rule.allows(gang, role, node) for rule in fabric.extensions.rules)
    )
    return hindrances[0] if would_do else ""
