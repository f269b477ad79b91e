"""One run: pods arrive, cycle by cycle, and whoever finds no room is refused or waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.openb.cluster import Cluster, breaches
from benchmarks.openb.fragmentation import Fragmentation
from benchmarks.openb.load import Machine, Pod
from benchmarks.openb.packing import Packing
from benchmarks.openb.policies.batches import Batches
from benchmarks.openb.policies.best_fit import BestFit
from benchmarks.openb.policies.fgd import Fgd
from benchmarks.openb.policies.phantoms import Phantoms
from benchmarks.openb.policies.protocol import OneByOne, Policy
from benchmarks.openb.policies.random_fit import RandomFit
from benchmarks.openb.prices import Prices


@dataclass(frozen=True, slots=True)
class Ground:
    """What every policy may know before the first pod arrives."""

    machines: tuple[Machine, ...]
    trace: tuple[Pod, ...]
    prices: Prices


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to. `allocated` and `at_full` are shares of all GPUs.

    `at_full`: when as many GPUs had been asked for as there are. `bare` are refused pods
    without GPUs.
    """

    policy: str
    seed: int
    arrived: int
    allocated: float
    at_full: float
    refused: int
    bare: int
    breaches: int
    unproven: int
    seconds: float


def _ours(cluster: Cluster, ground: Ground) -> Phantoms:
    return Phantoms(cluster, Packing(ground.prices.kinds, ground.prices.room))


POLICIES: dict[str, Callable[[Cluster, Ground, int], Policy]] = {
    "Random": lambda cluster, _, seed: RandomFit(cluster, seed),
    "BestFit": lambda cluster, _, __: OneByOne(cluster, BestFit(cluster)),
    "FGD": lambda cluster, on, __: OneByOne(cluster, Fgd(cluster, Fragmentation(on.trace))),
    "ours, one by one": lambda cluster, on, __: OneByOne(cluster, _ours(cluster, on)),
    "ours, in batches": lambda cluster, on, __: Batches(cluster, _ours(cluster, on)),
}
"""Makes a policy for a cluster by what is known, and a seed."""


def replay(
    name: str,
    ground: Ground,
    pods: Sequence[Pod],
    seed: int,
    cycle: int,
    queue: bool = False,
) -> tuple[Outcome, Cluster]:
    """Let `pods` arrive, `cycle` at a time; with `queue`, pods without room are asked about again.

    Nobody ever leaves, so room only becomes less, and who waits finds none later either.
    """
    cluster = Cluster(ground.machines)
    policy = POLICIES[name](cluster, ground, seed)
    began = time.perf_counter()
    asked, at_full = 0, None
    waiting: list[Pod] = []
    refused: list[Pod] = []
    for first in range(0, len(pods), cycle):
        new = pods[first : first + cycle]
        left = policy.place([*waiting, *new])
        if queue:
            waiting = left
        else:
            refused += left
        asked += sum(pod.demand for pod in new)
        if at_full is None and asked >= cluster.capacity:
            at_full = cluster.allocated
    refused += waiting
    outcome = Outcome(
        name, seed, len(pods), cluster.allocated,
        cluster.allocated if at_full is None else at_full,
        len(refused), sum(not pod.gpus for pod in refused),
        len(breaches(ground.machines, cluster.seats)),
        policy.unproven if isinstance(policy, Batches) else 0,
        time.perf_counter() - began,
    )  # fmt: skip
    return outcome, cluster
