"""Nearly full clusters, after Christensen, Giallorenzo and Mauro (arXiv 2511.08373, 2025).

All that waits asks for 90 to 105 % of the cluster, in one to four priorities. *Pods* are
theirs: four to eight a node, without GPUs, random CPU and memory. *Gangs* are the same pressure
on GPUs, whole nodes under the leaf rule; of the gangs in *parts* half are below a node.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from model.config import Batch, SchedulerConfig, Solver, Spec
from model.gang import Gang, GangKey, Role
from model.resources import Resources
from model.snapshot import Snapshot
from simulator.shape import OFFER, Shape

NODES_OF_A_GANG, SHARES = (1, 2, 4, 8, 16), (0.30, 0.25, 0.20, 0.15, 0.10)
GPUS_OF_A_PART = (1, 2, 4)
"""GPUs of the pods of gangs below a node."""
USAGE = (0.90, 1.05)
"""What is asked for, as a share of the cluster."""


def gangs(nodes: int, dice: random.Random, parts: float = 0.0) -> list[tuple[int, Resources]]:
    """Pods and request of each gang, until the usage is reached; `parts` of them below a node."""
    left = dice.uniform(*USAGE) * nodes * OFFER.gpus
    out = []
    while left > 0:
        pods = min(nodes, dice.choices(NODES_OF_A_GANG, SHARES)[0])
        gpus = OFFER.gpus
        if dice.random() < parts:
            pods, gpus = dice.randint(1, 4), dice.choice(GPUS_OF_A_PART)
        share = gpus / OFFER.gpus
        out.append((pods, _part(share, share, gpus)))
        left -= pods * gpus
    return out


def pods(nodes: int, dice: random.Random) -> list[tuple[int, Resources]]:
    """Single pods, drawn evenly and scaled so that CPU and memory reach the usage."""
    count = nodes * dice.randint(4, 8)
    drawn = [(dice.uniform(0.1, 1), dice.uniform(0.1, 1)) for _ in range(count)]
    usage = dice.uniform(*USAGE) * nodes
    cpu, memory = (usage / sum(column) for column in zip(*drawn, strict=True))
    return [(1, _part(min(1, c * cpu), min(1, m * memory))) for c, m in drawn]


WORKLOADS: dict[str, Callable[[int, random.Random], list[tuple[int, Resources]]]] = {
    "gangs": gangs,
    "parts": partial(gangs, parts=0.5),
    "pods": pods,
}


def snapshot(workload: str, nodes: int, seed: int) -> Snapshot:
    """The cluster of `seed`, with nobody on it yet."""
    dice = random.Random(f"{workload} {nodes} {seed}")  # noqa: S311 - an instance, not a secret
    tiers = dice.randint(1, 4)
    waiting = []
    for number, (count, request) in enumerate(WORKLOADS[workload](nodes, dice)):
        name = f"{workload}-{number:05d}"
        role = Role(tuple(f"{name}-{rank}" for rank in range(count)), request)
        waiting.append(
            Gang(
                GangKey("ml", name),
                (role,),
                priority=dice.randrange(tiers),
                # In the order of arrival, all within one step of age.
                created=number / 1e6 - 1,
            )
        )
    spec = Spec(batch=Batch(size=len(waiting)))
    return Snapshot(
        Shape.regular(nodes).fabric(), gangs=tuple(waiting), config=SchedulerConfig(spec=spec)
    )


def limited(snapshot: Snapshot, seconds: float) -> SchedulerConfig:
    """The config of `snapshot` with another time limit."""
    solver = Solver(time_limit_seconds=seconds)
    return snapshot.config.model_copy(
        update={"spec": snapshot.config.spec.model_copy(update={"solver": solver})}
    )


def _part(cpu: float, memory: float, gpus: int = 0) -> Resources:
    """Shares of what a node offers."""
    return Resources(gpus=gpus, cpu=int(cpu * OFFER.cpu), memory=int(memory * OFFER.memory), pods=1)
