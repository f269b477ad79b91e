"""The fabric that the nodes of the input form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fourleaf.model.config.spec import Spec
from fourleaf.model.config.topology_presets import PLAIN, PRESETS
from fourleaf.model.fabric import Fabric
from fourleaf.model.node import GPU_SOURCE_LABEL, Node
from fourleaf.model.quantity import mbits
from fourleaf.model.readers.config import ConfigRead
from fourleaf.model.readers.nodes.discovered import warn_of_discovered, with_discovered
from fourleaf.model.readers.nodes.node_status import doubt_twins
from fourleaf.model.readers.nodes.nodes import (
    NodeRead,
    has_gpus,
    mixed_gpu_sources,
    with_devices,
)
from fourleaf.model.readers.objects.lookup import LABEL_ADVICE, is_label
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.topology.standing import DiscoveredStanding
from fourleaf.model.topology import (
    ONLY_LEAF,
    ONLY_SPINE,
    Levels,
    Place,
    build_fabric,
    choose_levels,
    equal_presets,
    place_of,
    placed,
    unique_names,
)

MOST_NAMES = 3
"""How many nodes without a leaf a warning names."""
LABEL_THEM = (
    "Run `fourleaf topology apply SOURCE` with a description of the fabric, or label the nodes "
    f"with {' and '.join(PRESETS[PLAIN][0])}."
)
_ONLY = Place((), ONLY_SPINE, ONLY_LEAF)


def read_fabric(report: Report, nodes: Sequence[NodeRead], read: ConfigRead) -> Fabric:
    """The fabric of `nodes`; nodes without GPUs, or parts of them, and a leaf are left out."""
    topology = read.config.spec.topology
    doubt_twins((one.node.name, one.devices) for one in nodes)
    nodes = [replace(one, node=with_devices(one)) for one in nodes]
    on_gpus = [one for one in nodes if has_gpus(one, read.config.spec)]
    levels = _levels(report, [one.node.labels for one in on_gpus or nodes], read)
    mixed = mixed_gpu_sources(nodes)
    standing, discovered = with_discovered(nodes, _standing(nodes, levels, read), levels, read)
    apart = [one for one, place in standing if place is None]
    refuses = topology.unlabelled == "refuse"
    if apart:
        flat = len(apart) == len(standing)
        _warn_of(report, apart, levels, read, flat, discovered)
        standing = [(one, _ONLY) for one in apart] if flat else standing
        if refuses:
            refused = {one.node.name for one in apart}
            standing = [(one, place) for one, place in standing if one.node.name not in refused]
    names = unique_names(place for _, place in standing if place is not None)
    taken = {name for pair in names.values() for name in pair}
    final = []
    for one, place in standing:
        node = placed(one.node, names[place] if place else _isolated(one.node.name, taken))
        if mixed and one.gpu_source:
            node = _named(node, one.gpu_source)
        final.append(node)
    nameless, none = [one.node.name for one in apart], list[str]()
    fabric = build_fabric(
        final,
        topology,
        *_uplinks(read.config.spec),
        *((none, nameless) if refuses else (nameless, none)),
    )
    _check_names(report, fabric, read)
    placed_in = {one.node.name: names[place][0] for one, place in standing if place}
    warn_of_discovered(report, nodes, discovered, placed_in, read)
    return fabric


def _levels(report: Report, labels: Sequence[Mapping[str, str]], read: ConfigRead) -> Levels | None:
    topology = read.config.spec.topology
    levels = choose_levels(topology, labels)
    if not topology.levels and topology.preset is None:
        first, *others = equal_presets(labels) or ("",)
        if others:
            read.warn(
                report,
                "spec.topology.preset",
                None,
                f"is not set; {' and '.join((first, *others))} fit as many nodes each, "
                f"and {first} is used",
                "Set it to the one that is meant.",
            )
    return levels


def _standing(
    nodes: Sequence[NodeRead], levels: Levels | None, read: ConfigRead
) -> list[tuple[NodeRead, Place | None]]:
    """Nodes with where they stand; None for nodes with GPUs that name no leaf."""
    spines = levels is not None and any(one.node.labels.get(levels.spine or "") for one in nodes)
    if levels is not None and not spines:
        levels = Levels(levels.leaf)
    found: list[tuple[NodeRead, Place | None]] = []
    for one in nodes:
        place = place_of(levels, one.node.labels) if levels else None
        if place is not None and place.leaf and place.spine:
            if not _refused(one, place, levels):
                found.append((one, place))
        elif has_gpus(one, read.config.spec) or (place and place.leaf):
            found.append((one, None))
    return found


def _label(levels: Levels | None, one: NodeRead) -> str:
    """The label that `one` lacks."""
    if levels is None:
        return PRESETS[PLAIN][0][-1]
    return levels.leaf if not one.node.labels.get(levels.leaf) else levels.spine or levels.leaf


def _warn_of(
    report: Report,
    apart: Sequence[NodeRead],
    levels: Levels | None,
    read: ConfigRead,
    flat: bool,
    discovered: DiscoveredStanding,
) -> None:
    """Say of nodes that name no leaf how they are used all the same, or that they are not."""
    label = _label(levels, apart[0])
    lacks = f"without the label {label}"
    if discovered.decides:
        lacks = f"which {discovered.spotted.source} does not place"
    refuses = read.config.spec.topology.unlabelled == "refuse"
    advice = LABEL_THEM
    if flat:
        found = f"no GPU node has the label {label}" if levels else "no GPU node has a known label"
        message = f"finds no leaf: {found}, so all {len(apart):,} stand in one leaf"
        if refuses:
            message = f"refuses all {len(apart):,} GPU nodes: {found}, so they take no pods"
    else:
        some = ", ".join(one.node.name for one in apart[:MOST_NAMES])
        more = f" and {len(apart) - MOST_NAMES:,} more" if len(apart) > MOST_NAMES else ""
        message = f"finds no leaf of {some}{more}, {lacks}, so each stands apart"
        if refuses:
            message = f"refuses {some}{more}, {lacks}: no pods go there"
    if refuses:
        advice = f"{LABEL_THEM[:-1]}, or set spec.topology.unlabelled to isolate."
    read.warn(report, "spec.topology", None, message, advice)


def _refused(one: NodeRead, place: Place, levels: Levels | None) -> bool:
    """Report labels that could name no leaf or spine; whether a node has such a label.

    Kubernetes takes no such value.
    """
    if levels is None or "".join((*place.coarser, place.spine, place.leaf)).isprintable():
        return False
    for label in (levels.leaf, levels.spine or "", *levels.coarser):
        value = one.node.labels.get(label, "")
        if value and not is_label(value):
            field = f"metadata.labels[{label}]"
            one.manifest.error(field, value, "is no value of a label", LABEL_ADVICE)
    return True


def _isolated(name: str, taken: set[str]) -> tuple[str, str]:
    unique = name
    while unique in taken:
        unique = f"node/{unique}"
    taken.add(unique)
    return unique, unique


def _named(node: Node, gpu_source: str) -> Node:
    return replace(node, labels={**node.labels, GPU_SOURCE_LABEL: gpu_source})


def _uplinks(spec: Spec) -> tuple[dict[str, int], int | None]:
    network = spec.network
    everywhere = network.uplink_bandwidth
    return (
        {leaf: mbits(value) for leaf, value in network.uplinks.items()},
        None if everywhere is None else mbits(everywhere),
    )


def _check_names(report: Report, fabric: Fabric, read: ConfigRead) -> None:
    """Refuse leaves and spines that the config names and the fabric does not have."""
    if not fabric.leaves:
        return
    leaves, spines = fabric.leaf_index.keys(), fabric.spines.keys()
    spec = read.config.spec
    named = [(f"spec.network.uplinks[{leaf}]", leaf, False) for leaf in spec.network.uplinks]
    for i, edge in enumerate(spec.topology.adjacency.edges):
        named.extend((f"spec.topology.adjacency.edges[{i}]", leaf, False) for leaf in edge)
        spans = {fabric.leaves[fabric.leaf_index[leaf]].spine for leaf in edge if leaf in leaves}
        if len(spans) > 1:
            read.warn(
                report,
                f"spec.topology.adjacency.edges[{i}]",
                " - ".join(edge),
                f"joins leaves of spines {' and '.join(sorted(spans))}, so it counts for nothing: "
                "adjacent leaves stand in one spine",
                "Give spec.topology.levels the label of leaves alone: all are one spine then.",
            )
    for name, policy in spec.namespaces.items():
        field = f"spec.namespaces[{name}].domains"
        named.extend((field, domain, True) for domain in policy.domains or ())
    for field, name, or_spine in named:
        if name not in leaves and not (or_spine and name in spines):
            some = ", ".join(list(leaves)[:5])
            what = "no leaf or spine" if or_spine else "no leaf"
            advice = f"Use names of the fabric, such as: {some}."
            read.error(report, field, name, f"is {what} of the fabric", advice)
