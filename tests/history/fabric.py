"""The arithmetic of leaves and spines, from node labels alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.history.pods import GPU

Body = dict[str, Any]

SPINE = "fabric.topograph.run/tier-1"
LEAF = "fabric.topograph.run/tier-0"


@dataclass(frozen=True, slots=True)
class Fabric:
    """Nodes by leaf, leaves in natural order by spine, and each node's GPUs."""

    leaves: dict[str, frozenset[str]]
    spines: dict[str, tuple[str, ...]]
    gpus: dict[str, int]

    @classmethod
    def of(cls, nodes: Iterable[Body]) -> Fabric:
        """Read the labels of the nodes; those without a leaf are in none."""
        leaves: dict[str, set[str]] = defaultdict(set)
        spines: dict[str, set[str]] = defaultdict(set)
        gpus = {}
        for node in nodes:
            name, labels = node["metadata"]["name"], node["metadata"].get("labels") or {}
            gpus[name] = int(((node.get("status") or {}).get("allocatable") or {}).get(GPU, 0))
            if LEAF in labels:
                leaves[labels[LEAF]].add(name)
                spines[labels.get(SPINE, "")].add(labels[LEAF])
        return cls(
            {leaf: frozenset(names) for leaf, names in leaves.items()},
            {spine: tuple(sorted(names, key=_natural)) for spine, names in spines.items()},
            gpus,
        )


def misplaced(nodes: set[str], fabric: Fabric, missing: set[str]) -> str:
    """Why a gang of one pod a node may not stand on `nodes`, "" where it may.

    It takes the fewest adjacent leaves of one spine that could hold it in an empty fabric,
    complete but for one at an end. A leaf is complete without the nodes in `missing`. Gangs
    larger than any spine are not judged.
    """
    fewest = _fewest(len(nodes), fabric)
    if fewest == 0:
        return ""
    used = {leaf for leaf, names in fabric.leaves.items() if names & nodes}
    home = [spine for spine, leaves in fabric.spines.items() if used & set(leaves)]
    if len(home) != 1:
        return f"stands in spines {', '.join(sorted(home)) or 'none'}, and one could hold it"
    row = [leaf in used for leaf in fabric.spines[home[0]]]
    first, last = row.index(True), len(row) - 1 - row[::-1].index(True)
    named = ", ".join(sorted(used, key=_natural))
    if last - first + 1 != len(used):
        return f"stands in leaves that are not adjacent: {named}"
    if len(used) > fewest:
        return f"stands in {len(used)} leaves, and {fewest} could hold it: {named}"
    window = fabric.spines[home[0]][first : last + 1]
    broken = [leaf for leaf in window if fabric.leaves[leaf] - nodes - missing]
    inner = [leaf for leaf in broken if leaf not in (window[0], window[-1])]
    if inner or len(broken) > 1:
        return f"leaves parts of several leaves free: {', '.join(broken)}"
    return ""


def _fewest(count: int, fabric: Fabric) -> int:
    """The fewest adjacent leaves of one spine with so many nodes, 0 where no spine has them."""
    best = 0
    for leaves in fabric.spines.values():
        sizes = [len(fabric.leaves[leaf]) for leaf in leaves]
        for width in range(1, len(sizes) + 1):
            windows = (sum(sizes[i : i + width]) for i in range(len(sizes) - width + 1))
            if max(windows) >= count:
                best = min(best or width, width)
                break
    return best


def _natural(name: str) -> list[tuple[int, str]]:
    """An order in which leaf-10 comes after leaf-9."""
    return [
        (int(part), "") if part.isdecimal() else (0, part) for part in re.findall(r"\d+|\D+", name)
    ]
