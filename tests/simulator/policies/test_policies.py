"""What each policy does on instances small enough to see, and that it keeps its laws on many."""

import random
from dataclasses import replace

import pytest

from fourleaf.model.fabric import AdjacencyKind, Fabric
from fourleaf.model.gang import Gang
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import Law, validate
from fourleaf.simulator.fabric_shape import Shape
from fourleaf.simulator.gangs import gang_of
from fourleaf.simulator.plan_check import OF_SCORES
from fourleaf.simulator.policies.buddy import Buddy
from fourleaf.simulator.policies.catalogue import NAMES, policy
from fourleaf.simulator.policies.first_fit import FirstFitPolicy
from fourleaf.simulator.policies.greedy import Greedy
from fourleaf.simulator.policies.protocol import Policy
from fourleaf.simulator.policies.spread import Spread
from tests.instances import random_snapshot
from tests.simulator.made import job, leaves
from tests.small import with_bound


def laws(snapshot: Snapshot, plan: Plan) -> set[Law]:
    """Tell the laws that a plan without scores breaks."""
    return {one.law for one in validate(snapshot, plan)} - set(OF_SCORES)


def waiting(*jobs: tuple[str, int, int]) -> tuple[Gang, ...]:
    """Make gangs of (name, arrival, pods) on whole nodes."""
    return tuple(gang_of(job(name, arrival, 100, pods)) for name, arrival, pods in jobs)


def placed(plan: Plan) -> dict[str, list[str]]:
    """Tell the nodes of every gang that is placed, in rank order."""
    return {one.gang.name: [node for _, node in one.pods] for one in plan.placements}


def busy(fabric: Fabric, *nodes: str) -> Snapshot:
    """Make a snapshot in which these nodes are taken."""
    _, running = with_bound(gang_of(job("old", 0, 100, len(nodes))), *nodes)
    return Snapshot(fabric, tuple(running))


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("one", [Greedy(), FirstFitPolicy()], ids=["greedy", "first-fit"])
def test_those_that_know_the_rule_keep_it(one: Policy, seed: int) -> None:
    """On snapshots that touch every rule of the model, no law is broken."""
    snapshot = random_snapshot(seed)
    assert laws(snapshot, one.decide(snapshot)) == set()


@pytest.mark.parametrize("seed", range(60))
def test_buddy_keeps_the_rule_for_aligned_leaves(seed: int) -> None:
    """Its plans are legal where adjacency is aligned."""
    snapshot = random_snapshot(seed)
    plan = Buddy().decide(snapshot)
    fabric = replace(snapshot.fabric, adjacency=AdjacencyKind.ALIGNED, edges=frozenset())
    assert laws(replace(snapshot, fabric=fabric), plan) == set()


def test_spread_breaks_nothing_but_the_leaf_rule() -> None:
    """On 40 small clusters with gangs that fit, it breaks that one often, and no other law."""
    found: list[set[Law]] = []
    for seed in range(40):
        dice = random.Random(seed)  # noqa: S311
        sizes = tuple(dice.randint(1, 4) for _ in range(4))
        jobs = [
            job(f"g{i}", i, 10, dice.randint(1, 4), dice.choice((1, 2, 4, 8))) for i in range(6)
        ]
        snapshot = Snapshot(Shape((sizes,)).fabric(), gangs=tuple(map(gang_of, jobs)))
        found.append(laws(snapshot, Spread(seed).decide(snapshot)))
    assert set().union(*found) == {Law.LOCATION}
    assert sum(bool(one) for one in found) > 20


def test_spread_takes_the_emptiest_nodes() -> None:
    """With a pod of 4 GPUs on three of four nodes, one more goes to the fourth."""
    fabric = leaves(2, 2)
    quarter = gang_of(job("old", 0, 100, 3, gpus=4))
    _, running = with_bound(quarter, "leaf-0-0", "leaf-0-1", "leaf-1-1")
    new = (gang_of(job("new", 0, 100, 1, gpus=4)),)
    plan = Spread(0).decide(Snapshot(fabric, tuple(running), new))
    assert placed(plan) == {"new": ["leaf-1-0"]}


def test_spread_starts_a_gang_whole_or_not_at_all() -> None:
    """Five nodes are asked and four there; the next in line, which fits, is not held up."""
    snapshot = Snapshot(leaves(2, 2), gangs=waiting(("a", 0, 5), ("b", 1, 4)))
    assert list(placed(Spread(0).decide(snapshot))) == ["b"]


def test_first_fit_takes_the_first_leaf_greedy_the_tightest() -> None:
    """One node of the second leaf is taken: greedy fills it up, first fit opens the first."""
    snapshot = replace(busy(leaves(2, 2), "leaf-1-0"), gangs=waiting(("a", 0, 1)))
    assert placed(FirstFitPolicy().decide(snapshot)) == {"a": ["leaf-0-0"]}
    assert placed(Greedy().decide(snapshot)) == {"a": ["leaf-1-1"]}


def test_first_fit_serves_who_came_first_greedy_who_is_larger() -> None:
    """A leaf of two, one gang of one node and, later, one of two."""
    snapshot = Snapshot(leaves(2), gangs=waiting(("small", 0, 1), ("large", 1, 2)))
    assert list(placed(FirstFitPolicy().decide(snapshot))) == ["small"]
    assert list(placed(Greedy().decide(snapshot))) == ["large"]


def test_buddy_crosses_no_boundary() -> None:
    """Leaves 1 and 2 are free and adjacent, but in different pairs: first fit takes them."""
    snapshot = replace(
        busy(leaves(1, 1, 1, 1), "leaf-0-0", "leaf-3-0"), gangs=waiting(("pair", 0, 2))
    )
    assert placed(Buddy().decide(snapshot)) == {}
    assert placed(FirstFitPolicy().decide(snapshot)) == {"pair": ["leaf-1-0", "leaf-2-0"]}


def test_buddy_splits_the_smallest_cell() -> None:
    """Leaf 5 is taken, so leaf 4 is a free cell by itself: it goes before leaf 0 of a free quad."""
    snapshot = replace(busy(leaves(*[1] * 8), "leaf-5-0"), gangs=waiting(("one", 0, 1)))
    assert placed(Buddy().decide(snapshot)) == {"one": ["leaf-4-0"]}
    assert placed(FirstFitPolicy().decide(snapshot)) == {"one": ["leaf-0-0"]}


@pytest.mark.parametrize("name", NAMES)
def test_every_policy_tells_the_earliest_start(name: str) -> None:
    """Both nodes of the leaf are taken until 500 and 700; a pair can start at 700."""
    fabric = leaves(2)
    running = [
        replace(pod, ends=end)
        for pod, end in zip(busy(fabric, "leaf-0-0", "leaf-0-1").running, (500, 700), strict=True)
    ]
    pair = waiting(("pair", 0, 2))
    snapshot = Snapshot(fabric, tuple(running), pair, now=100.0)
    one = policy(name, 0)
    try:
        start = one.start(snapshot, pair[0])
    finally:
        one.close()
    assert start.at == 700
    assert start.placement is not None
    assert sorted(node for _, node in start.placement.pods) == ["leaf-0-0", "leaf-0-1"]


def test_there_is_no_other_policy() -> None:
    """A name that nobody has is refused."""
    with pytest.raises(ValueError, match="'best' is no policy"):
        policy("best", 0)
