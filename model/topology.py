"""From node labels to leaves and spines: levels, presets, detection, natural order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from fourleaf.model.config.spec import Topology
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.node import Node

ONLY_SPINE = "fabric"
"""The spine of every leaf where the labels name a single level."""

HOST_LEVELS = frozenset(
    {
        "kubernetes.io/hostname",
        "cloud.google.com/gce-topology-host",
        "oci.oraclecloud.com/rdma.host_id",
    }
)
"""Levels that name one host: finer than a leaf, so never a leaf."""

PLAIN = "plain"
PRESETS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    PLAIN: (("topology.scheduler/spine", "topology.scheduler/leaf"),),
    "topograph": (
        (
            "fabric.topograph.run/tier-2",
            "fabric.topograph.run/tier-1",
            "fabric.topograph.run/tier-0",
        ),
    ),
    "nvidia-legacy": (
        (
            "network.topology.nvidia.com/core",
            "network.topology.nvidia.com/spine",
            "network.topology.nvidia.com/leaf",
        ),
        (
            "network.topology.nvidia.com/datacenter",
            "network.topology.nvidia.com/spine",
            "network.topology.nvidia.com/block",
        ),
    ),
    "gke": (("cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock"),),
    "eks": (
        (
            "topology.k8s.aws/network-node-layer-1",
            "topology.k8s.aws/network-node-layer-2",
            "topology.k8s.aws/network-node-layer-3",
        ),
    ),
    "oci": (
        (
            "oci.oraclecloud.com/rdma.hpc_island_id",
            "oci.oraclecloud.com/rdma.network_block_id",
            "oci.oraclecloud.com/rdma.local_block_id",
        ),
    ),
    "nebius": (
        (
            "topology.nebius.com/gpu-cluster-id",
            "topology.nebius.com/tier-2",
            "topology.nebius.com/tier-1",
        ),
    ),
}
"""Preset -> label sets, each coarse to fine; a preset with two sets takes the commoner one."""

_DIGITS = re.compile(r"([0-9]+)")


class TopologyError(ValueError):
    """The configured topology does not fit the nodes. `field` is a path in the config."""

    def __init__(self, field: str, value: str, message: str, advice: str) -> None:
        self.field = field
        self.value = value
        self.advice = advice
        super().__init__(message)


NaturalKey = tuple[tuple[int, int, str], ...]


@lru_cache(maxsize=8192)
def natural_key(name: str) -> NaturalKey:
    """A sort key that puts leaf-2 before leaf-10."""
    parts = []
    for part in _DIGITS.split(name):
        if part and part[0] in "0123456789":
            digits = part.lstrip("0")
            parts.append((0, len(digits), digits))
        elif part:
            parts.append((1, 0, part))
    return (*parts, (-1, 0, name))


@dataclass(frozen=True, slots=True)
class Levels:
    """The node labels that name leaf, spine and what is coarser (coarse to fine)."""

    leaf: str
    spine: str | None = None
    coarser: tuple[str, ...] = ()


def levels_of(labels: Sequence[str]) -> Levels:
    """`labels` (coarse to fine) as levels; levels that name single hosts are left out."""
    kept = [label for label in labels if label not in HOST_LEVELS]
    if not kept:
        raise TopologyError(
            "spec.topology.levels",
            ", ".join(labels),
            "names no level above the host",
            "Add the node label that names the leaf switch.",
        )
    return Levels(kept[-1], kept[-2] if len(kept) > 1 else None, tuple(kept[:-2]))


def _carrying(label: str, labels: Sequence[Mapping[str, str]]) -> int:
    return sum(1 for of_node in labels if of_node.get(label))


def _best(sets: Sequence[tuple[str, ...]], labels: Sequence[Mapping[str, str]]) -> Levels:
    return max((levels_of(one) for one in sets), key=lambda one: _carrying(one.leaf, labels))


def choose_levels(config: Topology, labels: Sequence[Mapping[str, str]]) -> Levels | None:
    """The levels to use for nodes with these `labels` (of the GPU nodes).

    None where nothing is configured and the nodes carry no known label. Raises
    `TopologyError` for an unknown preset or where two presets fit equally well.
    """
    if config.levels:
        return levels_of([level.node_label for level in config.levels])
    if config.preset is not None:
        sets = PRESETS.get(config.preset)
        if sets is None:
            raise TopologyError(
                "spec.topology.preset",
                config.preset,
                "is no known preset",
                f"Use one of: {', '.join(PRESETS)}; or list spec.topology.levels.",
            )
        return _best(sets, labels)
    found = {name: _best(sets, labels) for name, sets in PRESETS.items()}
    counts = {name: _carrying(levels.leaf, labels) for name, levels in found.items()}
    most = max(counts.values())
    if most == 0:
        return None
    names = [name for name, carried in counts.items() if carried == most]
    if len(names) > 1:
        raise TopologyError(
            "spec.topology.preset",
            "",
            f"is not set, and {' and '.join(names)} fit {most} nodes each",
            f"Set spec.topology.preset to one of: {', '.join(names)}.",
        )
    return found[names[0]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where one node stands by its labels; "" where a label is absent."""

    coarser: tuple[str, ...]
    spine: str
    leaf: str


