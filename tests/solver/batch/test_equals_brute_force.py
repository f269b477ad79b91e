"""The solver finds what brute force finds: who, then where, on thousands of tiny instances."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings

from benchmarks.solve.instances import snapshots as snapshots_of
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Role, TopologyPolicy
from fourleaf.model.plan import PlanStatus
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import validate, who_values
from fourleaf.simulator.fabric_shape import Shape
from fourleaf.solver.batch import place_gangs
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.cpsat import builder
from fourleaf.solver.cpsat.core_search import near_best
from fourleaf.solver.cpsat.flows import add_flows
from fourleaf.solver.cpsat.program import Program, SolveResult
from fourleaf.solver.cpsat.variables import GroupVariables
from tests.instances import random_snapshot, snapshots, with_few_window_nodes
from tests.oracle.brute import Brute
from tests.oracle.seating import TooManyError
from tests.pressed import PRODUCT, pressed_snapshot
from tests.seeds import FIRST_SEED
from tests.small import gang, node, snapshot

BLOCKS = 21
PER_BLOCK = 100
RELAXED_BLOCKS = 20
RELAXED = 75
BUDGET = 60_000
"""Steps of the oracle per question; where it needs more, the instance is left out."""


def equals_brute_force(snapshot: Snapshot, gap: float = 0.0) -> bool:
    """Compare one instance; False where it is too large for the oracle.

    Places may be worth less than the best by the relative `gap`, if the bound says so.
    """
    oracle = Brute(snapshot, budget=BUDGET)
    try:
        who = oracle.best_who()
    except TooManyError:
        return False
    plan = solve(snapshot)
    assert plan is not None
    assert plan.status is PlanStatus.OPTIMAL
    assert [str(breach) for breach in validate(snapshot, plan)] == []
    values = {tier: value for tier, value in who_values(snapshot, plan).items() if value}
    assert values == who
    try:
        where = oracle.best_where({placement.gang for placement in plan.placements})
    except TooManyError:
        return False
    assert plan.objective <= where <= plan.bound <= plan.objective + gap * abs(plan.objective)
    assert plan.gap is not None
    assert plan.gap <= gap
    return True


@pytest.mark.no_cover
@pytest.mark.parametrize("block", range(BLOCKS))
def test_seeded_instances(block: int) -> None:
    """On each of a hundred seeds the plan is proven, legal, and worth exactly the optimum.

    Every third has scarce uplinks and more than one product of GPU; in every fourth gangs of few
    nodes may use any leaves of a spine.
    """
    first = FIRST_SEED + block * PER_BLOCK
    compared = 0
    for seed in range(first, first + PER_BLOCK):
        make = random_snapshot if seed % 3 else pressed_snapshot
        try:
            compared += equals_brute_force(with_few_window_nodes(make(seed), seed))
        except AssertionError as wrong:
            raise AssertionError(f"{make.__name__}({seed}): {wrong}") from wrong
    assert compared >= PER_BLOCK - (4 if FIRST_SEED == 0 else 10)


def test_a_rule_that_allows_no_window_leaves_the_fewest_as_they_are() -> None:
    """F of a `Preferred` gang on the two leaves that it needs is 3, though a rule says one leaf.

    Filled first, `a0` takes both pods of the first role, and one of the others has no host port
    left. `b0`, which has one port of `rdma/hca`, takes a pod of each role, and `a0` the others.
    """
    rdma, host = (("rdma/hca", 1),), (("hostport/TCP/4000", 1),)
    room = Resources(gpus=4, cpu=None, memory=None, pods=10, extra=(("rdma/hca", 2),))
    a, b = (node(f"{name}0", name, allocatable=room) for name in "ab")
    leaves = (
        Leaf("a", "s0", (a,)),
        Leaf("b", "s0", (replace(b, allocatable=replace(room, extra=rdma)),)),
    )
    roles = (
        Role(("g-0", "g-1"), Resources(gpus=2, extra=rdma)),
        Role(("g-2", "g-3"), Resources(gpus=1, extra=host)),
    )
    one = gang("g", roles=roles, policy=TopologyPolicy.PREFERRED)
    rules = {"rules": [{"nodes": 2, "leaves": 1}]}
    assert equals_brute_force(snapshot(Fabric(leaves), one, topologyConstraints=rules))


@pytest.mark.parametrize(
    ("stated", "network", "placed"),
    [
        ((None, None), {}, 1),
        ((None, None), {"requireStated": True}, 0),
        ((None, None), {"nodeBandwidth": "50Mb"}, 0),
        ((None, 100), {}, 0),
        ((50, 50), {}, 0),
    ],
)
def test_bandwidth_counts_once_any_is_stated(
    stated: tuple[int | None, ...], network: dict[str, Any], placed: int
) -> None:
    """A gang of two that asks for 100 Mbit/s starts where there is nothing to compare that with."""
    nodes = tuple(node(f"a{i}", "a", bandwidth=own) for i, own in enumerate(stated))
    where = Fabric((Leaf("a", "s0", nodes),))
    world = snapshot(where, gang("g", 2, bandwidth=100), network=network)
    assert equals_brute_force(world)
    assert len(solve(world).placements) == placed


@pytest.mark.parametrize("gap", [0.0, 0.05])
@pytest.mark.parametrize("block", range(RELAXED_BLOCKS))
def test_seeded_instances_by_their_relaxation(
    block: int, gap: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taken for large, tiny programs give the optimum too; within a gap where one is allowed.

    Every third is a small fabric for gangs with wishes, in which candidate classes share flows.
    """
    sharing: list[bool] = []
    found: list[SolveResult | None] = []
    compared = 0

    def flows_added(program: Program, variables: GroupVariables, shared: bool) -> None:
        add_flows(program, variables, shared)
        sharing.append(bool(variables.shared))

    def searched(*asked: Any) -> SolveResult | None:
        found.append(near_best(*asked))
        return found[-1]

    monkeypatch.setattr(builder, "LARGE_PROGRAM", 0)
    monkeypatch.setattr(builder, "add_flows", flows_added)
    monkeypatch.setattr(place_gangs, "near_best", searched)
    first = FIRST_SEED + block * RELAXED
    for seed in range(first, first + RELAXED):
        wishes = snapshots_of(seed, Shape.regular(8), 6, seed % 2 == 0, (1, 1, 2))[0]
        made = (wishes, random_snapshot(seed), pressed_snapshot(seed))[seed % 3]
        made = with_few_window_nodes(made, seed)
        compared += equals_brute_force(with_gap(made, gap), gap)
    assert compared >= RELAXED - 5
    assert any(sharing)
    assert len([one for one in found if one is not None]) >= RELAXED // 2


