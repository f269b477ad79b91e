"""Random: any node with room, each as likely as the next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.openb.cluster import Cluster
from benchmarks.openb.load import Pod
from benchmarks.openb.policies.best_fit import tightest


class RandomFit:
    """Throws dice by `seed`. On the node, the device with least left that suffices."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self._cluster = cluster
        self._dice = np.random.default_rng(seed)

    def place(self, pods: Sequence[Pod]) -> list[Pod]:
        """Seat pod after pod."""
        left = []
        for pod in pods:
            nodes = np.flatnonzero(self._cluster.fits(pod))
            if not len(nodes):
                left.append(pod)
                continue
            node = self._dice.choice(nodes)
            device = tightest(pod, self._cluster.gpu[[node]])[0]
            self._cluster.put(pod, int(node), int(device))
        return left