def place_of(levels: Levels, labels: Mapping[str, str]) -> Place:
    """Where a node with `labels` stands."""
    return Place(
        tuple(labels.get(label, "") for label in levels.coarser),
        labels.get(levels.spine, "") if levels.spine else ONLY_SPINE,
        labels.get(levels.leaf, ""),
    )


def unique_names(places: Iterable[Place]) -> dict[Place, tuple[str, str]]:
    """Place -> (leaf name, spine name), each unique in the fabric.

    A spine value that stands under two coarser domains is qualified by them, a leaf
    value that stands under two spines by its spine.
    """
    distinct = list(dict.fromkeys(places))
    above: dict[str, set[tuple[str, ...]]] = {}
    for place in distinct:
        above.setdefault(place.spine, set()).add(place.coarser)
    spines = {
        (place.coarser, place.spine): place.spine
        if len(above[place.spine]) == 1
        else "/".join(part for part in (*place.coarser, place.spine) if part)
        for place in distinct
    }
    holders: dict[str, set[str]] = {}
    for place in distinct:
        holders.setdefault(place.leaf, set()).add(spines[place.coarser, place.spine])
    names = {}
    for place in distinct:
        spine = spines[place.coarser, place.spine]
        leaf = place.leaf if len(holders[place.leaf]) == 1 else f"{spine}/{place.leaf}"
        names[place] = (leaf, spine)
    return names


def build_fabric(
    nodes: Iterable[Node],
    topology: Topology,
    uplinks: Mapping[str, int],
    uplink: int | None,
) -> Fabric:
    """The fabric of `nodes`, whose leaf and spine names are set, in natural order.

    `uplinks` are Mbit/s by leaf name, `uplink` those of every other leaf.
    """
    by_leaf: dict[tuple[str, str], list[Node]] = {}
    for node in nodes:
        by_leaf.setdefault((node.spine, node.leaf), []).append(node)
    order = sorted(by_leaf, key=lambda key: (natural_key(key[0]), natural_key(key[1])))
    leaves = tuple(
        Leaf(
            leaf,
            spine,
            tuple(sorted(by_leaf[spine, leaf], key=lambda node: natural_key(node.name))),
            uplinks.get(leaf, uplink),
        )
        for spine, leaf in order
    )
    return Fabric(
        leaves,
        topology.adjacency.kind,
        frozenset((min(a, b), max(a, b)) for a, b in topology.adjacency.edges),
    )


def placed(node: Node, names: tuple[str, str]) -> Node:
    """`node` under the leaf and spine `names`."""
    return replace(node, leaf=names[0], spine=names[1])
