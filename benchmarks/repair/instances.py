"""Seeded instances: a fabric nearly full of gangs that may all move, and nodes that died.

Leaves of four nodes, eight leaves a spine, eight GPUs a node; gangs of 1 to 16 whole nodes at
three move costs, packed as a scheduler would that keeps whole leaves free for whole-leaf gangs.
With `parts`, two fifths of the GPUs go to gangs of 1, 2 or 4 pods below a node instead.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from benchmarks.solve.instances import LIMIT, MIX, SHARES, SIZES, request
from fourleaf.model.config.spec import Fragmentation, SchedulerConfig, Solver, Spec
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.node import Node
from fourleaf.model.running_gang import RepairPolicy, StandingGang
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.simulator.fabric_shape import OFFER, Shape

COSTS = (1, 2, 5)
IN_LEAF = 4
TRIES = 60


@dataclass(frozen=True, slots=True)
class Outage:
    """How large a fabric is, how full it is, how many nodes die, and whether gangs share nodes."""

    nodes: int
    fill: float
    failed: int
    parts: bool = False


Seats = tuple[int, list[str]]
"""GPUs of each pod, and the pods' nodes."""

WHOLE_SHARE = 0.6


def snapshot(seed: int, outage: Outage) -> Snapshot:
    """The instance of `seed`, after the failure."""
    dice = random.Random(seed)  # noqa: S311 - an instance, not a secret
    before = _fabric(dice, outage.nodes)
    share = WHOLE_SHARE if outage.parts else 1.0
    taken = _fill(dice, before, int(outage.nodes * outage.fill * share))
    if outage.parts:
        taken += _fill_parts(dice, before, taken, int(outage.nodes * outage.fill) * 8)
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


def _fill(dice: random.Random, fabric: Fabric, left: int) -> list[Seats]:
    """Gangs of whole nodes, until `left` nodes are taken or nothing more fits."""
    free = [[node.name for node in leaf.nodes] for leaf in fabric.leaves]
    spine = [leaf.spine for leaf in fabric.leaves]
    gangs: list[Seats] = []
    misses = 0
    while left > 0 and misses < 100:
        size = dice.choices(SIZES, SHARES)[0]
        where = _window(dice, free, spine, size) if size <= left else None
        if where is None:
            misses += 1
            continue
        each = min(size, IN_LEAF)
        gangs.append((8, [free[leaf].pop() for leaf in where for _ in range(each)]))
        left -= size
    return gangs


def _fill_parts(dice: random.Random, fabric: Fabric, taken: list[Seats], most: int) -> list[Seats]:
    """Gangs below a node, each in one leaf, until `most` GPUs are taken in all."""
    whole = {node for _, nodes in taken for node in nodes}
    free = {
        node.name: 0 if node.name in whole else 8 for leaf in fabric.leaves for node in leaf.nodes
    }
    left = most - 8 * len(whole)
    gangs: list[Seats] = []
    misses = 0
    while left > 0 and misses < 5000:
        gpus, pods = dice.choice((1, 1, 2, 4)), dice.choice((1, 1, 1, 2, 4))
        room = {node.name: free[node.name] for node in dice.choice(fabric.leaves).nodes}
        nodes = []
        for _ in range(pods):
            fits = [name for name in room if room[name] >= gpus]
            if fits:
                nodes.append(min(fits, key=lambda name: (room[name], name)))
                room[nodes[-1]] -= gpus
        if len(nodes) < pods:
            misses += 1
            continue
        free.update(room)
        gangs.append((gpus, nodes))
        left -= gpus * pods
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


def _after(before: Fabric, taken: list[Seats], dead: set[str], dice: random.Random) -> Snapshot:
    leaves = tuple(
        replace(leaf, nodes=tuple(replace(n, ready=n.name not in dead) for n in leaf.nodes))
        for leaf in before.leaves
    )
    standing: list[StandingGang] = []
    running: list[RunningPod] = []
    for number, (gpus, nodes) in enumerate(taken):
        key = GangKey("ml", f"g{number:04d}")
        seats = [(f"{key.name}-{i}", node) for i, node in enumerate(sorted(nodes))]
        bound = tuple(seat for seat in seats if seat[1] not in dead)
        lost = tuple(pod for pod, node in seats if node in dead)
        gang = Gang(key, (Role(lost, request(gpus), bound=bound),))
        cost = dice.choice(COSTS)
        standing.append(StandingGang(gang, True, cost, RepairPolicy.MOVE))
        running += [RunningPod("ml", pod, node, request(gpus), key) for pod, node in bound]
    spec = Spec(fragmentation=Fragmentation(mix=MIX), solver=Solver(time_limit_seconds=LIMIT))
    config = SchedulerConfig(spec=spec)
    return Snapshot(Fabric(leaves), tuple(running), config=config, standing=tuple(standing))
