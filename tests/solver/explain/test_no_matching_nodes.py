"""No node is eligible: which law refuses how many, and which one to relax."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, Role
from fourleaf.model.node import GPU_SOURCE_LABEL, OF_DEVICE_MAPS, OF_INVENTORY, Node, Taint
from fourleaf.model.node_constraint import NodeConstraint, Operator, Requirement, Toleration
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.reasons.text import sentence
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from tests.small import GIB, config, fabric, gang, node, snapshot
from tests.solver.explain.asking import bert, of_nodes, starts, why


@dataclass(frozen=True)
class Never:
    """Allow no node whose name starts with r."""

    name: str = "no-r"

    def allows(self, gang: Gang, role: Role, node: Node) -> bool:
        """Judge by the first letter."""
        return not node.name.startswith("r")


def test_every_law_is_counted_by_the_nodes_it_refuses_first() -> None:
    """One node for each law, and one that is refused by two and counted for the first."""
    labels = {"zone": "x"}
    small = Resources(gpus=4, cpu=10_000, memory=10 * GIB, pods=10)
    nodes = (
        node("c0", "a", cordoned=True, labels=labels),
        node("c1", "a", cordoned=True),
        node("n0", "a", ready=False, labels=labels),
        node("w0", "a", sealed=True, labels=labels),
        node("s0", "a"),
        node("t0", "a", labels=labels, taints=(Taint("team", "y", "NoSchedule"),)),
        node("b0", "a", labels=labels, bandwidth=None),
        node("d0", "z", labels=labels),
        node("m0", "a", labels=labels, allocatable=small),
        node("r0", "a", labels=labels),
    )
    constraint = NodeConstraint(selector=(("zone", "x"),))
    role = Role(("g-0",), Resources(gpus=8), constraint)
    world = snapshot(
        of_nodes(*nodes),
        gang("g", 1, roles=(role,), bandwidth=100),
        namespaces={"ml": {"domains": ["a"]}},
    )
    reason = why(world, Extensions(rules=(Never(),)))
    assert reason.kind is ReasonKind.NO_MATCHING_NODES
    assert dict(reason.counts) == {
        "needed": 1, "eligible": 0, "total": 10, "cordoned": 2, "notReady": 1, "sealed": 1,
        "selector": 1, "taint": 1, "bandwidth": 1, "domain": 1, "tooSmall": 1, "rule no-r": 1,
    }  # fmt: skip
    assert reason.unblock == (
        "uncordon c0",
        "bring n0 back to ready",
        "mend the scheduler's record of w0, which its log names (record_sealed, record_unreadable "
        "or page_not_written)",
        "1 more node would match without the selector zone=x",
        "tolerate taint team=y",
        "1 node does not state its bandwidth: "
        "label nodes topology.scheduler/network-bandwidth or set network.nodeBandwidth",
        "add leaf z to namespaces.ml.domains",
        "ask for at most 4 GPUs per pod",
        "let rule no-r allow r0",
    )


def test_a_taint_tolerated_as_advised_lets_the_gang_start() -> None:
    """Two tainted nodes of three make a pair too large until the taint is tolerated."""
    taints = (Taint("team", "x", "NoSchedule"),)
    nodes = [node("a0", "a"), *(node(f"a{i}", "a", taints=taints) for i in (1, 2))]
    world = snapshot(of_nodes(*nodes), gang("g", 2))
    reason = why(world)
    assert reason.kind is ReasonKind.NO_MATCHING_NODES
    assert reason.counts == (("needed", 2), ("eligible", 1), ("total", 3), ("taint", 2))
    assert reason.unblock == ("tolerate taint team=x",)
    tolerant = NodeConstraint(tolerations=(Toleration("team", value="x"),))
    role = Role(("g-0", "g-1"), Resources(gpus=8), tolerant)
    assert starts(replace(world, gangs=(gang("g", roles=(role,)),)))


def test_the_selector_that_is_in_the_way_is_named_with_the_product_it_costs() -> None:
    """Of two selectors the one that refuses the nodes is named."""
    labels = {"zone": "x", "nvidia.com/gpu.product": "A100"}
    nodes = [node(f"a{i}", "a", labels=labels, product="A100") for i in range(3)]
    chosen = NodeConstraint(selector=(("nvidia.com/gpu.product", "H100"), ("zone", "x")))
    roles = (Role(("g-0", "g-1"), Resources(gpus=8), chosen),)
    world = snapshot(of_nodes(*nodes), gang("g", roles=roles))
    step = (
        "3 more nodes of product A100 would match without the selector nvidia.com/gpu.product=H100"
    )
    assert why(world).unblock == (step,)
    assert why(replace(world, running=bert("a0", "a1", "a2"))).unblock == (step,), (
        "what matches is said, not what is free: it holds for as long as the answer is kept"
    )


def test_laws_that_only_matter_together_are_advised_together() -> None:
    """A cordoned node with a foreign taint needs both steps, in one piece of advice."""
    tainted = node("a0", "a", cordoned=True, taints=(Taint("team", "x", "NoExecute"),))
    world = snapshot(of_nodes(tainted), gang("g", 1))
    assert why(world).unblock == ("uncordon a0 and tolerate taint team=x",)


def test_a_bandwidth_that_no_node_states_is_said_so() -> None:
    """Where that is to be stated, doing so for all nodes, as advised, lets the gang start."""
    nodes = [node(f"a{i}", "a", bandwidth=None) for i in range(2)]
    world = snapshot(of_nodes(*nodes), gang("g", 2, bandwidth=100), network={"requireStated": True})
    assert why(world).unblock == (
        "no node states its bandwidth: "
        "label nodes topology.scheduler/network-bandwidth or set network.nodeBandwidth",
    )
    assert starts(replace(world, config=config(network={"nodeBandwidth": "100Mb"})))


def test_a_node_feature_is_named_as_the_annotation_names_it() -> None:
    """The label that stands for it is not what the team has written."""
    chosen = NodeConstraint(selector=(("topology.scheduler/cufile", "true"),))
    world = snapshot(
        of_nodes(node("a0", "a")), gang("g", roles=(Role(("g-0",), Resources(gpus=8), chosen),))
    )
    assert why(world).unblock == ("1 more node would match without the node feature cufile",)


def test_affinity_and_selector_are_named_where_both_must_go() -> None:
    """Neither condition alone is what keeps the gang off."""
    chosen = NodeConstraint(
        selector=(("zone", "x"),), affinity=((Requirement("disk", Operator.EXISTS),),)
    )
    world = snapshot(
        of_nodes(node("a0", "a")), gang("g", roles=(Role(("g-0",), Resources(gpus=8), chosen),))
    )
    assert why(world).unblock == (
        "1 more node would match without the selector zone=x and the required node affinity",
    )


def test_several_taints_are_named_together() -> None:
    """Two nodes with a taint each, both needed."""
    nodes = [
        node(f"a{i}", "a", taints=(Taint(key, "", "NoSchedule"),)) for i, key in enumerate("xy")
    ]
    assert why(snapshot(of_nodes(*nodes), gang("g", 2))).unblock == ("tolerate taints x and y",)


def test_a_spine_is_named_where_no_leaf_is_enough() -> None:
    """The gang needs both leaves of the other spine."""
    nodes = [node("a0", "a"), node("b0", "b", "s1"), node("c0", "c", "s1")]
    world = snapshot(of_nodes(*nodes), gang("g", 2), namespaces={"ml": {"domains": ["none"]}})
    assert why(world).unblock == ("add spine s1 to namespaces.ml.domains",)
    opened = config(namespaces={"ml": {"domains": ["none", "s1"]}})
    assert starts(replace(world, config=opened))


BY_CLASS = (
    "what a DeviceClass gives by that name (extendedResourceName) is to be asked for by a "
    "ResourceClaim"
)


@pytest.mark.parametrize(
    ("request_", "step"),
    [
        (Resources(cpu=20_000), "ask for at most 10000m of CPU per pod"),
        (Resources(memory=20 * GIB), "ask for at most 10Gi of memory per pod"),
        (
            Resources(extra=(("rdma/hca", 2),)),
            f"run the device plugin of rdma/hca, which no node announces; {BY_CLASS}",
        ),
        (
            Resources(extra=(("rdma/hca", 2), ("rdma/nic", 1))),
            f"run the device plugins of rdma/hca and rdma/nic, which no node announces; {BY_CLASS}",
        ),
        (
            Resources(gpus=9, extra=(("rdma/hca", 2),)),
            "add nodes for 1 more pod that meet what it asks for",
        ),
        (Resources(extra=(("hostport/TCP/80", 2),)), "ask for at most 1 hostport/TCP/80 per pod"),
        (Resources(gpus=9, cpu=20_000), "add nodes for 1 more pod that meet what it asks for"),
    ],
)
def test_a_request_beyond_every_node_is_cut_to_what_nodes_offer(
    request_: Resources, step: str
) -> None:
    """The one amount that is too large is named; where two are, only other nodes help."""
    reason = why(snapshot(fabric([[1]]), gang("g", 1, request=request_)))
    assert reason.kind is ReasonKind.NO_MATCHING_NODES
    assert reason.unblock == (step,)


def test_less_is_asked_for_where_a_node_holds_more_of_smaller_pods() -> None:
    """6 pods of 56 slices on four nodes of 56, beside three of none: two of 28 share a node."""
    slices = "nvidia.com/mig-1g.10gb"

    def of(name: str, amount: int) -> Node:
        extra = ((slices, amount),) if amount else ()
        return node(name, "a", allocatable=Resources(cpu=64_000, memory=GIB, pods=9, extra=extra))

    def world(amount: int) -> Snapshot:
        waits = gang("g", 6, request=Resources(cpu=1_000, extra=((slices, amount),)))
        mig = [of(f"m{i}", 56) for i in range(4)]
        return snapshot(of_nodes(*mig, *(of(f"n{i}", 0) for i in range(3))), waits)

    assert why(world(56)).unblock == (f"ask for at most 28 {slices} per pod",)
    assert starts(world(28))
    assert not starts(world(29))


def test_a_resource_that_some_node_announces_is_none_of_a_device_class() -> None:
    """One node has it and is too small for two: nothing is said of DeviceClasses."""
    some = node("a0", "a", allocatable=Resources(gpus=8, cpu=1, memory=1, extra=(("rdma/hca", 1),)))
    request = Resources(extra=(("rdma/hca", 2),))
    world = snapshot(of_nodes(some), gang("g", 1, request=request))
    assert why(world).unblock == ("ask for at most 1 rdma/hca per pod",)


def test_less_bandwidth_is_advised_where_nodes_state_theirs() -> None:
    """The most that enough nodes have is named."""
    nodes = [node(f"a{i}", "a", bandwidth=100 * i) for i in (1, 2, 3)]
    world = snapshot(of_nodes(*nodes), gang("g", 2, bandwidth=300))
    assert why(world).unblock == ("ask for at most 200 Mbit/s per node",)
    assert starts(replace(world, gangs=(gang("g", 2, bandwidth=200),)))


def test_roles_that_do_not_fit_together_are_short_of_nodes() -> None:
    """Two roles that each find the only node wait for a second one, cordoned now."""
    world = snapshot(of_nodes(node("a0", "a"), node("a1", "a", cordoned=True)), gang("g", 1, 1))
    reason = why(world)
    assert reason.kind is ReasonKind.NO_MATCHING_NODES
    assert reason.counts == (("needed", 1), ("eligible", 0), ("total", 2), ("cordoned", 1))
    assert reason.unblock == ("uncordon a1",)


def test_nodes_that_are_refused_for_want_of_a_leaf_are_told() -> None:
    """Of two nodes one takes pods and is small; the advice for the other stands beside its own."""
    small = node("a0", "a", allocatable=Resources(gpus=4, cpu=1, memory=1, pods=1))
    where = replace(of_nodes(small), refused=frozenset({"n1"}))
    reason = why(snapshot(where, gang("g", 1)))
    assert dict(reason.counts)["noLeaf"] == 1
    assert "1 node without a leaf, which the config refuses" in sentence(reason)
    assert reason.unblock == (
        "ask for at most 4 GPUs per pod",
        "label n1 with its leaf, or set spec.topology.unlabelled to isolate: "
        "without a leaf it takes no pods",
    )


def test_nodes_whose_gpus_no_device_plugin_announces_are_told_apart() -> None:
    """Who asks by resource can use neither, who asks by claim the one with an inventory alone."""
    sources = {"n0": OF_INVENTORY, "n1": OF_DEVICE_MAPS}
    nodes = [node(name, "a", labels={GPU_SOURCE_LABEL: of}) for name, of in sources.items()]
    by_name = NodeConstraint(selector=((GPU_SOURCE_LABEL, "nvidia.com/gpu"),))
    role = Role(("g-0",), Resources(gpus=1), by_name)
    reason = why(snapshot(of_nodes(*nodes), gang("g", 1, roles=(role,))))
    assert "2 nodes whose GPUs no device plugin announces" in sentence(reason)
    assert reason.unblock == (
        "run a device plugin on n0 and n1, or ask by a device map and not for nvidia.com/gpu",
    )
    sure = Requirement(GPU_SOURCE_LABEL, Operator.NOT_IN, (OF_DEVICE_MAPS,))
    role = Role(("g-0", "g-1"), Resources(gpus=8), NodeConstraint(affinity=((sure,),)))
    reason = why(snapshot(of_nodes(*nodes), gang("g", 2, roles=(role,))))
    assert dict(reason.counts)["unannounced"] == 1
    assert reason.unblock == ("run the agent on n1, or name devices there by a device map",)
