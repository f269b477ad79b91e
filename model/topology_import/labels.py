"""The labels that a description gives its nodes, and what has to change for that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fourleaf.model.config.topology_presets import COARSE_PRESETS, PLAIN, PRESETS
from fourleaf.model.readers.topology.label_values import label_value
from fourleaf.model.topology import Levels, levels_of, natural_key
from fourleaf.model.topology_import.cluster_nodes import ClusterNode
from fourleaf.model.topology_import.description import Position

WRITABLE = (PLAIN, "topograph", "nvidia-legacy")
"""Presets whose labels are ours to write; those of clouds belong to the cloud."""


_CLOUDS = frozenset(
    label for name, sets in PRESETS.items() if name not in WRITABLE for one in sets for label in one
)


def preset_levels(preset: str) -> Levels:
    """The labels of a preset."""
    return levels_of(PRESETS[preset][0])


def carried_presets(nodes: Iterable[ClusterNode]) -> tuple[str, ...]:
    """The presets whose leaf label some node carries already, pools of a cloud left out."""
    found = {key for node in nodes for key in node.labels}
    return tuple(
        name
        for name, sets in PRESETS.items()
        if name not in COARSE_PRESETS and any(levels_of(one).leaf in found for one in sets)
    )


def foreign_labels(levels: Levels) -> tuple[str, ...]:
    """Labels of `levels` that a cloud writes."""
    return tuple(key for key in _keys(levels) if key in _CLOUDS)


def _keys(levels: Levels) -> list[str]:
    return [key for key in (levels.leaf, levels.spine, *levels.coarser) if key]


def wanted_labels(positions: Sequence[Position], levels: Levels) -> dict[str, dict[str, str]]:
    """Node -> its labels. A level that the position lacks gets none.

    Where there is no label for the core, spines of one name under several cores are told
    apart in their value.
    """
    cores: dict[str, set[str]] = {}
    for one in positions:
        cores.setdefault(one.spine, set()).add(one.core)
    found: dict[str, dict[str, str]] = {}
    for one in positions:
        spine = one.spine
        if spine and not levels.coarser and len(cores[spine]) > 1:
            spine = f"{one.core}.{spine}"
        values = {levels.leaf: one.leaf}
        if levels.spine:
            values[levels.spine] = spine
        if levels.coarser:
            values[levels.coarser[-1]] = one.core
        found[one.node] = {key: label_value(value) for key, value in values.items() if value}
    return found


@dataclass(frozen=True)
class LabelChange:
    """What changes at one node: label -> (value before, value after), None where absent."""

    node: ClusterNode
    labels: Mapping[str, tuple[str | None, str | None]]

    @property
    def patch(self) -> dict[str, str | None]:
        """Label -> its new value, None to remove it, as in a JSON merge patch."""
        return {key: after for key, (_, after) in self.labels.items()}


@dataclass(frozen=True)
class Diff:
    """Nodes that change, in natural order, and nodes that keep labels that were not asked for."""

    changes: tuple[LabelChange, ...]
    stale: tuple[str, ...]
    same: int


def difference(
    nodes: Iterable[ClusterNode],
    wanted: Mapping[str, Mapping[str, str]],
    levels: Levels,
    prune: bool = False,
) -> Diff:
    """What it takes to give `nodes` the labels `wanted`. Only `prune` removes any."""
    keys = _keys(levels)
    changes: list[LabelChange] = []
    stale: list[str] = []
    same = 0
    for node in sorted(nodes, key=lambda one: natural_key(one.name)):
        want = wanted.get(node.name, {})
        extra = [key for key in keys if key in node.labels and key not in want]
        changed: dict[str, tuple[str | None, str | None]] = {
            key: (node.labels.get(key), value)
            for key, value in want.items()
            if node.labels.get(key) != value
        }
        if prune:
            changed |= {key: (node.labels[key], None) for key in extra}
        elif extra:
            stale.append(node.name)
        if changed:
            changes.append(LabelChange(node, changed))
        elif want:
            same += 1
    return Diff(tuple(changes), tuple(stale), same)
