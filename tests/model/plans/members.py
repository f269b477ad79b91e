"""Plans whose gangs are not whole, not known, or not of the batch."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.gang import GangKey, Hold
from fourleaf.model.plan import Move, Placement
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod
from tests.small import Case, fabric, gang, plan, snapshot, with_bound


def unknown_gang() -> Case:
    """A placement of a gang that nobody knows."""
    world = snapshot(fabric([[2]]), gang("g", 1))
    good = plan(world, {"g": ["a0"]})
    stranger = Placement(GangKey("ml", "ghost"), (("p", "a1"),))
    return world, replace(good, placements=(*good.placements, stranger))


def unknown_pod() -> Case:
    """A pod too many."""
    world = snapshot(fabric([[2]]), gang("g", 1))
    good = plan(world, {"g": ["a0"]})
    (placement,) = good.placements
    return world, replace(
        good, placements=(replace(placement, pods=(*placement.pods, ("ghost", "a1"))),)
    )


def unknown_node() -> Case:
    """A node that the fabric does not have."""
    world = snapshot(fabric([[2]]), gang("g", 1))
    good = plan(world, {"g": ["a0"]})
    (placement,) = good.placements
    return world, replace(good, placements=(replace(placement, pods=(("g-0-0", "z9"),)),))


def forgotten() -> Case:
    """A gang that neither stands nor waits."""
    world = snapshot(fabric([[2]]), gang("g", 1), gang("h", 1))
    return world, replace(plan(world, {"g": ["a0"]}), waiting=())


def placed_and_waiting() -> Case:
    """A gang that does both."""
    world = snapshot(fabric([[2]]), gang("g", 1))
    return world, replace(plan(world, {"g": ["a0"]}), waiting=plan(world, {}).waiting)


def partial() -> Case:
    """A gang with one member left out."""
    world = snapshot(fabric([[2]]), gang("g", 2))
    good = plan(world, {"g": ["a0", "a1"]})
    (placement,) = good.placements
    return world, replace(good, placements=(replace(placement, pods=placement.pods[:1]),))


def twice() -> Case:
    """A member on two nodes."""
    world = snapshot(fabric([[3]]), gang("g", 1))
    good = plan(world, {"g": ["a0"]})
    (placement,) = good.placements
    return world, replace(
        good, placements=(replace(placement, pods=(("g-0-0", "a0"), ("g-0-0", "a1"))),)
    )


def out_of_order() -> Case:
    """Members not in rank order."""
    world = snapshot(fabric([[2]]), gang("g", 2))
    good = plan(world, {"g": ["a0", "a1"]})
    (placement,) = good.placements
    return world, replace(good, placements=(replace(placement, pods=placement.pods[::-1]),))


def held() -> Case:
    """A gang with a hold is placed."""
    world = snapshot(fabric([[2]]), gang("g", 1, hold=Hold("Gated", "a gate")))
    return world, plan(world, {"g": ["a0"]})


def beyond_batch() -> Case:
    """The younger of two gangs is placed where the batch takes one."""
    world = snapshot(fabric([[2]]), gang("g", 1, created=0.0), gang("h", 1), batch={"size": 1})
    return world, plan(world, {"h": ["a0"]})


def beyond_namespace() -> Case:
    """Three members are placed where a batch takes two of the namespace."""
    world = snapshot(fabric([[4]]), gang("g", 3), namespaces={"ml": {"maxMembers": 2}})
    return world, plan(world, {"g": ["a0", "a1", "a2"]})


def bound_again() -> Case:
    """A bound member is placed again."""
    one, running = with_bound(gang("g", 2), "a0")
    world = snapshot(fabric([[3]]), one, running=running)
    good = plan(world, {"g": ["a1"]})
    (placement,) = good.placements
    again = replace(placement, pods=(("g-0-0", "a2"), *placement.pods))
    return world, replace(good, placements=(again,))


def moved() -> Case:
    """A running pod is moved."""
    busy = RunningPod("ops", "p", "a0", Resources(gpus=1))
    world = snapshot(fabric([[2]]), running=[busy])
    return world, replace(plan(world, {}), moves=(Move("ops", "p", "a0", "a1", "because"),))
