"""Legal plans at the edges of the rules."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.fabric import AdjacencyKind
from fourleaf.model.gang import Role, TopologyPolicy
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod
from tests.small import Case, fabric, flat_fabric, gang, plan, snapshot, with_bound


def ring() -> Case:
    """The last leaf and the first, on a ring."""
    world = snapshot(fabric([[1, 1, 1]], AdjacencyKind.RING), gang("g", 2))
    return world, plan(world, {"g": ["c0", "a0"]})


def aligned() -> Case:
    """The third and fourth leaf, where windows are aligned."""
    world = snapshot(fabric([[1, 1, 1, 1]], AdjacencyKind.ALIGNED), gang("g", 2))
    return world, plan(world, {"g": ["c0", "d0"]})


def explicit() -> Case:
    """Leaves along given edges, out of their order."""
    edges = [("a", "d"), ("d", "b")]
    world = snapshot(fabric([[2, 1, 1, 2]], AdjacencyKind.EXPLICIT, edges), gang("g", 5))
    return world, plan(world, {"g": ["a0", "a1", "d0", "d1", "b0"]})


def either_end() -> Case:
    """The incomplete leaf at the front."""
    world = snapshot(fabric([[4, 4]]), gang("g", 5))
    return world, plan(world, {"g": ["a3", "b0", "b1", "b2", "b3"]})


def slack() -> Case:
    """One leaf more than needed, where the config allows it."""
    world = snapshot(fabric([[2, 4, 2]]), gang("g", 4), topology={"windowSlack": 1})
    return world, plan(world, {"g": ["a0", "a1", "b0", "b1"]})


def exception() -> Case:
    """Two leaves for gangs of two nodes, where a rule says so."""
    rules = {"rules": [{"nodes": 2, "leaves": 2}]}
    world = snapshot(fabric([[1, 2]]), gang("g", 2), topologyConstraints=rules)
    return world, plan(world, {"g": ["a0", "b0"]})


def whole_spines() -> Case:
    """A whole spine and a window for the rest in the next."""
    world = snapshot(fabric([[2, 1], [2, 2]]), gang("g", 5))
    return world, plan(world, {"g": ["a0", "a1", "b0", "d0", "d1"]})


def preferred() -> Case:
    """`Preferred` takes leaves that are not adjacent and not complete."""
    one = gang("g", 2, policy=TopologyPolicy.PREFERRED)
    world = snapshot(fabric([[2, 2, 2]]), one)
    return world, plan(world, {"g": ["a0", "c0"]})


def roles() -> Case:
    """Workers and a launcher without GPUs on a full node."""
    workers = Role(("w0", "w1"), Resources(gpus=8))
    launcher = Role(("l",), Resources(cpu=100))
    world = snapshot(fabric([[2]]), replace(gang("g"), roles=(workers, launcher)))
    return world, plan(world, {"g": ["a0", "a1", "a1"]})


def completes_bound() -> Case:
    """The rest of a gang next to its bound member."""
    one, running = with_bound(gang("g", 2), "a0")
    world = snapshot(fabric([[2, 2]]), one, running=running)
    return world, plan(world, {"g": ["a1"]})


def own_uplink() -> Case:
    """A gang that runs in part already pays for its uplinks once."""
    one, running = with_bound(gang("g", 4, gpus=4, bandwidth=60), "a0", "a0", "b0")
    world = snapshot(fabric([[1, 1]], uplink=100), one, running=running)
    return world, plan(world, {"g": ["b0"]})


def overcommitted() -> Case:
    """A node without CPU left still takes a pod that asks for none."""
    busy = RunningPod("ops", "p", "a0", Resources(cpu=12_000))
    world = snapshot(fabric([[1]]), gang("g", 1), running=[busy])
    return world, plan(world, {"g": ["a0"]})


def flat() -> Case:
    """Where no node names a leaf the caps of a leaf cap nothing."""
    caps = {"maxNodesPerLeaf": 1, "maxGPUsPerLeaf": 8}
    world = snapshot(flat_fabric(2), gang("g", 2), topologyConstraints=caps)
    return world, plan(world, {"g": ["n0", "n1"]})
