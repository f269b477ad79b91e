"""Plans that take more than there is, or state wrong numbers."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.gang import GangKey
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod
from tests.small import GIB, WHOLE, Case, fabric, gang, node, one_leaf, plan, snapshot


def gpus() -> Case:
    """Nine GPUs on a node of eight."""
    world = snapshot(fabric([[1]]), gang("g", 2, gpus=4), gang("h", 1, gpus=1))
    return world, plan(world, {"g": ["a0", "a0"], "h": ["a0"]})


def cpu() -> Case:
    """More CPU than a running pod leaves."""
    busy = RunningPod("ops", "daemon", "a0", Resources(cpu=3000))
    one = gang("g", 1, request=Resources(gpus=1, cpu=8000))
    world = snapshot(fabric([[1]]), one, running=[busy])
    return world, plan(world, {"g": ["a0"]})


def memory() -> Case:
    """More memory than a running pod leaves."""
    busy = RunningPod("ops", "daemon", "a0", Resources(memory=3 * GIB))
    one = gang("g", 1, request=Resources(gpus=1, memory=8 * GIB))
    world = snapshot(fabric([[1]]), one, running=[busy])
    return world, plan(world, {"g": ["a0"]})


def pod_slots() -> Case:
    """Two pods on a node with one slot left."""
    slots = one_leaf(node("a0", "a", allocatable=replace(WHOLE, pods=2)))
    busy = RunningPod("ops", "daemon", "a0", Resources())
    world = snapshot(slots, gang("g", 1, gpus=1), gang("h", 1, gpus=1), running=[busy])
    return world, plan(world, {"g": ["a0"], "h": ["a0"]})


def extended() -> Case:
    """Two pods on a node with one adapter."""
    adapters = one_leaf(node("a0", "a", allocatable=replace(WHOLE, extra=(("rdma/hca", 1),))))
    request = Resources(gpus=1, extra=(("rdma/hca", 1),))
    world = snapshot(adapters, gang("g", 1, request=request), gang("h", 1, request=request))
    return world, plan(world, {"g": ["a0"], "h": ["a0"]})


def host_port() -> Case:
    """One host port for two gangs on one node."""
    request = Resources(gpus=1, extra=(("hostport/TCP/4000", 1),))
    world = snapshot(fabric([[1]]), gang("g", 1, request=request), gang("h", 1, request=request))
    return world, plan(world, {"g": ["a0"], "h": ["a0"]})


def quota() -> Case:
    """Sixteen GPUs placed and eight running, with a quota of twenty."""
    busy = RunningPod("ml", "old", "a2", Resources(gpus=8))
    world = snapshot(
        fabric([[3]]), gang("g", 2), running=[busy], namespaces={"ml": {"gpuQuota": 20}}
    )
    return world, plan(world, {"g": ["a0", "a1"]})


def uplink() -> Case:
    """A gang of 60 Mbit/s next to a running one of 60, across uplinks of 100."""
    key = GangKey("ml", "old")
    running = [
        RunningPod("ml", f"old-{where}", where, Resources(), key, bandwidth=60)
        for where in ("a0", "b0")
    ]
    world = snapshot(
        fabric([[1, 1]], uplink=100), gang("g", 3, gpus=4, bandwidth=60), running=running
    )
    return world, plan(world, {"g": ["a0", "a0", "b0"]})


def wrong_terms() -> Case:
    """A term with a point too many."""
    world = snapshot(fabric([[1]]), gang("g", 1))
    good = plan(world, {"g": ["a0"]})
    (placement,) = good.placements
    (name, points), *rest = placement.terms
    return world, replace(good, placements=(replace(placement, terms=((name, points + 1), *rest)),))


def wrong_objective() -> Case:
    """An objective with a point too many."""
    world = snapshot(fabric([[1]]), gang("g", 1))
    good = plan(world, {"g": ["a0"]})
    return world, replace(good, objective=good.objective + 1)
