"""Nodes that only a taint keeps a gang off: told beside what is busy on the others.

Once enough other nodes match, no law is why it waits, and that a part of the fabric is not for it
would be said nowhere.
"""

from __future__ import annotations

from collections import Counter

from fourleaf.model.gang import Gang, Role
from fourleaf.model.reasons.text import MOST_NAMED, OTHER_TAINTS, TAINTED
from fourleaf.model.resources import fits
from fourleaf.solver.explain import matching_advice
from fourleaf.solver.instance.fabric_index import FabricIndex


def left_out_by_taints(
    fabric: FabricIndex, tainted: list[int], gang: Gang
) -> tuple[tuple[str, int], ...]:
    """Counts of the nodes of `tainted` (indices) that each taint alone keeps some role off.

    A few taints by name, those of most nodes first; the nodes of all others in one count.
    """
    found: dict[int, str] = {}
    for role in gang.roles:
        for i in tainted:
            if i not in found and (names := _only_taints(fabric, i, gang, role)):
                found[i] = names
    most = sorted(Counter(found.values()).items(), key=lambda one: (-one[1], one[0]))
    counts = [(f"{TAINTED}{names}", nodes) for names, nodes in most[:MOST_NAMED]]
    if others := sum(nodes for _, nodes in most[MOST_NAMED:]):
        counts.append((OTHER_TAINTS, others))
    return tuple(counts)


def _only_taints(fabric: FabricIndex, index: int, gang: Gang, role: Role) -> str:
    """The taints of a node that alone keep the pods of a role off it, "" where none do."""
    node = fabric.nodes[index]
    taints = matching_advice.untolerated(role.constraint, node)
    would_do = (
        taints
        and node.schedulable
        and role.constraint.selects(node)
        and fits(node.allocatable, role.request)
        and fabric.carries(index, gang.bandwidth)
        and fabric.open_to(index, fabric.spec.namespace(gang.key.namespace).domains)
        and all(rule.allows(gang, role, node) for rule in fabric.extensions.rules)
    )
    return " and ".join(dict.fromkeys(map(matching_advice.taint_name, taints))) if would_do else ""
