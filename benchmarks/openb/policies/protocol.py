"""What a policy is asked, and what nodes cost it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.openb.cluster import Cluster
from benchmarks.openb.load import Pod

Ints = NDArray[np.int_]
NO_ROOM = 1 << 40
"""The cost of a node without room."""


class Policy(Protocol):
    """Seats pods on one cluster."""

    def place(self, pods: Sequence[Pod]) -> list[Pod]:
        """Seat all that have room, as the policy likes; returns those left over."""
        ...


class Costs(Protocol):
    """What a seat costs, the less the better."""

    def of(self, pod: Pod, nodes: Ints) -> tuple[Ints, Ints]:
        """Cost of, and best device on, each of `nodes`, which all have room; -1 for no device."""
        ...


class Kept:
    """Costs by kind of pod, worked out anew for nodes that have changed since."""

    def __init__(self, cluster: Cluster, costs: Costs) -> None:
        self._cluster = cluster
        self._costs = costs
        self._known: dict[Pod, tuple[Ints, Ints, Ints]] = {}

    def of(self, pod: Pod) -> tuple[Ints, Ints]:
        """Cost of, and best device on, every node; `NO_ROOM` where it has no room."""
        count = len(self._cluster.machines)
        if pod not in self._known:
            self._known[pod] = (np.full(count, -1), np.zeros(count, int), np.zeros(count, int))
        seen, costs, devices = self._known[pod]
        stale = np.flatnonzero(seen != self._cluster.changes)
        if len(stale):
            seen[stale] = self._cluster.changes[stale]
            costs[stale] = NO_ROOM
            open_ = stale[self._cluster.fits(pod)[stale]]
            if len(open_):
                costs[open_], devices[open_] = self._costs.of(pod, open_)
        return costs, devices


class OneByOne:
    """Each pod, as it comes, at the place that costs least; ties to the first node."""

    def __init__(self, cluster: Cluster, costs: Costs) -> None:
        self._cluster = cluster
        self._kept = Kept(cluster, costs)

    def place(self, pods: Sequence[Pod]) -> list[Pod]:
        """Seat pod after pod."""
        left = []
        for pod in pods:
            costs, devices = self._kept.of(pod)
            node = int(np.argmin(costs))
            if costs[node] == NO_ROOM:
                left.append(pod)
            else:
                self._cluster.put(pod, node, int(devices[node]))
        return left
