"""Kubernetes nodes with labels, and a Kueue `Topology` that says which labels are the levels.

Without one, the preset that most nodes fit is taken: labels of topograph (either form), of the
clouds, or the scheduler's own.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from fourleaf.model.config.spec import Topology
from fourleaf.model.config.topology_presets import PLAIN, PRESETS
from fourleaf.model.problems import BadInput, Problem, Severity
from fourleaf.model.readers.config import read_config
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.text.sources import Source
from fourleaf.model.readers.topology.findings import Finding, FindingKind, finding
from fourleaf.model.topology import (
    ONLY_SPINE,
    Levels,
    TopologyError,
    choose_levels,
    equal_presets,
    labels_decide,
    levels_of,
    place_of,
)
from fourleaf.model.topology_import.cluster_nodes import ClusterNode
from fourleaf.model.topology_import.description import (
    Description,
    DescriptionFormat,
    Position,
    in_order,
)
from fourleaf.model.topology_import.discovered import found_by_agents, with_discovered

KUEUE = "kueue.x-k8s.io"
_ACCELERATORS = (
    "accelerator.topograph.run/domain",
    "network.topology.nvidia.com/accelerator",
    "nvidia.com/gpu.clique",
)


def read_kubernetes(source: Source, inventory: Inventory, flat: bool = False) -> Description:
    """The fabric of Nodes that stand in `inventory`, by the scheduler's config where it is there.

    A Kueue `Topology` wins over the config. Raises `BadInput`, also where no node names a leaf,
    unless a `flat` fabric will do: then every node is one without a leaf.
    """
    nodes = known_nodes(inventory)
    config = read_config(inventory).config.spec.topology
    if inventory.report.errors:
        raise BadInput(inventory.report.errors)
    stated = list(inventory.of(KUEUE, "Topology"))
    if not nodes:
        advice = "Give the nodes too: kubectl get nodes,topologies -o yaml."
        raise _bad(source.name, "Node", "", "", "no node is there", advice)
    with_gpus = [one for one in nodes if one.has_gpus] or nodes
    levels = _levels(source.name, stated, config, [one.labels for one in with_gpus])
    if levels is None and flat:
        levels = levels_of(PRESETS[PLAIN][0])
    elif levels is None:
        advice = "Label the nodes: `fourleaf topology apply SOURCE` does so from a description."
        raise _bad(source.name, "Node", "metadata.labels", "", "no node has a known label", advice)
    spined = any(levels.spine and one.labels.get(levels.spine) for one in nodes)
    if levels.spine and not spined:
        levels = Levels(levels.leaf)
    names = {one.name for one in with_gpus}
    decide = bool(stated) or labels_decide(config, levels, [one.labels for one in with_gpus])
    found = with_discovered(
        described(source.name, nodes, levels, names), found_by_agents(inventory), names, decide
    )
    found = replace(found, findings=_as_used(found.findings, config, not found.positions))
    detected = not stated and not config.levels and config.preset is None
    presets = equal_presets([one.labels for one in with_gpus]) if detected else ()
    draw = finding(FindingKind.PRESETS_DRAW, presets[1:])
    return replace(found, findings=(*found.findings, *draw))


def _as_used(findings: Sequence[Finding], config: Topology, flat: bool) -> tuple[Finding, ...]:
    """`findings`, with what the config makes of nodes that name no leaf."""
    kind = FindingKind.FLAT_FABRIC if flat else FindingKind.NODE_WITHOUT_LEAF
    if config.unlabelled == "refuse":
        kind = FindingKind.NODE_REFUSED
    nameless = FindingKind.NODE_WITHOUT_LEAF
    return tuple(replace(one, kind=kind) if one.kind is nameless else one for one in findings)


def described(
    source: str, nodes: Sequence[ClusterNode], levels: Levels, with_gpus: Container[str]
) -> Description:
    """Where `nodes` stand by `levels`; what is not `with_gpus` and has no label is left out."""
    named = [key for key in (levels.spine, *levels.coarser) if key]
    carried = [key for key in named if any(node.labels.get(key) for node in nodes)]
    positions: list[Position] = []
    without: list[str] = []
    missing: list[str] = []
    for node in nodes:
        place = place_of(levels, node.labels)
        if not place.leaf:
            if node.name in with_gpus:
                without.append(node.name)
            continue
        if not all(node.labels.get(key) for key in carried):
            missing.append(node.name)
        spine = "" if levels.spine is None and place.spine == ONLY_SPINE else place.spine
        core = next((one for one in reversed(place.coarser) if one), "")
        domain = next((node.labels[key] for key in _ACCELERATORS if node.labels.get(key)), "")
        positions.append(Position(node.name, place.leaf, spine, core, domain))
    return Description(
        DescriptionFormat.KUBERNETES,
        source,
        in_order(positions),
        findings=(
            *finding(FindingKind.NODE_WITHOUT_LEAF, without),
            *finding(FindingKind.LABEL_MISSING, missing),
        ),
    )


def known_nodes(inventory: Inventory) -> list[ClusterNode]:
    """All Nodes of `inventory`, by name and labels."""
    return [ClusterNode.of(one.body) for one in inventory.of("", "Node")]


def _levels(
    source: str,
    stated: Sequence[Manifest],
    config: Topology,
    labels: Sequence[Mapping[str, str]],
) -> Levels | None:
    if len(stated) > 1:
        names = ", ".join(sorted(one.name for one in stated))
        advice = "Give the one that describes the fabric."
        raise _bad(source, "Topology", "metadata.name", names, "is not the only one", advice)
    if not stated:
        return choose_levels(config, labels)
    try:
        return levels_of(_stated(source, stated[0]))
    except TopologyError as error:
        title = stated[0].title
        raise _bad(source, title, "spec.levels", error.value, str(error), error.advice) from None


def _stated(source: str, topology: Manifest) -> list[str]:
    spec = topology.mapping(topology.body.get("spec"), "spec")
    found = [
        topology.text(level.get("nodeLabel"), f"{path}.nodeLabel")
        for path, level in topology.mappings(spec.get("levels"), "spec.levels")
    ]
    if not all(found) or not found:
        advice = "Give spec.levels with a nodeLabel each, coarse to fine."
        raise _bad(source, topology.title, "spec.levels", "", "names no node label", advice)
    return found


def _bad(source: str, title: str, field: str, value: str, message: str, advice: str) -> BadInput:
    return BadInput([Problem(Severity.ERROR, source, title, field, value, message, advice)])
