"""Plans whose gangs stand where they may not."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.fabric import AdjacencyKind
from fourleaf.model.gang import Role, TopologyPolicy
from fourleaf.model.node import Taint
from fourleaf.model.node_constraint import NodeConstraint
from fourleaf.model.resources import Resources
from tests.small import Case, fabric, gang, node, one_leaf, plan, snapshot, with_bound


def cordoned() -> Case:
    """A node that takes nobody."""
    world = snapshot(one_leaf(node("a0", "a", cordoned=True), node("a1", "a")), gang("g", 1))
    return world, plan(world, {"g": ["a0"]})


def selector() -> Case:
    """A node without the label that the pod asks for."""
    fine = node("a1", "a", labels={"zone": "x"})
    role = Role(("p",), Resources(gpus=8), NodeConstraint(selector=(("zone", "x"),)))
    world = snapshot(one_leaf(node("a0", "a"), fine), replace(gang("g"), roles=(role,)))
    return world, plan(world, {"g": ["a0"]})


def taint() -> Case:
    """A tainted node."""
    tainted = node("a0", "a", taints=(Taint("team", "x", "NoSchedule"),))
    world = snapshot(one_leaf(tainted, node("a1", "a")), gang("g", 1))
    return world, plan(world, {"g": ["a0"]})


def slow_node() -> Case:
    """A node of unknown bandwidth for a gang that asks for some."""
    slow = node("a0", "a", bandwidth=None)
    world = snapshot(one_leaf(slow, node("a1", "a")), gang("g", 1, bandwidth=50))
    return world, plan(world, {"g": ["a0"]})


def foreign_domain() -> Case:
    """A leaf that the namespace may not use."""
    world = snapshot(fabric([[1, 1]]), gang("g", 1), namespaces={"ml": {"domains": ["b"]}})
    return world, plan(world, {"g": ["a0"]})


def not_adjacent() -> Case:
    """Two leaves with another in between."""
    world = snapshot(fabric([[2, 2, 2]]), gang("g", 4))
    return world, plan(world, {"g": ["a0", "a1", "c0", "c1"]})


def two_incomplete() -> Case:
    """Three nodes in each of two leaves of four, where one must be complete."""
    world = snapshot(fabric([[4, 4]]), gang("g", 6))
    return world, plan(world, {"g": ["a0", "a1", "a2", "b0", "b1", "b2"]})


def too_many_leaves() -> Case:
    """Two leaves for what one leaf holds."""
    world = snapshot(fabric([[2, 2]]), gang("g", 2))
    return world, plan(world, {"g": ["a0", "b0"]})


def across_boundary() -> Case:
    """The second and third leaf, where windows are aligned."""
    world = snapshot(fabric([[1, 1, 1, 1]], AdjacencyKind.ALIGNED), gang("g", 2))
    return world, plan(world, {"g": ["b0", "c0"]})


def no_edge() -> Case:
    """Neighbours in order that no given edge joins."""
    edges = [("a", "c")]
    world = snapshot(fabric([[1, 1, 1]], AdjacencyKind.EXPLICIT, edges), gang("g", 2))
    return world, plan(world, {"g": ["a0", "b0"]})


def two_spines() -> Case:
    """Two spines for what one spine holds."""
    world = snapshot(fabric([[1, 1], [1, 1]]), gang("g", 2))
    return world, plan(world, {"g": ["b0", "c0"]})


def spine_not_whole() -> Case:
    """Five nodes over two spines, neither of them filled."""
    world = snapshot(fabric([[2, 1], [2, 2]]), gang("g", 5))
    return world, plan(world, {"g": ["a0", "a1", "c0", "c1", "d0"]})


def preferred_two_spines() -> Case:
    """`Preferred` still keeps a gang in one spine."""
    one = gang("g", 2, policy=TopologyPolicy.PREFERRED)
    world = snapshot(fabric([[1, 1], [1, 1]]), one)
    return world, plan(world, {"g": ["b0", "c0"]})


def bound_too_far() -> Case:
    """The rest of a gang far from its bound member."""
    one, running = with_bound(gang("g", 2), "a0")
    world = snapshot(fabric([[2, 2, 2]]), one, running=running)
    return world, plan(world, {"g": ["c0"]})


def shared_node() -> Case:
    """Two members on one node of a gang that wants one per node."""
    world = snapshot(fabric([[2]]), gang("g", 2, gpus=1, one_per_node=True))
    return world, plan(world, {"g": ["a0", "a0"]})


def shared_with_bound() -> Case:
    """A member next to a bound one of a gang that wants one per node."""
    one, running = with_bound(gang("g", 2, gpus=1, one_per_node=True), "a0")
    world = snapshot(fabric([[2]]), one, running=running)
    return world, plan(world, {"g": ["a0"]})


def nodes_per_leaf() -> Case:
    """Two nodes of a leaf where one is the most, though one could hold both pods."""
    caps = {"maxNodesPerLeaf": 1}
    world = snapshot(fabric([[2]]), gang("g", 2, gpus=4), topologyConstraints=caps)
    return world, plan(world, {"g": ["a0", "a1"]})


def gpus_per_leaf() -> Case:
    """Sixteen GPUs in a leaf where eight are the most; no legal location has that either."""
    caps = {"maxGPUsPerLeaf": 8}
    world = snapshot(fabric([[2, 2]]), gang("g", 2), topologyConstraints=caps)
    return world, plan(world, {"g": ["a0", "a1"]})
