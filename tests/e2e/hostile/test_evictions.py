"""What one tenant may do to pods and to room of others: devices, priority, room kept, evictions."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from fourleaf.k8s_bridge.cluster.memory.actors import gang, pod
from tests.controlplane.api import ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.waiting import eventually
from tests.e2e.checker import breaches
from tests.e2e.hostile.stage import GROUP, VOLCANO, Body, Stage, pods, stage_on
from tests.faults.policies import refusing

CLAIMS = "/apis/gpu.scheduling/v1/namespaces/{}/gpuclaims"
COUNT = "topology.scheduler/gpu-count"
COST = "topology.scheduler/move-cost"
ENDS = "topology.scheduler/expected-duration"
SUCCEEDS = "fourleaf.test/complete-after"
NODES = 8


@pytest.fixture(scope="module")
def stage(module_control_plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Eight nodes of 8 GPUs under two leaves, on a server that counts quotas."""
    folder = tmp_path_factory.mktemp("evictions")
    with stage_on(module_control_plane, folder, NODES, "resourcequota-controller") as stage:
        yield stage


@pytest.fixture
def honest(stage: Stage) -> Iterator[str]:
    """A namespace beside the tenant's; afterwards no pod is left in either."""
    space, terms = stage.honest(), stage.terms
    yield space
    stage.clear(space)
    assert stage.terms == terms, "the lead was lost"
    eventually(lambda: not breaches(stage.admin), "at rest without a breach")


def said(body: Body, **annotations: str) -> Body:
    """`body` with annotations of the prefix `topology.scheduler/`, with _ for -."""
    named = {f"topology.scheduler/{key.replace('_', '-')}": one for key, one in annotations.items()}
    metadata = body["metadata"]
    return body | {"metadata": metadata | {"annotations": metadata.get("annotations", {}) | named}}


def ranked(name: str, gpus: int = 8) -> Body:
    """A pod of a class that may preempt."""
    body = pod(name, gpus)
    body["spec"]["priorityClassName"] = "high"
    return body


def filling(count: int, seconds: str = "", **annotations: str) -> list[Body]:
    """Pods of a whole node each, which end after so long and say so."""
    bodies = [said(pod(f"run-{i}"), **annotations) for i in range(count)]
    if seconds:
        bodies = [said(body, expected_duration=seconds) for body in bodies]
        for body in bodies:
            body["metadata"]["annotations"][SUCCEEDS] = seconds
    return bodies


def kept(stage: Stage) -> bool:
    """Whether room is kept for a gang."""
    return bool(stage.records("relocation"))


@pytest.mark.parametrize(
    ("before", "after"), [("8", "1"), (None, "1000000")], ids=["eight stay eight", "none stay none"]
)
def test_what_runs_holds_what_it_was_given(
    stage: Stage, honest: str, before: str | None, after: str
) -> None:
    """Pods say another number of GPUs once they run, one a node; then others come."""
    bodies = []
    for number in range(NODES):
        body = pod(f"hold-{number}", 0)
        body["spec"]["nodeSelector"] = {"kubernetes.io/hostname": f"gpu-{number}"}
        bodies.append(said(body, gpu_count=before) if before else body)
    stage.post(bodies)
    stage.wait_bound(stage.space, NODES)
    change = {"metadata": {"annotations": {COUNT: after}}}
    for number in range(NODES):
        stage.tenant.patch(f"{pods(stage.space)}/hold-{number}", change)
    time.sleep(1)
    stage.submit(honest, [pod("four", 4), pod("one", 1)])
    if before is None:
        stage.wait_bound(honest, 2)
    else:
        eventually(lambda: "NoFreeCapacity" in stage.said(honest), "it is told that all is held")
        assert stage.bound(honest) == []


def test_a_claim_in_use_does_not_change(stage: Stage, honest: str) -> None:
    """Its spec is what it was made with, so pods hold what they were given."""
    claims = CLAIMS.format(stage.space)
    head = {"apiVersion": "gpu.scheduling/v1", "kind": "GpuClaim", "metadata": {"name": "c"}}
    stage.tenant.create(claims, head | {"spec": {"devices": {"count": 8}}})
    body = pod("claims", 0)
    body["metadata"]["annotations"] = {"gpu.scheduling/claim": "c"}
    stage.post([body])
    stage.wait_bound(stage.space, 1)
    with pytest.raises(ApiError, match="spec"):
        stage.tenant.patch(f"{claims}/c", {"spec": {"devices": {"count": 1}}})
    assert stage.bound(honest) == []


