"""Seeded instances: a fabric nearly full of gangs that may all move, and nodes that died.

Leaves of four nodes, eight leaves a spine, eight GPUs a node; gangs of 1 to 16 whole nodes at
three move costs, packed as a scheduler would that keeps whole leaves free for whole-leaf gangs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from benchmarks.solve.instances import LIMIT, MIX, OFFER, SHARES, SIZES, Shape, request
from model.config import Fragmentation, SchedulerConfig, Solver, Spec
from model.fabric import Fabric, Leaf
from model.gang import Gang, GangKey, Role
from model.node import Node
from model.snapshot import RunningPod, Snapshot
from model.standing import RepairPolicy, StandingGang

COSTS = (1, 2, 5)
IN_LEAF = 4
TRIES = 60


@dataclass(frozen=True, slots=True)
class Outage:
    """How large a fabric is, how full it is, and how many nodes die."""

    nodes: int
    fill: float
    failed: int


def snapshot(seed: int, outage: Outage) -> Snapshot:
    """The instance of `seed`, after the failure."""
    dice = random.Random(seed)  # noqa: S311 - an instance, not a secret
    before = _fabric(dice, outage.nodes)
    taken = _fill(dice, before, int(outage.nodes * outage.fill))
    names = [node.name for leaf in before.leaves for node in leaf.nodes]
    return _after(before, taken, set(dice.sample(names, outage.failed)), dice)


def _fabric(dice: random.Random, nodes: int) -> Fabric:
    leaves: list[Leaf] = []
    for s, sizes in enumerate(Shape.regular(nodes).spines):
        for size in sizes:
            name, rate = f"leaf-{len(leaves)}", dice.randint(0, 1000)
            hosts = tuple(
                Node(f"{name}-{i}", name, f"spine-{s}", OFFER, failure_permille=rate)
                for i in range(size)
            )
            leaves.append(Leaf(name, f"spine-{s}", hosts))
    return Fabric(tuple(leaves))


def _fill(dice: random.Random, fabric: Fabric, left: int) -> list[list[str]]:
    """The nodes of each gang, until `left` nodes are taken or nothing more fits."""
    free = [[node.name for node in leaf.nodes] for leaf in fabric.leaves]
    spine = [leaf.spine for leaf in fabric.leaves]
    gangs: list[list[str]] = []
    misses = 0
    while left > 0 and misses < 100:
        size = dice.choices(SIZES, SHARES)[0]
        where = _window(dice, free, spine, size) if size <= left else None
        if where is None:
            misses += 1
            continue
        each = min(size, IN_LEAF)
        gangs.append([free[leaf].pop() for leaf in where for _ in range(each)])
        left -= size
    return gangs


def _window(
    dice: random.Random, free: list[list[str]], spine: list[str], size: int
) -> range | None:
    if size < IN_LEAF:
        fits = [i for i in dice.sample(range(len(free)), TRIES + 20) if len(free[i]) >= size]
        if not fits:
            return None
        leaf = min(fits, key=lambda i: len(free[i])) if dice.random() < 0.7 else fits[0]
        return range(leaf, leaf + 1)
    length = size // IN_LEAF
    for first in dice.sample(range(len(free) - length + 1), TRIES):
        window = range(first, first + length)
        if spine[first] == spine[window[-1]] and all(len(free[i]) == IN_LEAF for i in window):
            return window
    return None


def _after(before: Fabric, taken: list[list[str]], dead: set[str], dice: random.Random) -> Snapshot:
    leaves = tuple(
        replace(leaf, nodes=tuple(replace(n, ready=n.name not in dead) for n in leaf.nodes))
        for leaf in before.leaves
    )
    standing: list[StandingGang] = []
    running: list[RunningPod] = []
    for number, nodes in enumerate(taken):
        key = GangKey("ml", f"g{number:04d}")
        seats = [(f"{key.name}-{i}", node) for i, node in enumerate(sorted(nodes))]
        bound = tuple(seat for seat in seats if seat[1] not in dead)
        lost = tuple(pod for pod, node in seats if node in dead)
        gang = Gang(key, (Role(lost, request(8), bound=bound),))
        cost = dice.choice(COSTS)
        standing.append(StandingGang(gang, True, cost, RepairPolicy.MOVE))
        running += [RunningPod("ml", pod, node, request(8), key) for pod, node in bound]
    spec = Spec(fragmentation=Fragmentation(mix=MIX), solver=Solver(time_limit_seconds=LIMIT))
    config = SchedulerConfig(spec=spec)
    return Snapshot(Fabric(leaves), tuple(running), config=config, standing=tuple(standing))
