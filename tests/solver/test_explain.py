"""Why gangs wait: kinds, counts, nearest misses and advice, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from model.config import SchedulerConfig
from model.constraint import NodeConstraint, Operator, Requirement, Toleration
from model.extensions import Extensions
from model.fabric import Fabric, Leaf
from model.gang import Gang, GangKey, Hold, Role, TopologyPolicy
from model.node import Node, Taint
from model.plan import Move, Plan, PlanStatus, Waiting
from model.reasons import NearMiss, Reason, ReasonKind
from model.reasons_text import sentence
from model.resources import Resources
from model.snapshot import RunningPod, Snapshot
from solver.explain import explain
from solver.greedy import greedy_plan
from tests.instances import snapshots
from tests.small import GIB, WHOLE, config, fabric, gang, node, snapshot

HELD = (ReasonKind.GATED, ReasonKind.MEMBERS_MISSING, ReasonKind.UNSUPPORTED, ReasonKind.INVALID)


def reasons(world: Snapshot, extensions: Extensions | None = None) -> dict[str, Reason]:
    """Reasons of the gangs that greedy leaves waiting, by name."""
    extensions = extensions or Extensions()
    plan = explain(world, greedy_plan(world, extensions), extensions)
    return {entry.gang.name: entry.reason for entry in plan.waiting}


def why(world: Snapshot, extensions: Extensions | None = None) -> Reason:
    """The reason of the only gang that waits."""
    (reason,) = reasons(world, extensions).values()
    return reason


def starts(world: Snapshot, extensions: Extensions | None = None) -> bool:
    """Whether greedy places every gang."""
    plan = greedy_plan(world, extensions or Extensions())
    return not plan.waiting


def pod(name: str, host: str, gpus: int = 8, **fields: Any) -> RunningPod:
    """Make a running pod of namespace `hpc`."""
    return RunningPod("hpc", name, host, **{"request": Resources(gpus=gpus), **fields})


def bert(*hosts: str, **fields: Any) -> tuple[RunningPod, ...]:
    """Make the running gang `hpc/bert` with a pod on each host."""
    key = GangKey("hpc", "bert")
    return tuple(pod(f"bert-{i}", host, gang=key, **fields) for i, host in enumerate(hosts))


def of_nodes(*nodes: Node) -> Fabric:
    """Make a fabric of these nodes, each in its leaf and spine."""
    leaves: dict[tuple[str, str], list[Node]] = {}
    for one in nodes:
        leaves.setdefault((one.leaf, one.spine), []).append(one)
    return Fabric(tuple(Leaf(*names, tuple(members)) for names, members in leaves.items()))


# --- what the plan did not consider


@pytest.mark.parametrize("kind", HELD)
def test_a_hold_is_passed_on_as_it_is(kind: ReasonKind) -> None:
    """What the readers found keeps its kind, detail, counts and advice."""
    hold = Hold(kind, "what they found", (("present", 1),), ("Do this.",))
    world = snapshot(fabric([[4]]), gang("a", 1, hold=hold))
    assert why(world) == Reason(kind, "what they found", (("present", 1),), unblock=("Do this.",))


def test_gangs_behind_the_batch_know_how_many_come_first() -> None:
    """Both the batch and those that wait for the next one count as ahead."""
    gangs = [gang(name, 1, created=float(i)) for i, name in enumerate("abc")]
    world = snapshot(fabric([[4]]), *gangs, batch={"size": 1})
    found = reasons(world)
    assert found["b"].kind is ReasonKind.NOT_IN_BATCH
    assert found["b"].counts == (("ahead", 1), ("batch", 1))
    assert found["c"].counts == (("ahead", 2), ("batch", 1))
    assert found["c"].unblock == ("raise batch.size to 3",)
    assert starts(replace(world, config=config(batch={"size": 3})))


@pytest.mark.parametrize(
    ("policy", "counts", "raised"),
    [
        ({"maxGangs": 1}, (("limit", 1), ("gangs", 1)), {"maxGangs": 2}),
        ({"maxMembers": 3}, (("limit", 3), ("members", 2), ("needed", 2)), {"maxMembers": 4}),
    ],
)
def test_a_namespace_takes_its_share_of_a_batch(
    policy: dict[str, int], counts: tuple[tuple[str, int], ...], raised: dict[str, int]
) -> None:
    """The limit that is met is counted, and raising it as advised lets the gang start."""
    gangs = (gang("a", 2, created=1.0), gang("b", 2, created=2.0))
    world = snapshot(fabric([[4]]), *gangs, namespaces={"ml": policy})
    reason = why(world)
    (field,) = policy
    assert reason.kind is ReasonKind.NAMESPACE_LIMIT
    assert reason.counts == counts
    assert f"namespaces.ml.{field}" in reason.unblock[0]
    assert starts(replace(world, config=config(namespaces={"ml": raised})))


# --- eligible nodes


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
        "needed": 1, "eligible": 0, "total": 9, "cordoned": 2, "notReady": 1, "selector": 1,
        "taint": 1, "bandwidth": 1, "domain": 1, "tooSmall": 1, "rule no-r": 1,
    }  # fmt: skip
    assert reason.unblock == (
        "uncordon c0",
        "bring n0 back to ready",
        "1 node would fit without the selector zone=x",
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
    assert why(world).unblock == (
        "3 nodes of product A100 would fit without the selector nvidia.com/gpu.product=H100",
    )


def test_laws_that_only_matter_together_are_advised_together() -> None:
    """A cordoned node with a foreign taint needs both steps, in one piece of advice."""
    tainted = node("a0", "a", cordoned=True, taints=(Taint("team", "x", "NoExecute"),))
    world = snapshot(of_nodes(tainted), gang("g", 1))
    assert why(world).unblock == ("uncordon a0 and tolerate taint team=x",)


def test_a_bandwidth_that_no_node_states_is_said_so() -> None:
    """Stating it for all nodes in the config, as advised, lets the gang start."""
    nodes = [node(f"a{i}", "a", bandwidth=None) for i in range(2)]
    world = snapshot(of_nodes(*nodes), gang("g", 2, bandwidth=100))
    assert why(world).unblock == (
        "no node states its bandwidth: "
        "label nodes topology.scheduler/network-bandwidth or set network.nodeBandwidth",
    )
    assert starts(replace(world, config=config(network={"nodeBandwidth": "100Mb"})))


def test_affinity_and_selector_are_named_where_both_must_go() -> None:
    """Neither condition alone is what keeps the gang off."""
    chosen = NodeConstraint(
        selector=(("zone", "x"),), affinity=((Requirement("disk", Operator.EXISTS),),)
    )
    world = snapshot(
        of_nodes(node("a0", "a")), gang("g", roles=(Role(("g-0",), Resources(gpus=8), chosen),))
    )
    assert why(world).unblock == (
        "1 node would fit without the selector zone=x and the required node affinity",
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


@pytest.mark.parametrize(
    ("request_", "step"),
    [
        (Resources(cpu=20_000), "ask for at most 10000m of CPU per pod"),
        (Resources(memory=20 * GIB), "ask for at most 10Gi of memory per pod"),
        (Resources(extra=(("rdma/hca", 2),)), "ask for no rdma/hca per pod"),
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


# --- the empty fabric


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
    assert reason.unblock == ("set topology-policy Preferred", "evict g-1 on b0")
    preferred = gang("g", roles=(role,), policy=TopologyPolicy.PREFERRED)
    assert starts(replace(world, gangs=(preferred,)))
    left = Role(("g-1", "g-2"), Resources(gpus=8), bound=(("g-0", "a0"),))
    assert starts(replace(world, gangs=(gang("g", roles=(left,)),), running=running[:1]))


# --- what is shared


def test_quota_counts_what_runs_and_what_is_placed() -> None:
    """8 GPUs run, 16 are placed first, and 16 more do not fit into a quota of 32."""
    gangs = (gang("a", 2, created=1.0), gang("b", 2, created=2.0))
    running = (RunningPod("ml", "p", "a0", Resources(gpus=8)),)
    quota = {"ml": {"gpuQuota": 32}}
    world = snapshot(fabric([[4, 4]]), *gangs, running=running, namespaces=quota)
    reason = why(world)
    assert reason.kind is ReasonKind.QUOTA_EXCEEDED
    assert reason.detail == "ml"
    assert reason.counts == (
        ("needed", 16), ("quota", 32), ("used", 24), ("running", 8), ("placed", 16),
    )  # fmt: skip
    assert reason.unblock == ("raise namespaces.ml.gpuQuota to 40",)
    assert starts(replace(world, config=config(namespaces={"ml": {"gpuQuota": 40}})))


def test_a_quota_is_not_all_that_is_in_the_way() -> None:
    """A raised quota alone leaves the gang without two nodes of a leaf: the advice says both."""
    ends = (pod("p", "a0"), pod("q", "b0"))
    policy = {"ml": {"gpuQuota": 8}}
    world = snapshot(fabric([[2, 2]]), gang("g", 2), running=ends, namespaces=policy)
    reason = why(world)
    assert reason.kind is ReasonKind.QUOTA_EXCEEDED
    (quota, *_) = reason.unblock[0].split(", and then ")
    assert quota == "raise namespaces.ml.gpuQuota to 16"
    raised = replace(world, config=config(namespaces={"ml": {"gpuQuota": 16}}))
    then = why(raised)
    assert then.kind is ReasonKind.NO_ADJACENT_LEAVES
    assert reason.unblock == tuple(f"{quota}, and then {step}" for step in then.unblock)
    assert "hpc/p" in reason.unblock[0]
    assert starts(replace(raised, running=ends[1:]))


def test_a_full_uplink_is_shown_with_the_gang_that_crosses_it() -> None:
    """The running gang takes 100 of 250 Mbit/s on both leaves; two nodes a leaf want 200."""
    world = snapshot(
        fabric([[3, 3]], uplink=250),
        gang("g", 4, bandwidth=100),
        running=bert("a0", "b0", bandwidth=100),
        topologyConstraints={"maxNodesPerLeaf": 2},
    )
    reason = why(world)
    assert reason.kind is ReasonKind.UPLINK_FULL
    assert reason.counts == (("asked", 200), ("free", 150))
    assert reason.near == (
        NearMiss("a", 150, 200, "Mbit/s", (("a0", "hpc/bert-0"),)),
        NearMiss("b", 150, 200, "Mbit/s", (("b0", "hpc/bert-1"),)),
    )
    assert reason.unblock == (
        "it starts when hpc/bert ends",
        "raise network.uplinks of a to 300 Mbit/s and b to 300 Mbit/s",
    )
    assert starts(replace(world, running=()))
    assert starts(replace(world, fabric=fabric([[3, 3]], uplink=300)))


@pytest.mark.parametrize(
    ("uplink", "also"),
    [(200, ""), (150, ", with network.uplinks of a to 200 Mbit/s and b to 200 Mbit/s")],
)
def test_waiting_for_nodes_includes_waiting_for_uplinks(uplink: int, also: str) -> None:
    """A pod holds a node and bert, without GPUs, the uplinks: both have to end."""
    no_gpus = Resources(pods=1)
    running = (pod("x", "a0"), *bert("a1", "b1", bandwidth=100, request=no_gpus))
    where = fabric([[2, 2]], uplink=uplink)
    world = snapshot(where, gang("g", 4, bandwidth=100), running=running)
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert reason.near == (
        NearMiss("a", 1, 2, holders=(("a0", "hpc/x"),)),
        NearMiss("b", 2, 2),
    )
    assert reason.unblock == (f"it starts when hpc/x and hpc/bert end{also}",)
    assert starts(replace(world, running=(), fabric=fabric([[2, 2]], uplink=200)))
    assert not starts(replace(world, running=running[1:]))


def test_an_uplink_taken_by_a_gang_of_the_plan_outranks() -> None:
    """Nodes are free for both gangs, the uplinks carry one."""
    gangs = [gang(name, 2, priority=p, bandwidth=100) for name, p in (("a", 1), ("g", 0))]
    caps = {"maxNodesPerLeaf": 1}
    world = snapshot(fabric([[2, 2]], uplink=150), *gangs, topologyConstraints=caps)
    reason = why(world)
    assert reason.kind is ReasonKind.OUTRANKED
    assert reason.detail == "ml/a (priority 1)"
    assert reason.unblock == ("raise its priority above 1", "it starts when ml/a ends")
    assert starts(replace(world, fabric=fabric([[2, 2]], uplink=200)))


# --- what is busy


def test_the_nearest_window_is_shown_leaf_by_leaf() -> None:
    """One node is held in each of b, c and d: a and b together lack one, the others two."""
    running = (*bert("b1"), pod("x", "c0"), pod("y", "d0"))
    world = snapshot(fabric([[2, 2, 2, 2]]), gang("g", 4), running=running)
    reason = why(world)
    assert reason.kind is ReasonKind.NO_ADJACENT_LEAVES
    assert reason.counts == (
        ("leaves", 2), ("needed", 4), ("free", 5), ("anywhere", 5), ("best", 3),
    )  # fmt: skip
    assert reason.near == (
        NearMiss("a", 2, 2),
        NearMiss("b", 1, 2, holders=(("b1", "hpc/bert-0"),)),
    )
    assert reason.unblock == (
        "it starts when hpc/bert ends",
        "topology-policy Preferred would place it now",
    )
    assert sentence(reason) == (
        "no 2 adjacent leaves have the room together: needs 4 nodes, 5 are free; "
        "nearest: 1 of 2 nodes free in b (b1 held by hpc/bert-0)"
    )
    assert starts(replace(world, running=running[1:]))
    assert starts(replace(world, gangs=(gang("g", 4, policy=TopologyPolicy.PREFERRED),)))


def test_of_equally_near_places_the_one_with_fewest_holders_is_shown() -> None:
    """Both leaves lack two nodes; in b one gang holds both."""
    running = (pod("x", "a0"), pod("y", "a1"), *bert("b0", "b1"))
    world = snapshot(fabric([[4, 4]]), gang("g", 4), running=running)
    reason = why(world)
    assert reason.kind is ReasonKind.NO_ADJACENT_LEAVES
    held = (("b0", "hpc/bert-0"), ("b1", "hpc/bert-1"))
    assert reason.near == (NearMiss("b", 2, 4, holders=held),)
    assert reason.unblock[0] == "it starts when hpc/bert ends"
    assert starts(replace(world, running=running[:2]))


def test_only_as_many_holders_as_must_go_are_shown() -> None:
    """Leaf a has one node free and needs one more: either holder would do, the first is named."""
    running = (*bert("a0", "b0", "b1"), pod("x", "a1"), pod("y", "b2"))
    reason = why(snapshot(fabric([[3, 3]]), gang("g", 2), running=running))
    assert reason.near == (NearMiss("a", 1, 2, holders=(("a0", "hpc/bert-0"),)),)
    assert reason.unblock == ("it starts when hpc/bert ends",)


def test_no_room_anywhere_is_short_of_gpus() -> None:
    """Two of four nodes are free in all, one in each spine."""
    running = (*bert("a0"), pod("x", "b1"))
    world = snapshot(fabric([[2], [2]]), gang("g", 2), running=running)
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert reason.detail == "GPUs"
    assert reason.counts == (("needed", 2), ("free", 1), ("anywhere", 2), ("best", 1))
    assert reason.near == (NearMiss("a", 1, 2, holders=(("a0", "hpc/bert-0"),)),)
    assert reason.unblock == ("it starts when hpc/bert ends",)
    assert starts(replace(world, running=running[1:]))


RDMA = (("rdma/hca", 1),)


@pytest.mark.parametrize(
    ("name", "asked", "held"),
    [
        ("GPUs", Resources(gpus=4), Resources(gpus=5)),
        ("CPU", Resources(gpus=1, cpu=4_000), Resources(gpus=1, cpu=7_000)),
        ("memory", Resources(gpus=1, memory=6 * GIB), Resources(memory=6 * GIB)),
        ("pod slots", Resources(gpus=1), Resources(pods=10)),
        ("rdma/hca", Resources(gpus=1, extra=RDMA), Resources(extra=RDMA)),
        ("hostport/TCP/80", *[Resources(extra=(("hostport/TCP/80", 1),))] * 2),
    ],
)
def test_the_resource_that_runs_out_is_named(name: str, asked: Resources, held: Resources) -> None:
    """Each resource in turn is the only one that the running pod leaves too little of."""
    host = node("a0", "a", allocatable=replace(WHOLE, extra=RDMA))
    running = (pod("x", "a0", request=held),)
    world = snapshot(of_nodes(host), gang("g", 1, request=asked), running=running)
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert reason.detail == name
    assert reason.near[0].holders == (("a0", "hpc/x"),)
    assert reason.unblock == ("it starts when hpc/x ends",)
    assert starts(replace(world, running=()))


def test_pods_that_share_nodes_are_counted_in_pods() -> None:
    """All but two GPUs of one node are held: two pods of four fit on the other, two wait."""
    running = (pod("x", "a0", gpus=4), pod("y", "a0", gpus=2))
    world = snapshot(fabric([[2]]), gang("g", 4, gpus=4), running=running)
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert dict(reason.counts)["pods"] == 4
    assert reason.near == (NearMiss("a", 2, 4, "pods", (("a0", "hpc/x"), ("a0", "hpc/y"))),)
    assert reason.unblock == ("it starts when hpc/x and hpc/y end",)
    assert "needs 4 pods, 2 are free" in sentence(reason)


def test_one_pod_of_several_on_a_node_is_enough_to_wait_for() -> None:
    """A pod of four fits again as soon as the pod of four ends, whatever the others do."""
    running = (pod("w", "a0", gpus=2), pod("x", "a0", gpus=4), pod("y", "a0", gpus=2))
    world = snapshot(fabric([[1]]), gang("g", 1, gpus=4), running=running)
    assert why(world).unblock == ("it starts when hpc/x ends",)


def test_roles_are_measured_together() -> None:
    """A pod of 8 and one of 4 need two nodes: each alone would fit into the one that is free."""
    roles = tuple(Role((f"g-{n}",), Resources(gpus=n)) for n in (8, 4))
    world = snapshot(fabric([[2]]), gang("g", roles=roles), running=bert("a0"))
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert reason.near == (NearMiss("a", 1, 2, "pods", (("a0", "hpc/bert-0"),)),)
    assert reason.unblock == ("it starts when hpc/bert ends",)
    assert starts(replace(world, running=()))


def test_a_gangs_own_members_are_not_in_its_way() -> None:
    """One member runs on a0; for the other, a1 is held by bert."""
    role = Role(("g-1",), Resources(gpus=8), bound=(("g-0", "a0"),))
    own = RunningPod("ml", "g-0", "a0", Resources(gpus=8), GangKey("ml", "g"))
    world = snapshot(fabric([[2]]), gang("g", roles=(role,)), running=(own, *bert("a1")))
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert reason.near == (NearMiss("a", 0, 1, holders=(("a1", "hpc/bert-0"),)),)
    assert reason.unblock == ("it starts when hpc/bert ends",)
    assert starts(replace(world, running=(own,)))


def test_many_holders_are_counted_after_the_first_two() -> None:
    """Three lone pods hold the leaf."""
    running = tuple(pod(name, f"a{i}") for i, name in enumerate("xyz"))
    world = snapshot(fabric([[3]]), gang("g", 3), running=running)
    assert why(world).unblock == ("it starts when hpc/x, hpc/y and 1 more end",)


def test_a_gang_over_spines_counts_what_is_free_in_all() -> None:
    """Two spines of two nodes, three nodes wanted, one held by bert in each."""
    world = snapshot(fabric([[2], [2]]), gang("g", 3), running=bert("a0", "b0"))
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert reason.counts == (("needed", 3), ("free", 2), ("anywhere", 2), ("best", 2))
    assert reason.unblock == ("it starts when hpc/bert ends",)
    assert starts(replace(world, running=()))


def test_two_resources_that_run_out_together_are_both_named() -> None:
    """Neither GPUs nor CPU alone would be enough."""
    running = (pod("x", "a0", request=Resources(gpus=8, cpu=9_000)),)
    one = gang("g", 1, request=Resources(gpus=1, cpu=2_000))
    assert why(snapshot(fabric([[1]]), one, running=running)).detail == "GPUs and CPU"


def test_a_preferred_gang_looks_at_whole_spines() -> None:
    """Five of six nodes of the spine are free; the leaf rule is no excuse for this gang."""
    world = snapshot(
        fabric([[2, 2, 2]]),
        gang("g", 6, policy=TopologyPolicy.PREFERRED),
        running=bert("b1"),
    )
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert dict(reason.counts)["free"] == 5
    assert sum(miss.free for miss in reason.near) == 5
    assert reason.unblock == ("it starts when hpc/bert ends",)


def test_gangs_that_took_the_room_are_named_with_their_priority() -> None:
    """The leaf is free now, but two gangs of higher priority get it."""
    gangs = (gang("a", 1, priority=3), gang("b", 1, priority=2), gang("g", 2))
    world = snapshot(fabric([[2]]), *gangs)
    reason = why(world)
    assert reason.kind is ReasonKind.OUTRANKED
    assert reason.detail == "ml/a (priority 3), ml/b (priority 2)"
    assert reason.count("rivals") == 2
    assert reason.near == (NearMiss("a", 0, 2, holders=(("a0", "ml/a"), ("a1", "ml/b"))),)
    assert reason.unblock == (
        "raise its priority above 3",
        "it starts when ml/a and ml/b end",
    )
    raised = replace(world, gangs=(*gangs[:2], gang("g", 2, priority=4)))
    assert "g" not in reasons(raised)


def test_gangs_of_lower_priority_are_not_blamed_where_others_are() -> None:
    """Leaf a went to a gang of lower priority, b to a higher one: b is the one shown."""
    low, high = gang("low", 2, priority=0), gang("high", 2, priority=2)
    world = snapshot(fabric([[2, 2]]), low, high, gang("g", 2, priority=1))
    plan = greedy_plan(replace(world, gangs=(high, low)))
    plan = replace(plan, waiting=(Waiting(GangKey("ml", "g"), Reason(ReasonKind.NOT_PROVEN)),))
    (entry,) = explain(world, plan).waiting
    assert entry.reason.detail == "ml/high (priority 2)"


def test_room_that_is_left_is_owned_up_to() -> None:
    """A gang that would still fit was only not proven to."""
    one = gang("g", 2)
    world = snapshot(fabric([[2]]), one)
    plan = Plan(PlanStatus.GREEDY, (), (Waiting(one.key, Reason(ReasonKind.NOT_PROVEN)),))
    assert explain(world, plan).waiting[0].reason.kind is ReasonKind.NOT_PROVEN


def test_moves_of_the_plan_count_as_made() -> None:
    """A pod that the plan moves away is not in the way any more."""
    one = gang("g", 2)
    world = snapshot(fabric([[2, 2]]), one, running=(pod("x", "a0"), pod("y", "b0")))
    waiting = (Waiting(one.key, Reason(ReasonKind.NOT_PROVEN)),)
    plan = Plan(PlanStatus.FEASIBLE, (), waiting)
    assert explain(world, plan).waiting[0].reason.kind is ReasonKind.NO_ADJACENT_LEAVES
    moved = replace(plan, moves=(Move("hpc", "x", "a0", "b1", ""),))
    assert explain(world, moved).waiting[0].reason.kind is ReasonKind.NOT_PROVEN


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (
            Reason(
                ReasonKind.TOO_LARGE,
                counts=(
                    ("needed", 3),
                    ("leaf", 1),
                    ("spine", 2),
                    ("total", 4),
                    ("pods", 3),
                ),
            ),
            "needs 3 pods, but a leaf holds 1, a spine 2 at most",
        ),
        (
            Reason(ReasonKind.NAMESPACE_LIMIT, counts=(("limit", 2), ("gangs", 2))),
            "the limit is 2 gangs",
        ),
        (
            Reason(
                ReasonKind.NAMESPACE_LIMIT, counts=(("limit", 3), ("members", 2), ("needed", 2))
            ),
            "the limit is 3 members, 2 come before it and it has 2",
        ),
        (
            Reason(ReasonKind.UPLINK_FULL, counts=(("asked", 200), ("free", 150))),
            "asks one for 200 Mbit/s, 150 are free",
        ),
        (
            Reason(ReasonKind.NO_MATCHING_NODES, counts=(("notReady", 1), ("rule no-r", 2))),
            "1 node not ready, 2 nodes refused by rule no-r",
        ),
        (
            Reason(
                ReasonKind.NO_FREE_CAPACITY,
                "CPU",
                counts=(
                    ("needed", 2),
                    ("free", 1),
                    ("anywhere", 5),
                ),
            ),
            "short of CPU: needs 2 nodes, 1 is free in one spine and 5 in all",
        ),
    ],
)
def test_counts_of_an_explanation_become_words(reason: Reason, said: str) -> None:
    """The numbers found here are said by the one place that makes sentences."""
    assert sentence(reason).endswith(said)


# --- all of it


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(snapshots())
def test_only_reasons_change_and_every_gang_gets_one(world: Snapshot) -> None:
    """On random snapshots: the plan stays, every reason reads, and asking again is the same."""
    plan = greedy_plan(world)
    explained = explain(world, plan)
    assert replace(explained, waiting=plan.waiting) == plan
    assert [entry.gang for entry in explained.waiting] == [entry.gang for entry in plan.waiting]
    assert all(sentence(entry.reason) for entry in explained.waiting)
    assert explain(world, plan) == explained


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(snapshots())
def test_preferred_places_now_where_that_is_promised(world: Snapshot) -> None:
    """A gang told so is placed by greedy once it asks for `Preferred`, beside all others."""
    plan = explain(world, greedy_plan(world))
    gangs = {one.key: one for one in world.gangs}
    placed = [
        RunningPod(key.namespace, member, host, request[member], key, bandwidth=gang_of.bandwidth)
        for placement in plan.placements
        for key, gang_of in [(placement.gang, gangs[placement.gang])]
        for request in [{p: role.request for role in gang_of.roles for p in role.pods}]
        for member, host in placement.pods
    ]
    beside = replace(world, running=(*world.running, *placed))
    for entry in plan.waiting:
        if "topology-policy Preferred would place it now" in entry.reason.unblock:
            asked = replace(gangs[entry.gang], policy=TopologyPolicy.PREFERRED)
            assert starts(replace(beside, gangs=(asked,)))


@pytest.mark.parametrize("make", [lambda: snapshot(fabric([[2]])), lambda: snapshot(fabric([]))])
def test_nothing_to_explain_is_fine(make: Callable[[], Snapshot]) -> None:
    """A plan without waiting gangs comes back as it is, even on an empty fabric."""
    world = make()
    plan = greedy_plan(world)
    assert explain(world, plan) is plan


def test_an_empty_fabric_matches_nobody() -> None:
    """Where there are no nodes at all, none match."""
    world = Snapshot(fabric([]), (), (gang("g", 2),), SchedulerConfig())
    assert why(world).kind is ReasonKind.NO_MATCHING_NODES
