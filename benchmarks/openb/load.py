"""The nodes and pods of openb, and the arrivals that are drawn from them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from fourleaf.simulator.readers import openb_nodes, openb_pods
from fourleaf.simulator.readers.folder import read

FILES = (openb_nodes.FILE, openb_pods.FILE)
WHOLE = 1000
"""Thousandths of a GPU in a whole one."""


@dataclass(frozen=True, slots=True)
class Machine:
    """One node: thousandths of a core, MiB, GPUs, and their model."""

    cpu: int
    memory: int
    gpus: int
    model: str = ""


@dataclass(frozen=True, slots=True)
class Pod:
    """What a pod asks for: thousandths of a core, MiB, so many GPUs of `share` thousandths each.

    Less than a whole GPU is a share of one device. `models` are those that it accepts, all where
    none is named. Equal pods are of one kind.
    """

    cpu: int
    memory: int
    gpus: int = 0
    share: int = WHOLE
    models: frozenset[str] = frozenset()

    @property
    def demand(self) -> int:
        """Thousandths of a GPU in all."""
        return self.gpus * self.share

    @property
    def weight(self) -> int:
        """What placing it counts for: its GPUs; as much as one where it asks for none."""
        return self.demand or WHOLE


def machines() -> list[Machine]:
    """The nodes with GPUs. Raises `NoData`."""
    return [
        Machine(int(row["cpu_milli"]), int(row["memory_mib"]), int(row["gpu"]), row["model"])
        for row in read(openb_nodes.FILE, dict)
    ]


def pods() -> list[Pod]:
    """The pods of the default list. Raises `NoData`."""
    return [
        Pod(
            int(row["cpu_milli"]),
            int(row["memory_mib"]),
            int(row["num_gpu"]),
            int(row["gpu_milli"]) if int(row["num_gpu"]) else WHOLE,
            frozenset(filter(None, row["gpu_spec"].split("|"))),
        )
        for row in read(openb_pods.FILE, dict)
    ]


def arrivals(trace: Sequence[Pod], capacity: int, ratio: float, seed: int) -> list[Pod]:
    """The pods of the trace in random order, then more drawn from it with replacement.

    They end with the one with which `ratio` times `capacity` (thousandths of a GPU) is asked for.
    """
    dice = random.Random(seed)  # noqa: S311 - an order, not a secret
    order = dice.sample(list(trace), len(trace))
    out: list[Pod] = []
    asked = 0
    while asked < ratio * capacity:
        pod = order[len(out)] if len(out) < len(order) else dice.choice(trace)
        out.append(pod)
        asked += pod.demand
    return out
