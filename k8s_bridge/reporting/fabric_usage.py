"""How full a fabric is, and how much of what is free is in pieces."""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.model.fabric import Leaf
from fourleaf.model.snapshot import Snapshot

DOMAIN_LIMIT = 1000
"""Fabrics with more leaves than that are reported by spine, and of those the first ones."""


@dataclass(frozen=True, slots=True)
class FabricUsage:
    """How full a fabric is. Ratios are 0..1; `domains` are leaves, or spines where too many."""

    fragmentation: float
    allocation: float
    domains: tuple[tuple[str, float], ...]


def fabric_usage(snapshot: Snapshot) -> FabricUsage:
    """How full and how fragmented the fabric of `snapshot` is.

    Fragmentation is the share of the free GPUs on schedulable nodes that are *not* in a
    wholly free leaf, one whose schedulable nodes have all their GPUs free: 0 where every
    free GPU belongs to a leaf that a gang can have complete, 1 where no such leaf is left.
    Without free GPUs it is 0. Allocation and utilisation count GPUs of all nodes, those
    that are cordoned or not ready included, since their pods may still run.
    """
    free_in_all = free_in_whole = used_in_all = total_in_all = 0
    by_leaf: dict[str, tuple[int, int]] = {}
    by_spine: dict[str, tuple[int, int]] = {}
    for leaf in snapshot.fabric.leaves:
        free, offered, used, total = _gpus(snapshot, leaf)
        free_in_all += free
        free_in_whole += free if free == offered else 0
        used_in_all += used
        total_in_all += total
        by_leaf[leaf.name] = (used, total)
        spine_used, spine_total = by_spine.get(leaf.spine, (0, 0))
        by_spine[leaf.spine] = (spine_used + used, spine_total + total)
    domains = by_leaf if len(by_leaf) <= DOMAIN_LIMIT else by_spine
    return FabricUsage(
        fragmentation=_ratio(free_in_all - free_in_whole, free_in_all),
        allocation=_ratio(used_in_all, total_in_all),
        domains=tuple(
            (name, _ratio(*domain)) for name, domain in list(domains.items())[:DOMAIN_LIMIT]
        ),
    )


def _gpus(snapshot: Snapshot, leaf: Leaf) -> tuple[int, int, int, int]:
    """GPUs of a leaf: free and offered on schedulable nodes, used and in all on any."""
    free = offered = used = total = 0
    for node in leaf.nodes:
        allocatable = node.allocatable.gpus
        left = max(0, allocatable - snapshot.gpus_held(node.name))
        total += allocatable
        used += allocatable - left
        if node.schedulable:
            free += left
            offered += allocatable
    return free, offered, used, total


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
