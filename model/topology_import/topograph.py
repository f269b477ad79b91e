"""Topograph: what its graph engine answers, and its models of switches.

The answer (docs/engines/graph.md of NVIDIA/topograph) lists `instances`, each with
`network_layers`, switches from the closest outwards, and labels. A model has `switches` (name ->
{switches}) and `blocks` ({switch, nodes}). A request has neither and is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from fourleaf.model.readers.topology.switch_groups import in_circle
from fourleaf.model.topology import natural_key
from fourleaf.model.topology_import.description import Description, DescriptionFormat
from fourleaf.model.topology_import.document_fields import Body, documents, items, mapping, string
from fourleaf.model.topology_import.layers import Layers
from fourleaf.model.topology_import.leaf_members import LeafMembers
from fourleaf.model.topology_import.switch_tree import Tree
from fourleaf.model.topology_import.text import Text

_DOMAIN = "accelerator.topograph.run/domain"


def read_topograph(text: Text) -> Description:
    """The fabric of an answer or a model. Raises `BadInput`."""
    found = documents(text)
    body = mapping(text, found[0] if found else None, "")
    if "instances" in body:
        return _answer(text, body)
    if "switches" in body or "blocks" in body or "capacity_blocks" in body:
        return _model(text, body)
    advice = "Give what /v1/topology of topograph answers, not what was asked."
    text.error(0, "instances", None, "is missing", advice)
    text.stop_on_errors()
    raise AssertionError


def _answer(text: Text, body: Body) -> Description:
    stands, above, domains = LeafMembers(), dict[str, set[str]](), dict[str, str]()
    for path, one in items(text, body["instances"], "instances"):
        instance = mapping(text, one, path)
        node = string(text, instance.get("id"), f"{path}.id")
        layers = [
            string(text, layer, where)
            for where, layer in items(
                text, instance.get("network_layers"), f"{path}.network_layers"
            )
        ]
        if not text.sound(0, f"{path}.id", node):
            continue
        if not layers:
            advice = "Leave the instance out, or give its leaf switch."
            text.error(0, f"{path}.network_layers", None, "names no switch", advice)
        elif all(text.sound(0, f"{path}.network_layers", layer) for layer in layers):
            stands.add(node, layers[0])
            for below, up in pairwise(layers):
                above.setdefault(below, set()).add(up)
        labels = mapping(text, instance.get("labels") or {}, f"{path}.labels")
        domains[node] = string(text, labels.get(_DOMAIN), f"{path}.labels[{_DOMAIN}]")
    leaves = stands.by_leaf()
    if not leaves and not text.report.errors:
        text.error(0, "instances", None, "names no node", "Ask topograph for nodes that it knows.")
    stuck = in_circle(above)
    if stuck is not None:
        message = "stands above itself"
        text.error(0, "network_layers", stuck, message, "Order layers from leaf to core.")
    text.stop_on_errors()
    ups = {switch: frozenset(up) for switch, up in above.items()}
    layers_of = Layers(leaves, {leaf: (leaf,) for leaf in leaves}, ups)
    return Description(
        DescriptionFormat.TOPOGRAPH,
        text.name,
        tuple(replace(one, accelerator=domains[one.node]) for one in layers_of.positions()),
        islands=layers_of.islands() if ups else (),
        findings=stands.findings(),
    )


def _model(text: Text, body: Body) -> Description:
    tree = Tree(text)
    blocks: dict[str, list[str]] = {}
    where = "blocks" if "blocks" in body else "capacity_blocks"
    for path, one in items(text, body.get(where), where):
        block = mapping(text, one, path)
        switch = string(text, block.get("switch"), f"{path}.switch")
        blocks.setdefault(switch, []).extend(_names(text, block.get("nodes"), f"{path}.nodes"))
    for name, path, children in _switches(text, body.get("switches")):
        under = ",".join(blocks.pop(name, ()))
        tree.add(name, 0, under, ",".join(_names(text, children, f"{path}.switches")), path)
    for switch, nodes_left in blocks.items():
        tree.add(switch, 0, ",".join(nodes_left), "", where)
    # A model lists racks without nodes under their switch, and nowhere else.
    under_others = {child for children in tree.children.values() for child in children}
    for switch in sorted(under_others - tree.lines.keys(), key=natural_key):
        tree.add(switch, 0, "", "", "switches")
    return tree.description(DescriptionFormat.TOPOGRAPH)


def _switches(text: Text, value: object) -> Iterator[tuple[str, str, Any]]:
    """Name, path and children of each switch, given by name or as a list."""
    if isinstance(value, dict):
        for name, one in value.items():
            path = f"switches[{name}]"
            yield str(name), path, mapping(text, one or {}, path).get("switches")
        return
    for path, one in items(text, value, "switches"):
        switch = mapping(text, one, path)
        yield string(text, switch.get("name"), f"{path}.name"), path, switch.get("switches")


def _names(text: Text, value: object, where: str) -> list[str]:
    return [string(text, one, path) for path, one in items(text, value, where)]