def test_a_group_lends_no_priority(stage: Stage, honest: str) -> None:
    """The quota of the namespace refuses the class to a pod; a PodGroup names it instead."""
    classes = ["high", "system-cluster-critical", "system-node-critical"]
    scope = {"scopeName": "PriorityClass", "operator": "In", "values": classes}
    spec = {"hard": {"pods": "0"}, "scopeSelector": {"matchExpressions": [scope]}}
    quotas = f"/api/v1/namespaces/{stage.space}/resourcequotas"
    stage.admin.create(quotas, {"metadata": {"name": "none"}, "spec": spec})
    eventually(lambda: stage.admin.get(f"{quotas}/none")["status"].get("hard"), "it counts")
    stage.submit(honest, gang("prod", NODES))
    stage.wait_bound(honest, NODES)
    with pytest.raises(ApiError, match="exceeded quota"):
        stage.post([ranked("v")])
    group: Body = {"minMember": 2, "priorityClassName": "system-node-critical"}
    head = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup"}
    body = head | {"metadata": {"name": "pg"}, "spec": group}
    stage.tenant.create(VOLCANO.format(stage.space), body)
    for number in range(2):
        one = pod(f"v-{number}")
        one["metadata"]["annotations"] = {GROUP: "pg"}
        stage.post([one])
    time.sleep(8)
    assert len(stage.bound(honest)) == NODES
    assert stage.bound(stage.space) == []
    stage.admin.delete(f"{quotas}/none")


def test_a_budget_of_none_stops_no_preemption(stage: Stage, honest: str) -> None:
    """Its pod is the cheapest victim and may not go; two gangs of two namespaces get others."""
    budgets = f"/apis/policy/v1/namespaces/{stage.space}/poddisruptionbudgets"
    spec = {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "squat"}}}
    stage.tenant.create(budgets, {"metadata": {"name": "never"}, "spec": spec})
    squat = said(pod("squat", labels={"app": "squat"}), move_cost="1")
    stage.post([squat])
    stage.wait_bound(stage.space, 1)
    stage.submit(honest, filling(NODES - 1, move_cost="100"))
    stage.wait_bound(honest, NODES - 1)
    others = [stage.honest(), stage.honest()]
    for other in others:
        stage.submit(other, [ranked("vip")])
    for other in others:
        stage.wait_bound(other, 1)
    assert stage.bound(stage.space) == ["squat"]
    stage.tenant.delete(f"{budgets}/never")
    stage.clear(*others)


def test_a_gang_that_cannot_start_keeps_no_room(stage: Stage, honest: str) -> None:
    """Room of all nodes is kept for it; then it deletes a pod of its own."""
    stage.configure(backfill={"afterSeconds": 2}, preemption={"enabled": False})
    stage.submit(honest, filling(NODES, "25s"))
    stage.wait_bound(honest, NODES, "run-")
    stage.post(gang("whale", NODES))
    eventually(lambda: kept(stage), "room is kept")
    stage.tenant.delete(f"{pods(stage.space)}/whale-7?gracePeriodSeconds=0")
    stage.submit(honest, [pod(f"late-{i}") for i in range(NODES)])
    stage.wait_bound(honest, NODES, "late-", 60)
    stage.configure()


def test_who_overstays_gives_the_room_back(stage: Stage, honest: str) -> None:
    """Four nodes of a place are free before the rest: pods that say a second, and stay, go."""
    stage.configure(backfill={"afterSeconds": 2}, preemption={"enabled": True})
    first, rest = filling(NODES, "8s")[:4], filling(NODES, "40s")[4:]
    stage.submit(honest, [*first, *rest])
    stage.wait_bound(honest, NODES, "run-")
    stage.submit(honest, gang("big", NODES))
    eventually(lambda: kept(stage), "room is kept")
    stage.post([said(pod(f"liar-{i}"), expected_duration="1s") for i in range(4)])
    stage.wait_bound(honest, NODES, "big-", 150)
    stage.configure()


def test_age_behind_a_gate_of_ones_own_counts_for_nothing(stage: Stage, honest: str) -> None:
    """Both come for the last two nodes; the tenant's were there first, and held themselves back."""
    stage.configure(batch={"ageStepSeconds": 1}, preemption={"enabled": False})
    busy = stage.honest()
    stage.submit(busy, filling(NODES))
    stage.wait_bound(busy, NODES)
    gated = [pod(f"bank-{i}") for i in range(2)]
    for body in gated:
        body["spec"]["schedulingGates"] = [{"name": "tenant.example/later"}]
    stage.post(gated)
    time.sleep(4)
    stage.submit(honest, [pod(f"wait-{i}") for i in range(2)])
    time.sleep(4)
    for body in gated:
        name = body["metadata"]["name"]
        stage.tenant.patch(f"{pods(stage.space)}/{name}", {"spec": {"schedulingGates": None}})
    time.sleep(1)
    for number in range(2):
        stage.admin.delete(f"{pods(busy)}/run-{number}?gracePeriodSeconds=0")
    stage.wait_bound(honest, 2)
    assert stage.bound(stage.space) == []
    stage.configure()
    stage.clear(busy)


