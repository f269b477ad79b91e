"""Tiny seeded snapshots with gangs that stand, nodes that died, and gangs that wait."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.fabric import AdjacencyKind, Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, Role, TopologyPolicy
from fourleaf.model.node import Node
from fourleaf.model.node_constraint import ANY_NODE, NodeConstraint
from fourleaf.model.resources import Resources, fits, minus
from fourleaf.model.running_gang import EvictionLimit, RepairPolicy, StandingGang
from fourleaf.model.snapshot import RunningPod, Snapshot
from tests.oracle.moving import Ground

NOW = 10_000.0
POLICIES = (
    RepairPolicy.MOVE,
    RepairPolicy.MOVE,
    RepairPolicy.MOVE,
    RepairPolicy.PATCH,
    RepairPolicy.SHIFT,
    RepairPolicy.WAIT,
    RepairPolicy.RESTART,
)


def standing_snapshot(
    seed: int, dead: bool = True, waiting: int = 0, movable: float = 0.7
) -> Snapshot:
    """Build the snapshot of `seed`: gangs that stand; `dead` nodes; some gangs that wait."""
    dice = random.Random(seed)  # noqa: S311
    fabric = _fabric(dice)
    wild = dice.random() < 0.4
    config = _config(dice, wild)
    world = Snapshot(fabric, config=config, now=NOW)
    if dice.random() < 0.3:
        world = replace(world, running=_strangers(dice, fabric))
    free = dict(world.free)
    links: Counter[int] = Counter()
    standing: list[StandingGang] = []
    for number in range(dice.randint(2, 8)):
        one = _gang(dice, fabric, f"g{number}", wild)
        stood = _stand(dice, world, one, (free, links), movable)
        if stood is not None:
            standing.append(stood)
    gangs = tuple(_gang(dice, fabric, f"w{number}", wild) for number in range(waiting))
    world = replace(world, gangs=gangs, standing=tuple(standing))
    return _fail(dice, world) if dead else _running(world)


def limited(snapshot: Snapshot, seed: int) -> Snapshot:
    """The same with one to three eviction limits, which name pods of several gangs, or a few."""
    dice = random.Random(seed)  # noqa: S311
    by_gang = [
        [
            (one.gang.key.namespace, pod)
            for role in one.gang.roles
            for pod in (*role.pods, *(name for name, _ in role.bound))
        ]
        for one in snapshot.standing
    ]
    limits = []
    for number in range(dice.randint(1, 3) if by_gang else 0):
        some = dice.sample(by_gang, min(len(by_gang), dice.choice([1, 2, 2, 3, 8])))
        pods = [pod for members in some for pod in members]
        if dice.random() < 0.3:
            pods = dice.sample(pods, dice.randint(1, len(pods)))
        most = dice.choice([0, 1, 2, len(pods) // 2, max(0, len(pods) - 1)])
        limits.append(EvictionLimit(f"budget {number}", frozenset(pods), most))
    return replace(snapshot, eviction_limits=tuple(limits))


def _fabric(dice: random.Random) -> Fabric:
    per_node = dice.choice([1, 2, 2, 4])
    sizes = dice.choice([[2, 2, 2], [2, 2, 2, 2], [3, 3], [4, 2], [1, 2, 2, 1], [2, 3, 2], [4, 4]])
    split = dice.randint(1, len(sizes)) if dice.random() < 0.5 else len(sizes)
    leaves = []
    for i, size in enumerate(sizes):
        spine = "s0" if i < split else "s1"
        nodes = tuple(
            Node(
                f"n{i}{j}",
                f"l{i}",
                spine,
                Resources(gpus=per_node, cpu=8000, memory=1 << 34, pods=16),
                bandwidth=100,
                labels={"zone": dice.choice(["a", "a", "a", "b"])},
                cordoned=dice.random() < 0.04,
            )
            for j in range(size)
        )
        uplink = dice.choice([100, 200, 300]) if dice.random() < 0.2 else None
        leaves.append(Leaf(f"l{i}", spine, nodes, uplink))
    kind = dice.choice([AdjacencyKind.CONSECUTIVE] * 4 + [AdjacencyKind.RING])
    return Fabric(tuple(leaves), kind)


def _config(dice: random.Random, wild: bool) -> SchedulerConfig:
    mix = [{"nodes": 2, "share": "0.4"}] if dice.random() < 0.5 else []
    spec: dict[str, Any] = {
        "fragmentation": {"weight": dice.choice(["0", "0.3"]), "mix": mix},
        "topology": {"windowSlack": int(dice.random() < 0.2)},
    }
    if wild and dice.random() < 0.2:
        spec["topologyConstraints"] = {"maxNodesPerLeaf": dice.randint(1, 3)}
    return SchedulerConfig.model_validate({"spec": spec})


def _strangers(dice: random.Random, fabric: Fabric) -> tuple[RunningPod, ...]:
    pods = []
    for i, name in enumerate(sorted(fabric.nodes)):
        if dice.random() < 0.2:
            gpus = dice.randint(1, fabric.nodes[name].allocatable.gpus)
            pods.append(RunningPod("other", f"stranger{i}", name, Resources(gpus=gpus)))
    return tuple(pods)


def _gang(dice: random.Random, fabric: Fabric, name: str, wild: bool) -> Gang:
    most = max(node.allocatable.gpus for node in fabric.nodes.values())
    gpus = most if dice.random() < 0.5 else dice.randint(1, most)
    sizes = [(gpus, dice.choice([1, 1, 2, 2, 3, 4]))]
    if wild and dice.random() < 0.2:
        sizes.append((dice.randint(0, max(0, gpus - 1)), 1))
    cpu = dice.choice([1000, 3000]) if wild and dice.random() < 0.3 else 0
    picky = wild and dice.random() < 0.2
    constraint = NodeConstraint((("zone", "a"),)) if picky else ANY_NODE
    roles = tuple(
        Role(
            tuple(f"{name}-{r}-{i}" for i in range(count)),
            Resources(gpus=size, cpu=cpu),
            constraint,
        )
        for r, (size, count) in enumerate(sizes)
    )
    return Gang(
        GangKey("ml", name),
        roles,
        priority=dice.choice([0, 0, 5]),
        created=NOW,
        policy=TopologyPolicy.PREFERRED if dice.random() < 0.12 else TopologyPolicy.REQUIRED,
        bandwidth=dice.choice([50, 100]) if wild and dice.random() < 0.3 else None,
        one_per_node=wild and dice.random() < 0.2,
    )


def _stand(
    dice: random.Random,
    world: Snapshot,
    gang: Gang,
    room: tuple[dict[str, Resources], Counter[int]],
    movable: float,
) -> StandingGang | None:
    """Let all members run at a random legal place that has room."""
    free, links = room
    ground = Ground(world, 50_000)
    limits = ground.uplinks()
    seatings = ground.seatings(gang)
    dice.shuffle(seatings)
    for seats in seatings:
        asked = ground.demand(gang, seats, as_it_stands=True)
        if any((limits[i] or 10**9) < links[i] + more for i, more in asked.items()):
            continue
        left = dict(free)
        bound: list[list[tuple[str, str]]] = [[] for _ in gang.roles]
        for node, part in zip(ground.nodes, seats, strict=True):
            for r, count in enumerate(part):
                if fits(left[node.name], gang.roles[r].request) < count:
                    break
                for _ in range(count):
                    left[node.name] = minus(left[node.name], gang.roles[r].request)
                    bound[r].append((gang.roles[r].pods[len(bound[r])], node.name))
        if all(len(row) == len(role.pods) for row, role in zip(bound, gang.roles, strict=True)):
            free.update(left)
            links.update(asked)
            roles = tuple(
                replace(role, pods=(), bound=tuple(row))
                for role, row in zip(gang.roles, bound, strict=True)
            )
            return StandingGang(
                replace(gang, roles=roles),
                movable=dice.random() < movable,
                move_cost=dice.choice([1, 1, 2, 5]),
                policy=dice.choice(POLICIES),
                preemptible=dice.random() < 0.85,
                started=NOW,
            )
    return None


def _fail(dice: random.Random, world: Snapshot) -> Snapshot:
    """Take one to three nodes away, those that carry gangs rather than others."""
    busy = Counter(
        node for one in world.standing for role in one.gang.roles for _, node in role.bound
    )
    names = sorted(busy) or sorted(world.fabric.nodes)
    count = min(len(names), dice.choice([1, 1, 2, 3]))
    gone = set(dice.sample(names, count))
    return fail(world, gone)


def fail(world: Snapshot, gone: set[str]) -> Snapshot:
    """The snapshot after the nodes `gone` have died: their members are lost."""
    leaves = tuple(
        replace(
            leaf,
            nodes=tuple(
                replace(node, ready=False) if node.name in gone else node for node in leaf.nodes
            ),
        )
        for leaf in world.fabric.leaves
    )
    standing = tuple(
        replace(
            one,
            gang=replace(
                one.gang,
                roles=tuple(
                    replace(
                        role,
                        pods=(*role.pods, *(pod for pod, node in role.bound if node in gone)),
                        bound=tuple(pair for pair in role.bound if pair[1] not in gone),
                    )
                    for role in one.gang.roles
                ),
            ),
        )
        for one in world.standing
    )
    strangers = tuple(pod for pod in world.running if pod.node not in gone)
    fabric = Fabric(leaves, world.fabric.adjacency, world.fabric.edges)
    return _running(replace(world, fabric=fabric, standing=standing, running=strangers))


def _running(world: Snapshot) -> Snapshot:
    """Add the live members of the standing gangs to the running pods."""
    pods = tuple(
        RunningPod(
            one.gang.key.namespace,
            pod,
            node,
            role.request,
            one.gang.key,
            one.gang.priority,
            one.gang.bandwidth,
            ours=True,
        )
        for one in world.standing
        for role in one.gang.roles
        for pod, node in role.bound
    )
    return replace(world, running=(*world.running, *pods))
