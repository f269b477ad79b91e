"""What gangs share: quotas and uplinks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.model.gang import GangKey
from fourleaf.model.reasons.kinds import NearMiss, ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod
from tests.small import config, fabric, gang, snapshot
from tests.solver.explain.asking import bert, pod, starts, why


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


def held(name: str, *hosts: str) -> tuple[RunningPod, ...]:
    """Make a running gang of the namespace `ml` with a pod on each host."""
    key = GangKey("ml", name)
    pods = enumerate(hosts)
    return tuple(
        RunningPod("ml", f"{name}-{i}", host, Resources(gpus=8), key, ours=True) for i, host in pods
    )


def test_the_end_of_its_own_neighbour_gives_quota_and_room() -> None:
    """16 of 16 GPUs are held by a gang on the only two nodes: its end alone is enough.

    One that it outranks makes way too, once the quota allows both.
    """
    policy = {"ml": {"gpuQuota": 16}}
    waits = gang("g", 2)
    world = snapshot(fabric([[2]]), waits, running=held("low", "a0", "a1"), namespaces=policy)
    assert why(world).kind is ReasonKind.QUOTA_EXCEEDED
    assert why(world).unblock == ("it starts when ml/low ends",)
    assert starts(replace(world, running=()))
    high = replace(world, gangs=(replace(waits, priority=5),))
    assert why(high).unblock == (
        "raise namespaces.ml.gpuQuota to 32, and then it starts when ml/low ends or makes way",
        "it starts when ml/low ends",
    )
    off = config(namespaces=policy, preemption={"enabled": False})
    assert why(replace(high, config=off)).unblock == ("it starts when ml/low ends",)


def test_a_quota_is_raised_by_no_more_than_is_not_given_back() -> None:
    """8 and 8 GPUs run under a quota of 16, and the gang of 16 takes the place of one: 24."""
    running = (*held("low", "a0"), *held("mate", "b0"))
    policy = {"ml": {"gpuQuota": 16}}
    world = snapshot(fabric([[2, 1]]), gang("g", 2), running=running, namespaces=policy)
    (step,) = why(world).unblock
    assert step == "raise namespaces.ml.gpuQuota to 24, and then it starts when ml/low ends"
    raised = config(namespaces={"ml": {"gpuQuota": 24}})
    assert starts(replace(world, running=held("mate", "b0"), config=raised))


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
