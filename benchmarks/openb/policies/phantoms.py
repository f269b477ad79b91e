"""Ours: what a seat costs in phantoms, the pods of the recent mix that would still fit."""

from __future__ import annotations

import numpy as np

from benchmarks.openb.cluster import Cluster
from benchmarks.openb.load import WHOLE, Pod
from benchmarks.openb.packing import Packing
from benchmarks.openb.policies.protocol import Ints

COARSE = 10
"""Thousandths of a GPU that make a difference; below that, the fuller node is better."""


class Phantoms:
    """Costs by the value of the best packing of phantoms, before less after."""

    def __init__(self, cluster: Cluster, packing: Packing) -> None:
        self._cluster = cluster
        self._packing = packing

    def of(self, pod: Pod, nodes: Ints) -> tuple[Ints, Ints]:
        """What is lost, then what is free; the device that loses least."""
        found = [self._on(pod, int(node)) for node in nodes]
        return np.array([cost for cost, _ in found]), np.array([device for _, device in found])

    def _on(self, pod: Pod, node: int) -> tuple[int, int]:
        cpu, gpu = int(self._cluster.cpu[node]), self._cluster.gpu[node].tolist()
        after, device = max(
            (self._packing.value(cpu - pod.cpu, rest), -device)
            for device, rest in _choices(pod, gpu)
        )
        lost = self._packing.value(cpu, gpu) - after
        free = sum(gpu) // COARSE
        return int(lost // COARSE) * WHOLE + free, -device


def _choices(pod: Pod, gpu: list[int]) -> list[tuple[int, list[int]]]:
    """Devices that differ in what is left, and what is left of all with the pod there."""
    if not pod.gpus:
        return [(-1, gpu)]
    open_ = [d for d, free in enumerate(gpu) if free >= pod.share]
    if pod.share == WHOLE:
        taken = set(open_[: pod.gpus])
        return [(open_[0], [0 if d in taken else free for d, free in enumerate(gpu)])]
    first = {gpu[d]: d for d in reversed(open_)}
    return [
        (d, [free - pod.share * (e == d) for e, free in enumerate(gpu)]) for d in first.values()
    ]
