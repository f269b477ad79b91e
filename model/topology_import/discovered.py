"""What agents discovered, beside the labels of the nodes: for checks of the fabric in use."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from fourleaf.model.readers.nodes.node_status import STATUS
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.topology.contradictions import contradictions
from fourleaf.model.readers.topology.findings import FindingKind, finding
from fourleaf.model.readers.topology.found import Found, found_in
from fourleaf.model.readers.topology.standing import discovered_standing
from fourleaf.model.topology import ONLY_SPINE, Place
from fourleaf.model.topology_import.description import Description, Position, in_order


def found_by_agents(inventory: Inventory) -> dict[str, Found]:
    """Node -> what its agent found of it; nothing of nodes that are not there."""
    found = {}
    for node in inventory.of("", "Node"):
        status = inventory.get(*STATUS, "", node.name)
        uid = str(node.mapping(node.body.get("metadata"), "metadata").get("uid", ""))
        one = found_in(status.body.get("status"), uid) if status is not None else None
        if one is not None:
            found[node.name] = one
    return found


def with_discovered(
    one: Description, found: Mapping[str, Found], with_gpus: Collection[str], labels_decide: bool
) -> Description:
    """`one`, which labels describe, as the scheduler completes it by what was `found`."""
    if not found:
        return one
    labelled = {
        position.node: Place((position.core,), position.spine, position.leaf)
        for position in one.positions
    }
    made = discovered_standing(found, with_gpus, labelled, labels_decide)
    kept = () if made.decides else one.positions
    positions = in_order((*kept, *(_position(node, at) for node, at in made.places.items())))
    leaf_of = {each.node: each.leaf for each in positions}
    nameless = finding(FindingKind.NODE_WITHOUT_LEAF, set(with_gpus) - leaf_of.keys())
    others = (each for each in one.findings if each.kind is not FindingKind.NODE_WITHOUT_LEAF)
    told = contradictions(found, made.spotted, leaf_of)
    return replace(one, positions=positions, findings=(*made.findings, *nameless, *others, *told))


def _position(node: str, place: Place) -> Position:
    spine = "" if place.spine == ONLY_SPINE else place.spine
    return Position(node, place.leaf, spine, place.coarser[-1] if place.coarser else "")