def test_annotations_give_no_more_than_limits_where_these_count(stage: Stage, honest: str) -> None:
    """With `requireLimits`, a quota of 8 GPUs is 8 GPUs, whatever pods say beside it."""
    stage.configure(devices={"requireLimits": True})
    quotas = f"/api/v1/namespaces/{stage.space}/resourcequotas"
    spec = {"hard": {"requests.nvidia.com/gpu": "8"}}
    stage.admin.create(quotas, {"metadata": {"name": "gpus"}, "spec": spec})
    eventually(lambda: stage.admin.get(f"{quotas}/gpus")["status"].get("hard"), "it counts")
    # Admission hears a moment later that the quota has been counted, and refuses all until then.
    dry_run = f"{pods(stage.space)}?dryRun=All"
    eventually(lambda: stage.tenant.create(dry_run, pod("by-limit")), "the quota admits a pod")
    stage.post([pod("by-limit")])
    with pytest.raises(ApiError, match="exceeded quota"):
        stage.post([pod("too-much")])
    stage.post([said(pod(f"by-word-{i}", 0), gpu_count="8") for i in range(3)])
    stage.bind_some(honest, "beside", 1)
    eventually(lambda: "requireLimits" in stage.said(stage.space), "they are told why they wait")
    assert stage.bound(stage.space) == ["by-limit"]
    stage.admin.delete(f"{quotas}/gpus")
    stage.configure()


def test_a_pod_that_was_not_told_is_held(stage: Stage, honest: str) -> None:
    """The webhook was away when it came, so it would see every device of its node."""
    stage.configure(devices={"untold": "hold"})
    body = pod("bare", 2)
    del body["spec"]["containers"][0]["env"]
    stage.post([body])
    stage.bind_some(honest, "beside", 1)
    eventually(lambda: "CUDA_VISIBLE_DEVICES" in stage.said(stage.space), "it is told why")
    assert stage.bound(stage.space) == []
    stage.configure()


def test_a_repair_moves_no_pods_of_higher_priority(stage: Stage, honest: str) -> None:
    """A member goes, another pod takes its seat, and the member comes back beside movable pods."""
    movable = [said(ranked(f"mov-{i}", 4), movable="true") for i in range(4)]
    stage.submit(honest, movable)
    stage.wait_bound(honest, 4)
    before = uids(stage, honest)
    bodies = gang("g", 3)
    stage.post(bodies)
    stage.wait_bound(stage.space, 3)
    for number in range(3):
        stage.tenant.delete(f"{pods(stage.space)}/g-2?gracePeriodSeconds=0")
        stage.post([pod(f"fill-{number}")])
        time.sleep(1)
        stage.post(bodies[2:])
        time.sleep(2)
    assert uids(stage, honest) == before


def uids(stage: Stage, space: str) -> set[str]:
    """Of its pods that have a node."""
    items = stage.admin.get(pods(space))["items"]
    return {one["metadata"]["uid"] for one in items if one["spec"].get("nodeName")}


def test_who_does_not_stay_evicts_once(stage: Stage, honest: str) -> None:
    """Four pods of a class that preempts, each deleted as soon as it runs."""
    stage.submit(honest, [pod(f"low-{i}") for i in range(NODES)])
    stage.wait_bound(honest, NODES)
    stage.post([ranked("bully-0")])
    stage.wait_bound(stage.space, 1)
    for number in range(1, 4):
        stage.tenant.delete(f"{pods(stage.space)}/bully-{number - 1}?gracePeriodSeconds=0")
        stage.submit(honest, [pod(f"low-again-{number}")] if number == 1 else [])
        stage.wait_bound(honest, NODES)
        stage.post([ranked(f"bully-{number}")])
        time.sleep(9)
    assert stage.bound(stage.space) == []
    assert "pods went for a gang of its namespace" in stage.said(stage.space)


def test_a_policy_that_refuses_one_member_costs_one_attempt(stage: Stage, honest: str) -> None:
    """Nothing is tried over and over, so no Job ends for members that are evicted in vain."""
    before = len(stage.lines("rolling_back"))
    third = "object.metadata.name.startsWith('g-3')"
    with refusing(stage.admin, "no-third", honest, third, "Invalid"):
        stage.submit(honest, gang("g", 4))
        time.sleep(20)
        assert len(stage.lines("rolling_back")) <= before + 1
        assert stage.bound(honest) == []
