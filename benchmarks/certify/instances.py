"""Nearly full clusters, after Christensen, Giallorenzo and Mauro (arXiv 2511.08373, 2025).

All that waits asks for 90 to 105 % of an empty cluster, in one to four priorities. *Pods* are
theirs: four to eight a node, without GPUs, random CPU and memory. *Singles* are the same pressure
on GPUs: pods of 1 to 8. *Gangs* are training jobs under the leaf rule: half are of whole nodes,
half of up to four pods below a node.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from fourleaf.model.config.spec import Batch, SchedulerConfig, Solver, Spec
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.fabric_shape import OFFER, Shape

NODES_OF_A_GANG = (1, 2, 3, 4, 6, 8, 12, 16)
GPUS_OF_A_PART = (1, 2, 3, 4, 6)
"""GPUs of the pods of gangs below a node, of which not all divide each other."""
USAGE = (0.90, 1.05)
"""What is asked for, as a share of the cluster."""
Wanted = tuple[int, Resources]
"""Pods of a gang, and what each asks for."""


def gangs(nodes: int, dice: random.Random) -> list[Wanted]:
    """Until the usage is reached, whole nodes and parts of nodes by turns of a coin."""
    left = dice.uniform(*USAGE) * nodes * OFFER.gpus
    out = []
    while left > 0:
        pods, gpus = dice.choice(NODES_OF_A_GANG), OFFER.gpus
        if dice.random() < 0.5:
            pods, gpus = dice.randint(1, 4), dice.choice(GPUS_OF_A_PART)
        out.append((pods, _gpus(gpus)))
        left -= pods * gpus
    return out


def singles(nodes: int, dice: random.Random) -> list[Wanted]:
    """Single pods of 1 to 8 GPUs until the usage is reached."""
    left = dice.uniform(*USAGE) * nodes * OFFER.gpus
    out = []
    while left > 0:
        gpus = dice.randint(1, OFFER.gpus)
        out.append((1, _gpus(gpus)))
        left -= gpus
    return out


def pods(nodes: int, dice: random.Random) -> list[Wanted]:
    """Single pods, drawn evenly and scaled so that CPU and memory reach the usage."""
    count = nodes * dice.randint(4, 8)
    drawn = [(dice.uniform(0.1, 1), dice.uniform(0.1, 1)) for _ in range(count)]
    usage = dice.uniform(*USAGE) * nodes
    cpu, memory = (usage / sum(column) for column in zip(*drawn, strict=True))
    return [(1, _part(min(1, c * cpu), min(1, m * memory))) for c, m in drawn]


WORKLOADS: dict[str, Callable[[int, random.Random], list[Wanted]]] = {
    "gangs": gangs,
    "singles": singles,
    "pods": pods,
}


def snapshot(workload: str, nodes: int, seed: int) -> Snapshot:
    """The cluster of `seed`."""
    dice = random.Random(f"{workload} {nodes} {seed}")  # noqa: S311 - an instance, not a secret
    tiers = dice.randint(1, 4)
    fabric = Shape.regular(nodes).fabric()
    wanted = WORKLOADS[workload](nodes, dice)
    waiting = []
    for number, (count, request) in enumerate(wanted):
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
    return Snapshot(fabric, gangs=tuple(waiting), config=SchedulerConfig(spec=spec))


def limited(snapshot: Snapshot, seconds: float) -> SchedulerConfig:
    """The config of `snapshot` with another time limit."""
    solver = Solver(time_limit_seconds=seconds)
    return snapshot.config.model_copy(
        update={"spec": snapshot.config.spec.model_copy(update={"solver": solver})}
    )


def _part(cpu: float, memory: float, gpus: int = 0) -> Resources:
    """Shares of what a node offers."""
    return Resources(
        gpus=gpus, cpu=int(cpu * (OFFER.cpu or 0)), memory=int(memory * (OFFER.memory or 0)), pods=1
    )


def _gpus(count: int) -> Resources:
    """A part of a node, with as much of its CPU and memory."""
    return _part(count / OFFER.gpus, count / OFFER.gpus, count)