def with_gap(snapshot: Snapshot, gap: float) -> Snapshot:
    """The same where places may be so far from the best."""
    spec = snapshot.config.spec
    spec = spec.model_copy(update={"solver": spec.solver.model_copy(update={"gap": gap})})
    return replace(snapshot, config=snapshot.config.model_copy(update={"spec": spec}))


def test_scarce_uplinks_and_products_decide_plans() -> None:
    """Of sixty such instances each of the two laws changes at least five plans."""
    uplinks = products = 0
    for seed in range(0, 180, 3):
        snapshot = pressed_snapshot(seed)
        worth = outcome(snapshot)
        uplinks += outcome(without_uplinks(snapshot)) != worth
        products += outcome(without_products(snapshot)) != worth
    assert min(uplinks, products) >= 5, (uplinks, products)


def outcome(snapshot: Snapshot) -> tuple[dict[int, int], int]:
    """What the plan places, and what it is worth."""
    plan = solve(snapshot)
    assert plan is not None
    return who_values(snapshot, plan), plan.objective


def without_uplinks(snapshot: Snapshot) -> Snapshot:
    """The same where every uplink carries whatever crosses it."""
    leaves = tuple(replace(leaf, uplink=10**6) for leaf in snapshot.fabric.leaves)
    return replace(snapshot, fabric=replace(snapshot.fabric, leaves=leaves))


def without_products(snapshot: Snapshot) -> Snapshot:
    """The same where no gang asks for a product."""
    gangs = tuple(
        replace(
            gang,
            roles=tuple(
                replace(
                    role,
                    constraint=replace(
                        role.constraint,
                        selector=tuple(p for p in role.constraint.selector if p[0] != PRODUCT),
                    ),
                )
                for role in gang.roles
            ),
        )
        for gang in snapshot.gangs
    )
    return replace(snapshot, gangs=gangs)


@settings(max_examples=100, deadline=None)
@given(snapshots())
def test_generated_instances(snapshot: Snapshot) -> None:
    """The same on instances that Hypothesis makes, so that a failure shrinks."""
    assume(equals_brute_force(snapshot))
