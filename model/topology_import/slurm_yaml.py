"""Slurm's `topology.yaml` (25.05 and newer): a list of topologies, each a tree or blocks.

Format: topology.yaml(5). Where there are several, that with `cluster_default: true` counts,
else the first that is not flat.
"""

from __future__ import annotations

from fourleaf.model.readers.topology.findings import Finding, FindingKind
from fourleaf.model.topology_import.description import Description, DescriptionFormat
from fourleaf.model.topology_import.document_fields import Body, documents, items, mapping, string
from fourleaf.model.topology_import.switch_tree import Tree
from fourleaf.model.topology_import.text import Text


def read_slurm_yaml(text: Text) -> Description:
    """The fabric of a `topology.yaml`. Raises `BadInput`."""
    found = documents(text)
    where, body = _chosen(text, found[0] if found else None)
    tree = Tree(text)
    for path, one in items(text, _inner(text, body, where, "tree", "switches"), where):
        switch = mapping(text, one, path)
        nodes = string(text, switch.get("nodes"), f"{path}.nodes")
        children = string(text, switch.get("children"), f"{path}.children")
        tree.add(string(text, switch.get("switch"), f"{path}.switch"), 0, nodes, children, path)
    blocks = 0
    for path, one in items(text, _inner(text, body, where, "block", "blocks"), where):
        block = mapping(text, one, path)
        nodes = string(text, block.get("nodes"), f"{path}.nodes")
        tree.add(string(text, block.get("block"), f"{path}.block"), 0, nodes, "", path)
        blocks += 1
    notes = (Finding(FindingKind.BLOCKS_AS_LEAVES, blocks),) if blocks else ()
    return tree.description(DescriptionFormat.SLURM_YAML, notes)


def _chosen(text: Text, whole: object) -> tuple[str, Body]:
    every = [(path, mapping(text, one, path)) for path, one in items(text, whole, "topologies")]
    wired = [(path, one) for path, one in every if "tree" in one or "block" in one]
    if not wired:
        advice = "Give a list with a topology that has `tree` or `block`."
        text.error(0, "topologies", None, "names no switch and no block", advice)
        text.stop_on_errors()
    return next((one for one in wired if one[1].get("cluster_default") is True), wired[0])


def _inner(text: Text, body: Body, where: str, kind: str, members: str) -> object:
    if body.get(kind) is None:
        return None
    return mapping(text, body[kind], f"{where}.{kind}").get(members)
