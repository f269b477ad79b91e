"""Tiny snapshots that touch every rule of `docs/model.md`, seeded or by Hypothesis."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeVar

from hypothesis import strategies as st

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.fabric import AdjacencyKind, Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, Hold, Role, Strategy, TopologyPolicy
from fourleaf.model.node import Node, Taint
from fourleaf.model.node_constraint import (
    NodeConstraint,
    Operator,
    Preference,
    Requirement,
    Toleration,
)
from fourleaf.model.resources import Resources, fits
from fourleaf.model.snapshot import RunningPod, Snapshot

MOST_NODES = 8
NOW = 10_000.0
GIB = 2**30
NAMESPACES = ("ml", "hpc")

T = TypeVar("T")


class Dice:
    """Rolls for one snapshot. `wild` scales how often what restricts placements turns up."""

    def __init__(self, source: random.Random) -> None:
        self._source = source
        self.wild = source.choice([0.15, 0.4, 1.0])

    def randint(self, least: int, most: int) -> int:
        """Roll a whole number, both ends included."""
        return self._source.randint(least, most)

    def choice(self, options: Sequence[T]) -> T:
        """Pick one of `options`."""
        return self._source.choice(options)

    def maybe(self, chance: float) -> bool:
        """Say yes with this chance."""
        return self._source.random() < chance

    def rarely(self, chance: float) -> bool:
        """Say yes with this chance, scaled by `wild`."""
        return self._source.random() < chance * self.wild


def random_snapshot(seed: int) -> Snapshot:
    """Build the snapshot of `seed`; the same seed gives the same snapshot."""
    return build(Dice(random.Random(seed)))  # noqa: S311


def with_few_window_nodes(snapshot: Snapshot, seed: int) -> Snapshot:
    """The same for three seeds in four; else gangs of few nodes may use any leaves of a spine."""
    if seed % 4 != 1:
        return snapshot
    config = snapshot.config
    few = {"window_nodes": (0, 1, 2, 3)[seed // 4 % 4]}
    constraints = config.spec.topology_constraints.model_copy(update=few)
    spec = config.spec.model_copy(update={"topology_constraints": constraints})
    return replace(snapshot, config=config.model_copy(update={"spec": spec}))


def snapshots() -> st.SearchStrategy[Snapshot]:
    """Snapshots of the same family for Hypothesis."""
    return st.randoms(use_true_random=False).map(lambda source: build(Dice(source)))


def build(dice: Dice) -> Snapshot:
    """Roll one snapshot."""
    fabric = _fabric(dice)
    config = _config(dice, fabric)
    gangs = tuple(_gang(dice, fabric, i) for i in range(dice.choice([1, 2, 3, 3, 4, 4])))
    snapshot = Snapshot(fabric=fabric, gangs=gangs, config=config, now=NOW)
    snapshot = _populate(dice, snapshot)
    # Rolled last, so that all else of a seed is as it is without.
    return replace(
        snapshot, gangs=tuple(_with_preferences(dice, fabric, g) for g in snapshot.gangs)
    )


def _fabric(dice: Dice) -> Fabric:
    total = dice.choice([2, 4, 5, 6, 7, 8, 8, 8])
    sizes: list[int] = []
    uniform = dice.choice([0, 0, 1, 2, 2, 3])
    while sum(sizes) < total:
        sizes.append(min(uniform or dice.randint(1, 6), total - sum(sizes)))
    first = dice.randint(1, len(sizes)) if dice.maybe(0.5) else len(sizes)
    third = dice.randint(first, len(sizes)) if dice.maybe(0.2) else len(sizes)
    per_node = dice.choice([1, 2, 2, 4, 4, 8])
    plain = dice.maybe(0.4)
    leaves = []
    for i, size in enumerate(sizes):
        spine = "s0" if i < first else "s1" if i < third else "s2"
        nodes = tuple(_node(dice, f"n{i}{j}", f"l{i}", spine, per_node, plain) for j in range(size))
        uplink = dice.choice([100, 200, 300, 400]) if dice.maybe(0.4) else None
        leaves.append(Leaf(f"l{i}", spine, nodes, uplink))
    kind = dice.choice([*AdjacencyKind, AdjacencyKind.CONSECUTIVE])
    edges: frozenset[tuple[str, str]] = frozenset()
    if kind is AdjacencyKind.EXPLICIT:
        edges = frozenset(
            (a.name, b.name)
            for n, a in enumerate(leaves)
            for b in leaves[n + 1 :]
            if dice.maybe(0.5)
        )
    return Fabric(tuple(leaves), kind, edges)


def _node(dice: Dice, name: str, leaf: str, spine: str, gpus: int, plain: bool) -> Node:
    base = Resources(gpus=gpus, cpu=8000, memory=16 * GIB, pods=16)
    node = Node(name, leaf, spine, base, bandwidth=100, labels={"zone": "a"})
    if plain:
        return node
    if dice.rarely(0.2):
        base = replace(base, gpus=dice.choice([0, 1, 2, 4, gpus]))
    if dice.rarely(0.2):
        base = replace(base, cpu=dice.choice([2000, 3000, None]))
    if dice.rarely(0.1):
        base = replace(base, memory=dice.choice([2 * GIB, 5 * GIB, None]))
    if dice.rarely(0.1):
        base = replace(base, pods=dice.choice([1, 2, 3]))
    if dice.rarely(0.3):
        base = replace(base, extra=(("rdma/hca", dice.choice([1, 2])),))
    effect = dice.choice(["NoSchedule", "NoExecute", "PreferNoSchedule"])
    taint = Taint("team", dice.choice(["x", "y"]), effect)
    return replace(
        node,
        allocatable=base,
        bandwidth=dice.choice([None, 50, 100, 100]),
        failure_permille=dice.choice([0, 0, 0, 137, 500]),
        labels={"zone": dice.choice(["a", "a", "b"])},
        taints=(taint,) if dice.rarely(0.15) else (),
        ready=not dice.rarely(0.07),
        cordoned=dice.rarely(0.07),
    )


def _config(dice: Dice, fabric: Fabric) -> SchedulerConfig:
    spec: dict[str, Any] = {
        "fragmentation": {"weight": dice.choice([Decimal(0), Decimal("0.1"), Decimal("0.7")])},
        "topology": {"windowSlack": int(dice.maybe(0.25))},
        "penalties": {"bandwidth": dice.choice([Decimal("0.1"), Decimal("0.5")])},
    }
    if dice.maybe(0.6):
        spec["fragmentation"]["mix"] = [
            {"nodes": n, "share": dice.choice([Decimal("0.1"), Decimal("0.3"), Decimal("0.33")])}
            for n in (1, 2, 4)
            if dice.maybe(0.5)
        ]
    if dice.maybe(0.3):
        spec["scoringWeights"] = {
            "resourceAvailability": Decimal(dice.randint(0, 5)) / 10,
            "topologyAlignment": Decimal(dice.randint(1, 5)) / 10,
            "domainUtilization": Decimal(dice.randint(0, 5)) / 10,
        }
    if dice.maybe(0.3):
        spec["network"] = {"nodeBandwidth": "100Mb"}
        if dice.maybe(0.5):
            spec["network"]["uplinkBandwidth"] = dice.choice(["100Mb", "300Mb"])
    constraints: dict[str, Any] = {}
    for cap, least, most in (("maxNodesPerLeaf", 1, 3), ("maxGPUsPerLeaf", 2, 8)):
        if dice.rarely(0.2):
            constraints[cap] = dice.randint(least, most)
    if dice.rarely(0.25):
        constraints["rules"] = [
            {"nodes": n, "leaves": dice.randint(1, 3)} for n in (1, 2, 3) if dice.maybe(0.6)
        ]
    spec["topologyConstraints"] = constraints
    if dice.maybe(0.2):
        spec["batch"] = {"size": dice.randint(2, 4)}
    spec["namespaces"] = _namespaces(dice, fabric)
    return SchedulerConfig.model_validate({"spec": spec})


def _namespaces(dice: Dice, fabric: Fabric) -> dict[str, dict[str, Any]]:
    domains = sorted({leaf.name for leaf in fabric.leaves} | set(fabric.spines))
    found: dict[str, dict[str, Any]] = {}
    for name in (*NAMESPACES, "*"):
        if not dice.rarely(0.4):
            continue
        policy: dict[str, Any] = {}
        if dice.rarely(0.4):
            policy["gpuQuota"] = dice.randint(2, 24)
        if dice.rarely(0.4):
            policy["domains"] = [domain for domain in domains if dice.maybe(0.7)]
        if dice.rarely(0.2):
            policy["maxGangs"] = dice.randint(1, 3)
        if dice.rarely(0.2):
            policy["maxMembers"] = dice.randint(2, 8)
        found[name] = policy
    return found


def _request(dice: Dice, gpus: int) -> Resources:
    request = Resources(gpus=gpus)
    if dice.rarely(0.5):
        request = replace(request, cpu=dice.choice([500, 1000, 1500, 3000]))
    if dice.rarely(0.3):
        request = replace(request, memory=dice.choice([GIB, 3 * GIB, 6 * GIB]))
    if dice.rarely(0.08):
        request = replace(request, extra=(("rdma/hca", 1),))
    elif dice.rarely(0.05):
        request = replace(request, extra=(("hostport/TCP/4000", 1),))
    return request


def _constraint(dice: Dice, fabric: Fabric) -> NodeConstraint:
    selector: tuple[tuple[str, str], ...] = ()
    affinity: tuple[tuple[Requirement, ...], ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    if dice.rarely(0.1):
        selector = (("zone", dice.choice(["a", "b"])),)
    if dice.rarely(0.06):
        node = dice.choice(sorted(fabric.nodes))
        affinity = ((Requirement("metadata.name", Operator.NOT_IN, (node,), is_field=True),),)
    if dice.rarely(0.3):
        tolerations = (Toleration("team", "Equal", "x"),)
    return NodeConstraint(selector, affinity, tolerations)


def _gang(dice: Dice, fabric: Fabric, number: int) -> Gang:
    most = max(node.allocatable.gpus for node in fabric.nodes.values())
    gpus = dice.choice([most, most, max(1, most // 2), dice.randint(0, max(1, most))])
    pods = dice.choice([1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7]) if gpus * 2 > most else dice.randint(1, 5)
    sizes = [(gpus, pods)]
    if dice.maybe(0.2):
        sizes.append((dice.randint(0, max(0, gpus - 1)), dice.randint(1, 2)))
        if dice.maybe(0.15):
            sizes.append((0, 1))
    sizes.sort(key=lambda size: -size[0])
    constraint = _constraint(dice, fabric)
    roles = tuple(
        Role(
            pods=tuple(f"g{number}-{r}-{i}" for i in range(count)),
            request=_request(dice, size),
            constraint=constraint if dice.maybe(0.8) else _constraint(dice, fabric),
        )
        for r, (size, count) in enumerate(sizes)
    )
    places = sorted({leaf.name for leaf in fabric.leaves} | set(fabric.spines))
    strategy = dice.choice([*Strategy, Strategy.BALANCED])
    hold = Hold("Gated", "gate") if dice.maybe(0.03) else None
    return Gang(
        key=GangKey(dice.choice(NAMESPACES), f"g{number}"),
        roles=roles,
        priority=dice.choice([0, 0, 5, 9]),
        created=NOW - dice.choice([0, 100, 700, 700, 1900, 9000]),
        strategy=strategy,
        policy=TopologyPolicy.PREFERRED if dice.maybe(0.2) else TopologyPolicy.REQUIRED,
        preferred_domain=dice.choice(places) if dice.maybe(0.3) else None,
        latency_sensitive=dice.maybe(0.2),
        bandwidth=dice.choice([50, 80, 100]) if dice.maybe(0.3) else None,
        one_per_node=dice.maybe(0.8 if strategy is Strategy.DISTRIBUTED else 0.1),
        hold=hold,
    )


def _populate(dice: Dice, snapshot: Snapshot) -> Snapshot:
    """Put running pods onto the nodes: strangers, gangs of others, and bound members."""
    fabric = snapshot.fabric
    running: list[RunningPod] = []
    free = dict(snapshot.free)

    def run(pod: RunningPod) -> bool:
        if not fits(free[pod.node], pod.request):
            return False
        running.append(pod)
        free.update(replace(snapshot, running=tuple(running)).free)
        return True

    names = sorted(fabric.nodes)
    busy = dice.choice([0.0, 0.1, 0.25, 0.4])
    for i, node in enumerate(names):
        if dice.maybe(busy):
            most = fabric.nodes[node].allocatable.gpus
            request = replace(_request(dice, dice.randint(0, most)), extra=())
            run(RunningPod(dice.choice(NAMESPACES), f"stranger{i}", node, request))
    if dice.maybe(0.3):
        key = GangKey(dice.choice(NAMESPACES), "elder")
        for i in range(dice.randint(1, 3)):
            request = Resources(gpus=dice.randint(0, 1))
            node = dice.choice(names)
            run(RunningPod(key.namespace, f"elder-{i}", node, request, key, bandwidth=50))
    gangs = [
        _with_bound(dice, gang, names, run) if dice.maybe(0.12) else gang for gang in snapshot.gangs
    ]
    return replace(snapshot, running=tuple(running), gangs=tuple(gangs))


def _with_preferences(dice: Dice, fabric: Fabric, gang: Gang) -> Gang:
    """Let some roles of `gang` prefer some nodes."""
    conditions = (
        Requirement("zone", Operator.IN, ("b",)),
        Requirement("zone", Operator.NOT_IN, ("b", "c")),
        Requirement("metadata.name", Operator.IN, (dice.choice(sorted(fabric.nodes)),), True),
    )
    return replace(
        gang,
        roles=tuple(
            replace(
                role,
                preferences=tuple(
                    Preference(dice.choice([1, 30, 100]), (condition,))
                    for condition in conditions
                    if dice.rarely(0.3)
                ),
            )
            for role in gang.roles
        ),
    )


def _with_bound(
    dice: Dice, gang: Gang, names: Sequence[str], run: Callable[[RunningPod], bool]
) -> Gang:
    """Let some members of `gang` run already, mostly on nodes close to one another."""
    start = dice.randint(0, len(names) - 1)
    roles = []
    for role in gang.roles:
        bound: list[tuple[str, str]] = []
        for pod in role.pods[: dice.randint(0, len(role.pods) - 1)]:
            node = names[(start + dice.randint(0, 1)) % len(names)]
            member = RunningPod(
                gang.key.namespace, pod, node, role.request, gang.key, bandwidth=gang.bandwidth
            )
            if run(member):
                bound.append((pod, node))
        kept = {pod for pod, _ in bound}
        pods = tuple(pod for pod in role.pods if pod not in kept)
        roles.append(replace(role, pods=pods, bound=tuple(bound)))
    return replace(gang, roles=tuple(roles))
