"""From node labels to leaves and spines: levels, presets, detection, natural order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from fourleaf.model.config.spec import Spec, Topology, TopologyConstraints
from fourleaf.model.config.topology_presets import COARSE_PRESETS, HOST_LEVELS, PRESETS
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.node import Node
from fourleaf.model.problems import AdvisedError

ONLY_SPINE = "fabric"
"""The spine of every leaf where the labels name a single level."""
ONLY_LEAF = "fabric"
"""The leaf of every node where no node names one."""

_DIGITS = re.compile(r"([0-9]+)")


class TopologyError(AdvisedError):
    """Labels that name no leaf. `value` are the labels."""

    def __init__(self, value: str, message: str, advice: str) -> None:
        self.value = value
        super().__init__(message, advice)


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

    None where nothing is configured and the nodes carry no known label. Of presets that fit
    as many nodes each, the first one of `PRESETS` is used (see `equal_presets`).
    """
    if config.levels:
        return levels_of([level.node_label for level in config.levels])
    if config.preset is not None:
        return _best(PRESETS[config.preset], labels)
    names = equal_presets(labels)
    return _best(PRESETS[names[0]], labels) if names else None


def equal_presets(labels: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """The presets that fit most of the nodes with these `labels`, none where none fits any."""
    best = {name: _best(sets, labels) for name, sets in PRESETS.items()}
    fit = {name: _carrying(levels.leaf, labels) for name, levels in best.items()}
    fine = {name: n for name, n in fit.items() if n and name not in COARSE_PRESETS}
    fit = fine or {name: n for name, n in fit.items() if n}
    most = max(fit.values(), default=0)
    return tuple(name for name, n in fit.items() if n == most)


def labels_decide(
    config: Topology, levels: Levels | None, labels: Sequence[Mapping[str, str]]
) -> bool:
    """Whether nodes with these `labels` name leaves by `levels`, and not mere pools."""
    if levels is None or not _carrying(levels.leaf, labels):
        return False
    chosen = bool(config.levels) or config.preset is not None
    return chosen or equal_presets(labels)[0] not in COARSE_PRESETS


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
    unlabelled: Iterable[str] = (),
    refused: Iterable[str] = (),
) -> Fabric:
    """The fabric of `nodes`, whose leaf and spine names are set, in natural order.

    `uplinks` are Mbit/s by leaf name, `uplink` those of every other leaf. `unlabelled` are the
    names of the nodes that name no leaf, `refused` of those that are left out for that.
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
        frozenset(unlabelled),
        frozenset(refused),
    )


def placed(node: Node, names: tuple[str, str]) -> Node:
    """`node` under the leaf and spine `names`."""
    return replace(node, leaf=names[0], spine=names[1])


def leaf_caps(spec: Spec, fabric: Fabric) -> TopologyConstraints:
    """The caps on one gang in one leaf: none where the only leaf is no switch."""
    caps = spec.topology_constraints
    if not fabric.flat:
        return caps
    return caps.model_copy(update={"max_nodes_per_leaf": None, "max_gpus_per_leaf": None})
