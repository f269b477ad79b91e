"""Changes of the input that must not make a plan worse, over generated snapshots."""

import random
from dataclasses import replace

import pytest

from model.fabric import Fabric, Leaf
from model.gang import Role
from model.node import Node
from model.plan import Plan
from model.resources import Resources
from model.snapshot import Snapshot
from model.validator import who_values
from solver.batch import solve
from tests.instances import random_snapshot

SEEDS = range(120)


def outcome(snapshot: Snapshot) -> tuple[Plan, dict[int, int]]:
    """The plan and the value placed in each tier."""
    plan = solve(snapshot)
    assert plan is not None
    return plan, {p: v for p, v in who_values(snapshot, plan).items() if v}


def with_mix_pinned(snapshot: Snapshot) -> Snapshot:
    """The same without phantoms: an added leaf may change which nodes are the commonest."""
    spec = snapshot.config.spec
    kept = spec.fragmentation.model_copy(update={"weight": 0})
    spec = spec.model_copy(update={"fragmentation": kept})
    return replace(snapshot, config=snapshot.config.model_copy(update={"spec": spec}))


def renamed(snapshot: Snapshot) -> Snapshot:
    """Every node under another name, leaves and their order as they were."""
    names = {name: f"host-{len(snapshot.fabric.nodes) - i:03d}-{name[::-1]}"
             for i, name in enumerate(snapshot.fabric.nodes)}  # fmt: skip

    def node(old: Node) -> Node:
        return replace(old, name=names[old.name])

    def role(old: Role) -> Role:
        bound = tuple((pod, names.get(on, on)) for pod, on in old.bound)
        affinity = tuple(
            tuple(
                replace(r, values=tuple(names.get(v, v) for v in r.values)) if r.is_field else r
                for r in term
            )
            for term in old.constraint.affinity
        )
        return replace(old, bound=bound, constraint=replace(old.constraint, affinity=affinity))

    fabric = Fabric(
        tuple(
            replace(leaf, nodes=tuple(node(n) for n in leaf.nodes))
            for leaf in snapshot.fabric.leaves
        ),
        snapshot.fabric.adjacency,
        snapshot.fabric.edges,
    )
    running = tuple(replace(p, node=names.get(p.node, p.node)) for p in snapshot.running)
    gangs = tuple(replace(g, roles=tuple(role(r) for r in g.roles)) for g in snapshot.gangs)
    return replace(snapshot, fabric=fabric, running=running, gangs=gangs)


@pytest.mark.parametrize("seed", SEEDS)
def test_renaming_nodes_changes_nothing_that_counts(seed: int) -> None:
    """Tiers and score are the same when every node has another name."""
    snapshot = random_snapshot(seed)
    plan, who = outcome(snapshot)
    other, whose = outcome(renamed(snapshot))
    assert (whose, other.objective) == (who, plan.objective)


@pytest.mark.parametrize("seed", SEEDS)
def test_shuffling_the_input_changes_nothing(seed: int) -> None:
    """The plan is the same whatever order gangs and running pods come in."""
    snapshot = random_snapshot(seed)
    dice = random.Random(seed)  # noqa: S311 - a shuffle, not a secret
    gangs, running = list(snapshot.gangs), list(snapshot.running)
    dice.shuffle(gangs)
    dice.shuffle(running)
    plan, _ = outcome(snapshot)
    other, _ = outcome(replace(snapshot, gangs=tuple(gangs), running=tuple(running)))
    assert other.placements == plan.placements
    assert other.phantoms == plan.phantoms


@pytest.mark.parametrize("seed", SEEDS)
def test_an_empty_leaf_never_hurts(seed: int) -> None:
    """One more idle leaf, in a spine of its own and of one small node, makes nothing worse."""
    snapshot = with_mix_pinned(random_snapshot(seed))
    smallest = min(node.allocatable.gpus for node in snapshot.fabric.nodes.values())
    offer = Resources(gpus=max(1, smallest), cpu=1000, memory=1 << 30, pods=4)
    leaf = Leaf("zz", "zz", (Node("zz-0", "zz", "zz", offer),))
    wider = replace(snapshot, fabric=replace_leaves(snapshot.fabric, leaf))
    plan, who = outcome(snapshot)
    other, whose = outcome(wider)
    tiers = sorted({*who, *whose}, reverse=True)
    before, after = ([values.get(t, 0) for t in tiers] for values in (who, whose))
    assert after >= before
    if {p.gang for p in other.placements} == {p.gang for p in plan.placements}:
        assert other.objective >= plan.objective


def replace_leaves(fabric: Fabric, extra: Leaf) -> Fabric:
    """The fabric with one leaf more at its end."""
    return Fabric((*fabric.leaves, extra), fabric.adjacency, fabric.edges)
