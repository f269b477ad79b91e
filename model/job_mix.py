"""The recent job mix: which whole-node gangs are likely to come next, of those that could fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from fourleaf.model.gang import GangKey
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.weights import SCALE, milli

MIX_SIZE = 4
"""How many shapes of the mix are kept."""


@dataclass(frozen=True, slots=True)
class LikelyGang:
    """A shape of the mix: `nodes` whole nodes of `gpus` GPUs; `value` points if it still fits."""

    nodes: int
    gpus: int
    value: int


def whole_node_gpus(snapshot: Snapshot) -> int:
    """The commonest allocatable GPU count of the schedulable nodes (ties: the larger)."""
    counts = Counter(
        node.allocatable.gpus
        for node in snapshot.fabric.nodes.values()
        if node.schedulable and node.allocatable.gpus > 0
    )
    return max(counts, key=lambda gpus: (counts[gpus], gpus), default=0)


def gang_sizes(snapshot: Snapshot, gpus: int) -> Counter[int]:
    """Node count -> gangs, over running and waiting gangs that ask for GPUs."""
    running: Counter[GangKey] = Counter()
    for pod in snapshot.running:
        if pod.gang is not None:
            running[pod.gang] += pod.request.gpus
    for gang in snapshot.gangs:
        running[gang.key] = gang.gpus
    return Counter(-(-total // gpus) for total in running.values() if total > 0)


def shares(snapshot: Snapshot, gpus: int) -> Mapping[int, int]:
    """Node count -> share in thousandths: configured, else of the recent gangs.

    Of the recent ones, sizes of at least two nodes, the `MIX_SIZE` that take most nodes; none
    that the fabric could not hold if it were empty.
    """
    configured = snapshot.config.spec.fragmentation.mix
    if configured is not None:
        return {entry.nodes: milli(entry.share) for entry in configured}
    sizes = gang_sizes(snapshot, gpus)
    total = sum(sizes.values())
    possible = [n for n in sizes if 2 <= n <= len(snapshot.fabric.nodes)]
    wide = sorted(possible, key=lambda n: (-n * sizes[n], n))[:MIX_SIZE]
    return {n: SCALE * sizes[n] // total for n in sorted(wide)}


def likely_gangs(snapshot: Snapshot) -> tuple[LikelyGang, ...]:
    """The shapes worth keeping room for, smallest first; none where nothing would count.

    Room for a gang also serves every smaller one, so its worth per node is the weight times the
    shares of all sizes up to its own (docs/model.md, section 6).
    """
    weight = milli(snapshot.config.spec.fragmentation.weight)
    gpus = whole_node_gpus(snapshot)
    if not weight or not gpus:
        return ()
    mix = sorted(shares(snapshot, gpus).items())
    return tuple(
        LikelyGang(nodes, gpus, value)
        for (nodes, _), share in zip(mix, accumulate(share for _, share in mix), strict=True)
        if (value := weight * nodes * gpus * share // SCALE) > 0
    )
