"""Gangs that would not start on the empty fabric: caps, rules and sizes."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.gang import GangKey, Role, TopologyPolicy
from fourleaf.model.node import Taint
from fourleaf.model.node_constraint import NodeConstraint
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.reasons.text import sentence
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod
from fourleaf.solver.explain.bound_elsewhere import BY_ITS_REPAIR
from fourleaf.solver.explain.too_large import PREFERRED
from tests.small import config, fabric, flat_fabric, gang, node, snapshot
from tests.solver.explain.asking import of_nodes, starts, why


def test_a_cap_that_leaves_no_place_is_named() -> None:
    """With one node a leaf, leaves of two hold two of three."""
    caps = {"maxNodesPerLeaf": 1}
    world = snapshot(fabric([[2, 2]]), gang("g", 3), topologyConstraints=caps)
    reason = why(world)
    assert reason.kind is ReasonKind.TOO_LARGE
    assert reason.counts == (("needed", 3), ("leaf", 1), ("spine", 2), ("total", 4))
    assert reason.unblock == ("raise maxNodesPerLeaf",)
    assert starts(replace(world, config=config()))


def test_a_rule_that_leaves_no_place_gives_way_to_preferred() -> None:
    """Four nodes on one leaf of two is what the rule forbids; the gang's own wish comes first."""
    rules = {"rules": [{"nodes": 4, "leaves": 1}]}
    world = snapshot(fabric([[2, 2, 2]]), gang("g", 4), topologyConstraints=rules)
    reason = why(world)
    assert reason.kind is ReasonKind.TOO_LARGE
    assert reason.counts == (
        ("needed", 4), ("leaf", 2), ("window", 2), ("spine", 4), ("total", 6),
    )  # fmt: skip
    assert reason.unblock == (
        "set topology-policy Preferred",
        "drop the rule for 4 nodes from topologyConstraints.rules",
        "set topology.windowSlack to 1",
    )
    assert starts(replace(world, gangs=(gang("g", 4, policy=TopologyPolicy.PREFERRED),)))
    assert starts(replace(world, config=config()))


def test_nodes_that_would_join_the_leaves_again_are_named() -> None:
    """Leaf b between a and c is away, tainted, or not chosen: no window holds four."""
    rules = {"rules": [{"nodes": 4, "leaves": 3}]}
    tainted = {"taints": (Taint("team", "x", "NoSchedule"),)}
    cases = (
        ({"cordoned": True}, {}, "bring b0 and b1 back into service"),
        (tainted, {}, "tolerate taint team=x"),
        ({}, {"labels": {"zone": "x"}}, "drop its node selector and affinity"),
    )
    for middle, outside, step in cases:
        nodes = [
            node(f"{leaf}{i}", leaf, **(middle if leaf == "b" else outside))
            for leaf in "abcd"
            for i in range(1 if leaf == "d" else 2)
        ]
        chosen = NodeConstraint(selector=tuple(outside.get("labels", {}).items()))
        pods = ("g-0", "g-1", "g-2", "g-3")
        role = Role(pods, Resources(gpus=8), chosen)
        world = snapshot(of_nodes(*nodes), gang("g", roles=(role,)), topologyConstraints=rules)
        reason = why(world)
        assert reason.kind is ReasonKind.TOO_LARGE
        assert reason.counts[:3] == (("needed", 4), ("leaf", 2), ("window", 3))
        assert reason.unblock == ("set topology-policy Preferred", step)


def test_a_gang_beyond_all_nodes_is_too_large() -> None:
    """Nothing refuses a node, there are only too few."""
    reason = why(snapshot(fabric([[2, 2]]), gang("g", 5)))
    assert reason.kind is ReasonKind.TOO_LARGE
    assert reason.counts == (("needed", 5), ("leaf", 2), ("spine", 4), ("total", 4))
    assert reason.unblock == ("add nodes for 1 more pod",)
    assert sentence(reason).endswith("needs 5 nodes, the fabric has 4")


def test_bound_members_on_leaves_too_far_apart_are_named() -> None:
    """Members on both leaves of a gang that belongs into one: the rest has no place."""
    role = Role(("g-2",), Resources(gpus=8), bound=(("g-0", "a0"), ("g-1", "b0")))
    key = GangKey("ml", "g")
    running = tuple(
        RunningPod("ml", name, host, Resources(gpus=8), key) for name, host in role.bound
    )
    world = snapshot(fabric([[3, 3]]), gang("g", roles=(role,)), running=running)
    reason = why(world)
    assert reason.kind is ReasonKind.BOUND_ELSEWHERE
    assert reason.detail == "on a0 and b0"
    assert reason.counts == (("bound", 2), ("needed", 1))
    assert reason.unblock == (BY_ITS_REPAIR, PREFERRED, "evict g-1 on b0")
    preferred = gang("g", roles=(role,), policy=TopologyPolicy.PREFERRED)
    assert starts(replace(world, gangs=(preferred,)))
    left = Role(("g-1", "g-2"), Resources(gpus=8), bound=(("g-0", "a0"),))
    assert starts(replace(world, gangs=(gang("g", roles=(left,)),), running=running[:1]))


def test_no_cap_of_a_leaf_holds_where_no_node_names_one() -> None:
    """The seeds' 4 nodes and 32 GPUs a leaf leave a gang of 8 its place in a flat fabric."""
    caps = {"maxNodesPerLeaf": 4, "maxGPUsPerLeaf": 32}
    world = snapshot(flat_fabric(8), gang("g", 8), topologyConstraints=caps)
    assert starts(world)
    one_leaf = replace(world, fabric=replace(world.fabric, unlabelled=frozenset()))
    assert why(one_leaf).kind is ReasonKind.TOO_LARGE
