"""Builders for hand-made snapshots and plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.extensions import Extensions
from fourleaf.model.fabric import AdjacencyKind, Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.node import Node
from fourleaf.model.plan import Phantom, Placement, Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.model.topology import ONLY_LEAF, ONLY_SPINE
from fourleaf.model.validator import score

Case = tuple[Snapshot, Plan]
GIB = 2**30
NOW = 10_000.0
NOTHING = Extensions()
WHOLE = Resources(gpus=8, cpu=10_000, memory=10 * GIB, pods=10)


def node(name: str, leaf: str, spine: str = "s0", **fields: Any) -> Node:
    """Make a node of 8 GPUs, 10 cores, 10 GiB and 10 pod slots, with 100 Mbit/s."""
    return Node(name, leaf, spine, **{"allocatable": WHOLE, "bandwidth": 100, **fields})


def fabric(
    spines: Sequence[Sequence[int]],
    kind: AdjacencyKind = AdjacencyKind.CONSECUTIVE,
    edges: Sequence[tuple[str, str]] = (),
    uplink: int | None = None,
) -> Fabric:
    """Make leaves `a`, `b`, ... of so many nodes (`a0`, `a1`, ...) under spines `s0`, `s1`, ..."""
    names = iter("abcdefghijklmnopqrstuvwxyz")
    leaves = []
    for number, sizes in enumerate(spines):
        for size in sizes:
            name, spine = next(names), f"s{number}"
            nodes = tuple(node(f"{name}{i}", name, spine) for i in range(size))
            leaves.append(Leaf(name, spine, nodes, uplink))
    return Fabric(tuple(leaves), kind, frozenset(edges))


def gang(
    name: str, *sizes: int, gpus: int = 8, request: Resources | None = None, **fields: Any
) -> Gang:
    """Make a gang with one role of so many pods for each of `sizes`, created now."""
    roles = tuple(
        Role(tuple(f"{name}-{r}-{i}" for i in range(size)), request or Resources(gpus=gpus))
        for r, size in enumerate(sizes)
    )
    return Gang(GangKey("ml", name), **{"roles": roles, "created": NOW, **fields})


def flat_fabric(size: int) -> Fabric:
    """Make a fabric of `size` nodes of which none names a leaf."""
    nodes = tuple(node(f"n{i}", ONLY_LEAF, ONLY_SPINE) for i in range(size))
    names = frozenset(one.name for one in nodes)
    return Fabric((Leaf(ONLY_LEAF, ONLY_SPINE, nodes),), unlabelled=names)


def one_leaf(*nodes: Node) -> Fabric:
    """Make a fabric of the leaf `a` alone."""
    return Fabric((Leaf("a", "s0", nodes),))


def with_bound(one: Gang, *nodes: str) -> tuple[Gang, list[RunningPod]]:
    """Let the first members of a gang of one role run on `nodes` already."""
    role = one.roles[0]
    bound = tuple(zip(role.pods, nodes, strict=False))
    kept = replace(role, pods=role.pods[len(nodes) :], bound=bound)
    running = [
        RunningPod("ml", pod, where, role.request, one.key, bandwidth=one.bandwidth)
        for pod, where in bound
    ]
    return replace(one, roles=(kept,)), running


def config(**spec: Any) -> SchedulerConfig:
    """Make a config from the fields of its spec; without phantoms unless asked for."""
    return SchedulerConfig.model_validate({"spec": {"fragmentation": {"weight": 0}, **spec}})


def snapshot(where: Fabric, *gangs: Gang, running: Any = (), **spec: Any) -> Snapshot:
    """Make a snapshot of these gangs on this fabric."""
    return Snapshot(where, tuple(running), gangs, config(**spec), NOW)


def seats(one: Gang, nodes: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Pair the unbound members with `nodes`, in rank order."""
    pods = [pod for role in one.roles for pod in role.pods]
    return tuple(zip(pods, nodes, strict=True))


def plan(
    world: Snapshot,
    placed: Mapping[str, Sequence[str]],
    phantoms: Sequence[Phantom] = (),
    extensions: Extensions = NOTHING,
) -> Plan:
    """Make a plan that puts gangs on nodes as told, with true numbers, and lets the rest wait."""
    placements = []
    for one in world.gangs:
        if one.key.name in placed:
            pods = seats(one, placed[one.key.name])
            terms = score(world, one, pods, extensions)
            placements.append(Placement(one.key, pods, tuple(sorted(terms.items()))))
    waiting = tuple(
        Waiting(one.key, Reason(ReasonKind.NO_FREE_CAPACITY))
        for one in world.gangs
        if one.key.name not in placed
    )
    worth = sum(p.score for p in placements) + sum(p.value for p in phantoms)
    return Plan(PlanStatus.OPTIMAL, tuple(placements), waiting, tuple(phantoms), objective=worth)
