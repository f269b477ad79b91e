"""What is left on every node, with devices that pods share. Nobody leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.openb.load import WHOLE, Machine, Pod

DEVICES = 8
"""The most devices of a node."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A pod on a node. `device` is the one that it shares or takes first, -1 without GPUs."""

    pod: Pod
    node: int
    device: int


class Cluster:
    """Free thousandths of cores `cpu` and MiB `memory` by node, of each GPU `gpu` [node, device].

    `changes` counts the pods that each node has taken, so that what was worked out for it can
    be kept until then.
    """

    def __init__(self, machines: Sequence[Machine]) -> None:
        self.machines = tuple(machines)
        self.cpu = np.array([one.cpu for one in machines])
        self.memory = np.array([one.memory for one in machines])
        self.gpu = np.zeros((len(machines), DEVICES), dtype=int)
        for n, one in enumerate(machines):
            self.gpu[n, : one.gpus] = WHOLE
        self.capacity = int(self.gpu.sum())
        self.changes = np.zeros(len(machines), dtype=int)
        self.seats: list[Seat] = []

    @property
    def allocated(self) -> float:
        """The share of all GPUs that pods hold."""
        return 1 - int(self.gpu.sum()) / self.capacity

    def fits(self, pod: Pod) -> NDArray[np.bool_]:
        """Which nodes have room for `pod`."""
        room = (self.cpu >= pod.cpu) & (self.memory >= pod.memory)
        if pod.gpus:
            room &= (self.gpu >= pod.share).sum(axis=1) >= pod.gpus
        if pod.models:
            room &= np.array([one.model in pod.models for one in self.machines])
        return room

    def put(self, pod: Pod, node: int, device: int) -> None:
        """Seat `pod`. Whole GPUs beyond the first are the first free ones after `device`.

        Raises `ValueError` where it has no room there.
        """
        taken = self.devices_for(pod, node, device)
        if self.cpu[node] < pod.cpu or self.memory[node] < pod.memory or len(taken) < pod.gpus:
            raise ValueError(f"node {node} has no room for {pod} on device {device}")
        self.cpu[node] -= pod.cpu
        self.memory[node] -= pod.memory
        self.gpu[node, taken] -= pod.share
        self.changes[node] += 1
        self.seats.append(Seat(pod, node, device))

    def devices_for(self, pod: Pod, node: int, device: int) -> list[int]:
        """The devices that `pod` would take, fewer than it asks for where there are no more."""
        free = [d for d in range(max(device, 0), DEVICES) if self.gpu[node, d] >= pod.share]
        return free[: pod.gpus] if not pod.gpus or free[:1] == [device] else []


def breaches(machines: Sequence[Machine], seats: Sequence[Seat]) -> list[str]:
    """What of the seats is impossible, counted anew from nothing but nodes and seats.

    Devices of several GPUs are not written down, so that all that is checked of whole GPUs is
    that as many stay untouched as are held whole.
    """
    found = []
    for n, one in enumerate(machines):
        here = [seat for seat in seats if seat.node == n]
        shared: dict[int, int] = {}
        for seat in here:
            if seat.pod.gpus and seat.pod.share < WHOLE:
                shared[seat.device] = shared.get(seat.device, 0) + seat.pod.share
        whole = sum(s.pod.gpus for s in here if s.pod.share == WHOLE)
        checks = {
            "CPU": sum(s.pod.cpu for s in here) <= one.cpu,
            "memory": sum(s.pod.memory for s in here) <= one.memory,
            "devices": whole + len(shared) <= one.gpus,
            "a device": all(0 <= d < one.gpus and held <= WHOLE for d, held in shared.items()),
            "model": all(not s.pod.models or one.model in s.pod.models for s in here),
        }
        found += [f"node {n}: {name}" for name, holds in checks.items() if not holds]
    return found
