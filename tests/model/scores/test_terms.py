"""Scores taken apart, against numbers worked out by hand."""

from __future__ import annotations

from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.plan import Phantom
from fourleaf.model.resources import Resources
from fourleaf.model.scores.terms import TermScores, shared_points
from fourleaf.model.snapshot import RunningPod
from tests.small import GIB, fabric, gang, node, plan, seats, snapshot


def test_each_term_of_a_pair() -> None:
    """Two whole nodes of a leaf of four: full CPU, one leaf of one spine, 16 of 32 GPUs."""
    one = gang("g", 2, request=Resources(gpus=8, cpu=2500, memory=GIB))
    world = snapshot(fabric([[4]]), one)
    score = TermScores(world).score(one, seats(one, ["a0", "a1"]))
    terms = {term.name: term for term in score.terms}
    assert {name: (term.value, term.weight) for name, term in terms.items()} == {
        "resourceAvailability": (375 + 250, 400),
        "topologyAlignment": (1000, 300),
        "domainUtilization": (500, 200),
        "historicalPerformance": (1000, 100),
    }
    assert dict(terms["resourceAvailability"].raw) == {
        "cpu": 750,
        "memory": 900,
        "pods": 900,
        "taken": 16,
        "free": 32,
    }
    assert dict(terms["topologyAlignment"].raw) == {"leaves": 1, "spines": 1, "fewest": 2}
    assert dict(terms["domainUtilization"].raw) == {"used": 16, "gpus": 32}
    assert score.size == 16
    assert score.by_term["domainUtilization"] == 16 * 100
    assert score.points == 16 * (250 + 300 + 100 + 100)


def test_what_is_lost_by_two_leaves_and_another_domain() -> None:
    """Where one leaf would do, two are a third too many; one pod of two is where it wished."""
    one = gang("g", 2, preferred_domain="a")
    world = snapshot(fabric([[2, 2]]), one)
    terms = {
        term.name: term for term in TermScores(world).score(one, seats(one, ["a0", "b0"])).terms
    }
    alignment = terms["topologyAlignment"]
    assert dict(alignment.raw) == {
        "leaves": 2,
        "spines": 1,
        "fewest": 2,
        "pods": 2,
        "preferred": 1,
    }
    assert alignment.value == 500 * 2 // 3 + 250
    penalty = terms["domain"]
    assert (penalty.value, penalty.weight, penalty.points) == (500, -10_000, -8 * 10_000)


def test_failures_are_means_over_the_pods() -> None:
    """Nodes that fail 100 and 300 times in a thousand are worth 800 together."""
    hosts = (node("a0", "a", failure_permille=100), node("a1", "a", failure_permille=300))
    one = gang("g", 2)
    world = snapshot(Fabric((Leaf("a", "s0", hosts),)), one)
    terms = {
        term.name: term for term in TermScores(world).score(one, seats(one, ["a0", "a1"])).terms
    }
    assert dict(terms["historicalPerformance"].raw) == {"failures": 200}
    assert terms["historicalPerformance"].value == 800


def test_the_penalty_of_a_crowded_uplink() -> None:
    """Two nodes at 50 Mbit/s take the whole uplink of 100: the full 0.1, 16 GPUs per leaf."""
    one = gang("g", 4, bandwidth=50)
    world = snapshot(fabric([[2, 2]], uplink=100), one)
    score = TermScores(world).score(one, seats(one, ["a0", "a1", "b0", "b1"]))
    penalty = score.terms[-1]
    assert (penalty.name, penalty.value, penalty.weight) == ("bandwidth", 1000, -100)
    assert dict(penalty.raw) == {"asked": 100, "uplink": 100}
    assert penalty.points == -32 * 100


def test_points_add_up_to_the_objective() -> None:
    """Two gangs and a phantom: gang by gang, term by term, it is what the plan is worth."""
    busy = RunningPod("ops", "p", "b0", Resources(gpus=3))
    first, second = gang("f", 2), gang("s", 1, gpus=5)
    world = snapshot(
        fabric([[2, 2, 2]]),
        first,
        second,
        running=[busy],
        fragmentation={"weight": "0.1", "mix": [{"nodes": 2, "share": 1}]},
    )
    room = Phantom(2, 8, ("c0", "c1"), 1600)
    made = plan(world, {"f": ["a0", "a1"], "s": ["b0"]}, [room])
    gangs = {one.key: one for one in world.gangs}
    scorer = TermScores(world)
    points = [scorer.score(gangs[one.gang], one.pods).points for one in made.placements]
    assert sum(points) + shared_points(made) == made.objective
