"""FGD: fragmentation gradient descent (Weng et al., ATC 2023, section 4).

Each pod goes where it adds least to the expected fragments. As in the published simulator,
1 / (1 + exp(-decrease)) with the decrease in GPUs counts in whole points of 100, and ties go
to the first node and device; with finer points it is a whole percent worse.
"""

from __future__ import annotations

import numpy as np

from benchmarks.openb.cluster import DEVICES, Cluster
from benchmarks.openb.fragmentation import Fragmentation
from benchmarks.openb.load import WHOLE, Pod
from benchmarks.openb.policies.protocol import NO_ROOM, Ints

POINTS = 100


class Fgd:
    """Costs by the gradient of `measure`."""

    def __init__(self, cluster: Cluster, measure: Fragmentation) -> None:
        self._cluster = cluster
        self._measure = measure

    def of(self, pod: Pod, nodes: Ints) -> tuple[Ints, Ints]:
        """Points lost, and the device that loses fewest."""
        best = np.full(len(nodes), NO_ROOM)
        devices = np.full(len(nodes), -1)
        cpu, gpu = self._cluster.cpu[nodes], self._cluster.gpu[nodes]
        before = self._measure.of(cpu, gpu)
        for device in range(DEVICES) if pod.gpus else (-1,):
            after = gpu.copy()
            rows = np.arange(len(nodes))
            if pod.gpus and pod.share < WHOLE:
                rows = np.flatnonzero(gpu[:, device] >= pod.share)
                after[rows, device] -= pod.share
            elif pod.gpus:
                rows = np.flatnonzero(np.argmax(gpu >= WHOLE, axis=1) == device)
                order = np.cumsum(gpu >= WHOLE, axis=1)
                after[(gpu >= WHOLE) & (order <= pod.gpus)] = 0
            if not len(rows):
                continue
            change = self._measure.of(cpu[rows] - pod.cpu, after[rows]) - before[rows]
            points = -np.floor(POINTS / (1 + np.exp(change / WHOLE))).astype(int)
            better = points < best[rows]
            best[rows[better]] = points[better]
            devices[rows[better]] = device
        return best, devices
