"""BestFit: the node with least left of CPU and GPUs, each against the most that a node has."""

from __future__ import annotations

import numpy as np

from benchmarks.openb.cluster import Cluster
from benchmarks.openb.load import Pod
from benchmarks.openb.policies.protocol import NO_ROOM, Ints

FINE = 1_000_000
"""Parts of the whole in which costs are counted."""


def tightest(pod: Pod, gpu: Ints) -> Ints:
    """On each room of `gpu` [room, device] the device with least left that suffices."""
    if not pod.gpus:
        return np.full(len(gpu), -1)
    return np.asarray(np.argmin(np.where(gpu >= pod.share, gpu, NO_ROOM), axis=1))


class BestFit:
    """Costs of what is left over."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._most = max(cluster.cpu), max(cluster.gpu.sum(axis=1))

    def of(self, pod: Pod, nodes: Ints) -> tuple[Ints, Ints]:
        """Half the sum of both shares; the device with least left that suffices."""
        gpu = self._cluster.gpu[nodes]
        cpu_left = FINE * (self._cluster.cpu[nodes] - pod.cpu) // self._most[0]
        gpu_left = FINE * (gpu.sum(axis=1) - pod.demand) // self._most[1]
        return (cpu_left + gpu_left) // 2, tightest(pod, gpu)
