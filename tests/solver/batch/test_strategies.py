"""Each strategy does what it is for, on random fabrics, judged by where pods stand and no score."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from random import Random

import pytest

from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, Strategy, TopologyPolicy
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.model.validator import validate
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.process.call_or_kill import as_needed
from fourleaf.solver.process.messages import BatchTask
from tests.small import fabric, gang, node, snapshot

FEW, MANY = range(5), range(100)
"""Seeds; each is a fabric with a gang, and the same one with replicas."""


@dataclass(frozen=True)
class Stand:
    """How the pods stand: how many on each node, and how many in each leaf."""

    nodes: Counter[str]
    leaves: Counter[str]

    @property
    def few(self) -> tuple[int, int]:
        """Nodes: what `consolidated` wants least of; leaves come second (docs/decisions/0062)."""
        return len(self.nodes), 0

    @property
    def together(self) -> tuple[int, int]:
        """Pods that share their node, and leaves not used: what `distributed` wants least of."""
        return self.nodes.total() - len(self.nodes), -len(self.leaves)

    @property
    def halves(self) -> tuple[int, int]:
        """Pods beyond half of all on one node, then nodes: what `balanced` wants least of."""
        half = -(-self.nodes.total() // 2)
        return sum(max(0, pods - half) for pods in self.nodes.values()), len(self.nodes)


WANTS = {
    Strategy.CONSOLIDATED: lambda stand: stand.few,
    Strategy.DISTRIBUTED: lambda stand: stand.together,
    Strategy.BALANCED: lambda stand: stand.halves,
}


def _fabric(dice: Random) -> tuple[Fabric, list[RunningPod]]:
    leaves, running = [], []
    for number in range(dice.randint(2, 4)):
        name = "abcd"[number]
        nodes = tuple(
            node(f"{name}{i}", name, f"s{number // 2}") for i in range(dice.randint(2, 4))
        )
        leaves.append(Leaf(name, f"s{number // 2}", nodes))
        for one in nodes:
            taken = dice.choice([0, 0, 1, 2, 4, 5, 6, 7, 8])
            if taken:
                request = Resources(gpus=taken, cpu=100 * dice.randint(0, 20))
                running.append(RunningPod("other", f"on-{one.name}", one.name, request))
    return Fabric(tuple(leaves)), running


def _gang(dice: Random, where: Fabric, running: list[RunningPod]) -> Snapshot:
    policy = dice.choice(list(TopologyPolicy))
    one = gang("g", dice.randint(2, 6), gpus=dice.choice([1, 1, 2, 2, 3, 4]), policy=policy)
    return snapshot(where, one, running=running, fragmentation={"weight": 0.1})


def _replicas(dice: Random, where: Fabric, running: list[RunningPod]) -> Snapshot:
    request = Resources(gpus=dice.choice([1, 1, 2, 3]))
    pods = [
        gang(f"r{i}", 1, request=request, owner="ReplicaSet/web") for i in range(dice.randint(2, 5))
    ]
    return snapshot(where, *pods, running=running, fragmentation={"weight": 0.1})


def _under(world: Snapshot, strategy: str) -> Stand | None:
    """Where the pods stand under a strategy, the laws being the same; `None` where not all do."""
    gangs = tuple(replace(one, strategy=strategy) for one in world.gangs)
    world = replace(world, gangs=gangs)
    plan = solve(world)
    assert plan is not None
    assert validate(world, plan) == (), f"no legal plan under {strategy}"
    if plan.waiting:
        return None
    names = [name for placement in plan.placements for _, name in placement.pods]
    leaf_of = {one.name: one.leaf for leaf in world.fabric.leaves for one in leaf.nodes}
    return Stand(Counter(names), Counter(leaf_of[name] for name in names))


def _judge(seed: int, worlds: list[Snapshot]) -> set[str]:
    """The strategies that are strictly better than another one at what they are for."""
    better = set()
    for world in worlds:
        stands = {strategy: _under(world, strategy) for strategy in Strategy}
        if None in stands.values():
            continue
        for strategy, want in WANTS.items():
            for other in set(Strategy) - {strategy}:
                mine, theirs = want(stands[strategy]), want(stands[other])
                assert mine <= theirs, f"seed {seed}: {strategy} {mine}, {other} {theirs}"
                if mine < theirs:
                    better.add(strategy)
    return better


def _worlds(seed: int) -> list[Snapshot]:
    dice = Random(seed)  # noqa: S311 - to be repeated
    where, running = _fabric(dice)
    return [_gang(dice, where, running), _replicas(dice, where, running)]


def test_each_is_best_at_what_it_is_for() -> None:
    """Consolidated takes the fewest nodes, distributed the most, balanced halves; some strictly."""
    assert set.union(*(_judge(seed, _worlds(seed)) for seed in FEW)) == set(Strategy)


@pytest.mark.deep
@pytest.mark.parametrize("seed", MANY)
def test_each_is_best_on_many_fabrics(seed: int) -> None:
    """The same on a hundred fabrics, for a gang and for replicas on each."""
    _judge(1000 + seed, _worlds(1000 + seed))


def _web(number: int, strategy: str = "distributed") -> Gang:
    return gang(f"web-{number}", 1, gpus=1, owner="ReplicaSet/web", strategy=strategy)


def _hosts(world: Snapshot) -> dict[str, str]:
    plan = solve(as_needed(BatchTask(), world))
    assert plan is not None
    assert validate(world, plan) == ()
    return {placement.gang.name: placement.pods[0][1] for placement in plan.placements}


def test_four_replicas_stand_on_four_nodes() -> None:
    """At once, one after the other, and two in each leaf; where three have no room, on one."""
    where = fabric([[2, 2]])
    nodes = ["a0", "a1", "b0", "b1"]
    assert sorted(_hosts(snapshot(where, *map(_web, range(4)))).values()) == nodes
    running: list[RunningPod] = []
    for number in range(4):
        (host,) = _hosts(snapshot(where, _web(number), running=running)).values()
        request = Resources(gpus=1)
        running.append(RunningPod("ml", f"w{number}", host, request, owner="ReplicaSet/web"))
    assert sorted(pod.node for pod in running) == nodes
    full = [RunningPod("o", name, name, Resources(gpus=8)) for name in nodes[1:]]
    crowded = _hosts(snapshot(where, *map(_web, range(4)), running=full))
    assert list(crowded.values()) == ["a0"] * 4


def test_a_consolidated_replica_joins_the_others() -> None:
    """Those of its owner that run, not a node that is as good and has less room left."""
    ours = RunningPod("ml", "w", "b1", Resources(gpus=2), owner="ReplicaSet/web")
    others = RunningPod("o", "p", "a0", Resources(gpus=7))
    world = snapshot(fabric([[2, 2]]), _web(0, "consolidated"), running=[ours, others])
    assert _hosts(world) == {"web-0": "b1"}


def test_of_two_nodes_each_in_one_leaf() -> None:
    """Where any two nodes would do, consolidated takes two of one leaf."""
    one = gang("g", 4, gpus=4, policy=TopologyPolicy.PREFERRED)
    stand = _under(snapshot(fabric([[1, 2, 1]]), one), "consolidated")
    assert stand is not None
    assert (len(stand.nodes), len(stand.leaves)) == (2, 1)


def test_a_strategy_of_the_config_decides() -> None:
    """Six pods of one GPU under thirds: two on each of three nodes."""
    thirds = {"mostPerNode": 0.33, "spread": 4, "fewestNodes": 2}
    one = gang("g", 6, gpus=1, strategy="thirds")
    world = snapshot(fabric([[4]]), one, strategies={"thirds": thirds})
    stand = _under(world, "thirds")
    assert stand is not None
    assert sorted(stand.nodes.values()) == [2, 2, 2]
