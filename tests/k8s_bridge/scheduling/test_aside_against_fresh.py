"""Gangs aside against a scheduler without memory: what stands aside, no fresh look would place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from fourleaf.k8s_bridge.scheduling.set_aside import SetAside
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, TopologyPolicy
from fourleaf.model.node import Node
from fourleaf.model.node_constraint import NodeConstraint, Operator, Requirement
from fourleaf.model.plan import Placement
from fourleaf.model.snapshot import RunningPod
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.explain.explain import explain
from tests import small
from tests.seeds import FIRST_SEED

SOME, ALL, EVENTS = 30, 400, 12
MOST_CYCLES = 60
NAMESPACES = ("ml", "ops")


class Town:
    """A small cluster to which things happen, and a scheduler that sets gangs aside."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)  # noqa: S311 - no secret
        self.number = 0
        sizes = [[self.dice.randint(1, 3) for _ in range(2)] for _ in range(2)]
        self.world = small.snapshot(small.fabric(sizes))
        self.aside = SetAside()
        self.log: list[str] = []
        self.has_quotas = seed % 2 == 0
        """The other towns have gangs that are alike, which wait for one another."""
        self.quotas()
        for _ in range(6):
            self.comes()

    def happens(self) -> None:
        """One thing changes."""
        events: list[Callable[[], None]] = [self.node_comes, self.node_goes, self.relabelled]
        events += [self.quotas, self.edited, self.goes, self.stranger, self.comes, self.comes]
        events += [self.ends, self.ends, self.ends]
        event = self.dice.choice(events)
        self.log.append(event.__name__)
        event()

    def comes(self) -> None:
        """A gang comes."""
        self.number += 1
        self.world = replace(self.world, gangs=(*self.world.gangs, self._gang(f"g{self.number}")))

    def edited(self) -> None:
        """A gang that waits is another one now, by the same name."""
        if gangs := list(self.world.gangs):
            at = self.dice.randrange(len(gangs))
            key = gangs[at].key
            gangs[at] = replace(self._gang(key.name), key=key, created=gangs[at].created)
            self.world = replace(self.world, gangs=tuple(gangs))

    def goes(self) -> None:
        """A gang that waits is deleted."""
        if gangs := list(self.world.gangs):
            gangs.pop(self.dice.randrange(len(gangs)))
            self.world = replace(self.world, gangs=tuple(gangs))

    def ends(self) -> None:
        """All pods of a gang, or one of others, end."""
        if self.world.running:
            one = self.dice.choice(self.world.running)
            left = (pod for pod in self.world.running if pod.gang != one.gang)
            self.world = replace(self.world, running=tuple(left))

    def stranger(self) -> None:
        """A pod of another scheduler takes half a node."""
        self.number += 1
        free = [name for name in self.world.fabric.nodes if self.world.free_on(name).gpus >= 4]
        if free:
            name, request = f"other-{self.number}", replace(small.WHOLE, gpus=4, cpu=0, memory=0)
            one = GangKey("others", name)
            pod = RunningPod("others", name, self.dice.choice(free), replace(request, pods=1), one)
            self.world = replace(self.world, running=(*self.world.running, pod))

    def node_comes(self) -> None:
        """A leaf has a node more."""
        self.number += 1
        leaf = self.dice.choice(self.world.fabric.leaves)
        more = small.node(f"{leaf.name}-{self.number}", leaf.name, leaf.spine)
        self._laid(leaf, (*leaf.nodes, more))

    def node_goes(self) -> None:
        """A leaf has a node less, with all that ran there."""
        leaf = self.dice.choice(self.world.fabric.leaves)
        if len(leaf.nodes) > 1:
            gone = self.dice.choice(leaf.nodes)
            left = (pod for pod in self.world.running if pod.node != gone.name)
            self.world = replace(self.world, running=tuple(left))
            self._laid(leaf, tuple(one for one in leaf.nodes if one is not gone))

    def relabelled(self) -> None:
        """A node is of another pool."""
        leaf = self.dice.choice(self.world.fabric.leaves)
        at = self.dice.randrange(len(leaf.nodes))
        nodes = list(leaf.nodes)
        nodes[at] = replace(nodes[at], labels={"pool": self.dice.choice("xy")})
        self._laid(leaf, tuple(nodes))

    def quotas(self) -> None:
        """The config says other quotas, in batches of two or three."""
        some = (None, 8, 16, 24) if self.has_quotas else (None,)
        quotas = {name: self.dice.choice(some) for name in NAMESPACES}
        spaces = {name: {"gpuQuota": most} for name, most in quotas.items() if most is not None}
        config = small.config(batch={"size": self.dice.choice((2, 3))}, namespaces=spaces)
        self.world = replace(self.world, config=config)

    def settle(self) -> None:
        """Cycles until one has no result and says that none is to follow."""
        for _ in range(MOST_CYCLES):
            batch, _ = self.aside.without(self.world)
            plan = self.aside.fruitless(batch)
            again = False
            if plan is None:
                solved = solve(batch)
                assert solved is not None
                plan = explain(batch, solved)
                again = self.aside.note(batch, plan)
            for one in plan.placements:
                self._bind(one)
            if not plan.placements and not again:
                return
        raise AssertionError(f"no rest after {self.log}")

    def overlooked(self) -> list[str]:
        """The gangs that one look at all that wait, without any memory, would place."""
        spec = self.world.config.spec
        whole = spec.model_copy(update={"batch": spec.batch.model_copy(update={"size": 100})})
        config = self.world.config.model_copy(update={"spec": whole})
        plan = solve(replace(self.world, config=config))
        assert plan is not None
        return [one.gang.name for one in plan.placements]

    def _gang(self, name: str) -> Gang:
        dice = self.dice
        sizes = [dice.randint(1, 3) for _ in range(dice.choice((1, 1, 2)))]
        made = small.gang(name, *sizes, gpus=dice.choice((2, 4, 8)))
        if not self.has_quotas and dice.random() < 0.8:
            made = small.gang(name, dice.randint(1, 2), gpus=8)
            return replace(made, created=small.NOW + self.number)
        if dice.random() < 0.3:
            pool = Requirement("pool", Operator.IN, (dice.choice("xy"),))
            only = NodeConstraint(affinity=((pool,),))
            made = replace(made, roles=tuple(replace(one, constraint=only) for one in made.roles))
        return replace(
            made,
            key=GangKey(dice.choice(NAMESPACES), name),
            created=small.NOW + self.number,
            priority=dice.choice((0, 0, 0, 5)),
            policy=dice.choice(list(TopologyPolicy)),
        )

    def _laid(self, leaf: Leaf, nodes: tuple[Node, ...]) -> None:
        leaves = (
            replace(one, nodes=nodes) if one is leaf else one for one in self.world.fabric.leaves
        )
        self.world = replace(self.world, fabric=Fabric(tuple(leaves)))

    def _bind(self, placement: Placement) -> None:
        (gang,) = (one for one in self.world.gangs if one.key == placement.gang)
        requests = {pod: role.request for role in gang.roles for pod in role.pods}
        pods = (
            RunningPod(gang.key.namespace, pod, node, requests[pod], gang.key, ours=True)
            for pod, node in placement.pods
        )
        left = tuple(one for one in self.world.gangs if one is not gang)
        self.world = replace(self.world, running=(*self.world.running, *pods), gangs=left)


@pytest.mark.parametrize(
    "seed", [*range(SOME), *(pytest.param(n, marks=pytest.mark.deep) for n in range(SOME, ALL))]
)
def test_no_gang_stays_aside_that_a_fresh_look_would_place(seed: int) -> None:
    """Nodes, gangs, quotas and pods of others come, change and go, one after the other."""
    town = Town(FIRST_SEED + seed)
    for _ in range(EVENTS):
        town.settle()
        assert town.overlooked() == [], town.log
        town.happens()
