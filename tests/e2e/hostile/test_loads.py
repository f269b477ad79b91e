"""What one namespace may submit, and what becomes of honest gangs beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.tenants import pods as costly
from fourleaf.k8s_bridge.cluster.memory.actors import GANG, GANG_SIZE, gang, pod
from tests.controlplane.api import JSON, MERGE_PATCH, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import LEAF_LABEL
from tests.controlplane.waiting import eventually
from tests.e2e.checker import breaches
from tests.e2e.hostile.stage import GROUP, VOLCANO, Body, Stage, stage_on

JOB_SETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets"
LOADS: dict[str, Callable[[], list[Body]]] = {
    "pods that no node suits": lambda: costly.hopeless(500),
    "pods of many terms about others": lambda: costly.terms_apart(300),
    "a gang of pods that differ": lambda: costly.differing(150),
}
"""Each kept all others from starting, once."""
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f\u200b\u202e\u2066]")
NASTY = 'x\n{"event":"forged"}\x1b[31m\u202e\u200b'
FAT = 40
"""So many pods of 750 kB each, which took 7 MiB each to read."""


@pytest.fixture(scope="module")
def stage(module_control_plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """64 nodes of 8 GPUs under 16 leaves."""
    with stage_on(module_control_plane, tmp_path_factory.mktemp("loads"), 64) as stage:
        yield stage


@pytest.fixture
def honest(stage: Stage) -> Iterator[str]:
    """A namespace beside the tenant's; afterwards no pod is left in either."""
    space, terms = stage.honest(), stage.terms
    yield space
    stage.clear(space)
    assert stage.terms == terms, "the lead was lost"
    assert not stage.lines("term_failed")
    eventually(lambda: not breaches(stage.admin), "at rest without a breach")


@pytest.mark.parametrize("load", LOADS)
def test_honest_gangs_start_beside_it(stage: Stage, honest: str, load: str) -> None:
    """Four gangs of two whole nodes, of which there are plenty."""
    stage.post(LOADS[load]())
    stage.bind_some(honest, "beside")


def test_large_pods_take_little_memory(stage: Stage, honest: str) -> None:
    """Half of them behind a gate of their own; while they are there, and once they are gone."""
    before = resident_mib(stage)
    bodies = [costly.one(f"fat-{number}", affinity=_fat(number)) for number in range(FAT)]
    for body in bodies[::2]:
        body["spec"]["schedulingGates"] = [{"name": "tenant.example/later"}]
    stage.post(bodies)
    stage.bind_some(honest, "beside")
    assert resident_mib(stage) - before < 4 * FAT
    stage.clear()
    stage.bind_some(honest, "after")
    assert resident_mib(stage) - before < 4 * FAT


def _fat(number: int) -> Body:
    terms = [
        {"matchExpressions": [costly.values("k", "In", f"v{number}-{t}", 1000)]} for t in range(60)
    ]
    required = {"nodeSelectorTerms": terms}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def resident_mib(stage: Stage) -> float:
    """What the leader holds, without its solver."""
    text = Path(f"/proc/{stage.replica.pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


def test_groups_that_make_no_sense_hold_their_own_pods_alone(stage: Stage, honest: str) -> None:
    """Kinds without types: text for a number, lists for objects, and numbers beyond all sense."""
    groups = {
        "text": {"minMember": "x", "priorityClassName": {"a": 1}},
        "huge": {"minMember": 2**62},
    }
    for name, spec in groups.items():
        stage.tenant.create(VOLCANO.format(stage.space), _volcano(name, spec))
        stage.post([pod(f"of-{name}", 1, annotations={GROUP: name})])
    jobs = [{"replicas": 2**31, "template": {"spec": {"parallelism": 2**31}}}, "x", {"template": 7}]
    body = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "js"}}
    made = stage.tenant.create(
        JOB_SETS.format(stage.space), body | {"spec": {"replicatedJobs": jobs}}
    )
    owner = {"apiVersion": body["apiVersion"], "kind": "JobSet", "name": "js", "controller": True}
    labelled = pod("js-0", 1, labels={"jobset.sigs.k8s.io/jobset-name": "js"})
    labelled["metadata"]["ownerReferences"] = [owner | {"uid": made["metadata"]["uid"]}]
    sizes = ("100000", "1000001", "9" * 20, "-1", "1e3", "0x10", "١٢", " 4")
    said = [{GANG: f"g{number}", GANG_SIZE: size} for number, size in enumerate(sizes)]
    sized = [pod(f"sized-{number}", 1, annotations=one) for number, one in enumerate(said)]
    stage.post([labelled, *sized])
    stage.bind_some(honest, "beside")
    assert stage.bound(stage.space) == []


def _volcano(name: str, spec: Body) -> Body:
    head = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup"}
    return head | {"metadata": {"name": name}, "spec": spec}


def test_gangs_of_one_name_do_not_meet(stage: Stage, honest: str) -> None:
    """Neither does a pod that names a group of the other namespace, nor one that has no room."""
    stage.submit(honest, gang("llama", 4)[:2])
    stage.admin.create(VOLCANO.format(honest), _volcano("of-others", {"minMember": 1}))
    stage.post([*gang("llama", 16)[:1], pod("oracle", 1, annotations={GROUP: "of-others"})])
    stage.submit(honest, gang("llama", 4)[2:])
    stage.wait_bound(honest, 4)
    stage.submit(honest, [pod(f"full-{number}") for number in range(60)])
    stage.wait_bound(honest, 64)
    stage.post([pod("late")])
    eventually(lambda: "free" in stage.said(stage.space), "it is told why it waits")
    assert honest not in stage.said(stage.space)
    assert stage.space not in stage.said(honest)


KUBE_SYSTEM = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
CLAIMS = "/apis/gpu.scheduling/v1/namespaces/{}/gpuclaims"
LABEL = {"metadata": {"labels": {"topology.scheduler/enforce": "false"}}}
DEBUG = {"spec": {"ephemeralContainers": [{"name": "debug", "image": "tools"}]}}
FORBIDDEN = {
    "a class": ("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"value": 10**6}),
    "its namespace": ("PATCH", "/api/v1/namespaces/{}", LABEL),
    "a page": ("POST", KUBE_SYSTEM, {"metadata": {"name": "page-x"}}),
    "an inventory": ("POST", "/apis/gpu.scheduling/v1/gpunodestatuses", {}),
    "a claim's status": ("PATCH", CLAIMS + "/c/status", {"status": {"allocated": 3}}),
    "a binding": ("POST", "/api/v1/namespaces/{}/pods/run/binding", {}),
    "an end": ("PATCH", "/api/v1/namespaces/{}/pods/run/status", {"status": {"phase": "Failed"}}),
    "a debugger": ("PATCH", "/api/v1/namespaces/{}/pods/run/ephemeralcontainers", DEBUG),
}
"""What the rights of a namespace do not reach."""


def test_what_a_tenant_writes_counts_in_its_namespace_alone(stage: Stage, honest: str) -> None:
    """Records, a config and events that look like the scheduler's change nothing for others."""
    stage.post([pod("run", 1)])
    stage.wait_bound(stage.space, 1)
    for name, (method, path, body) in FORBIDDEN.items():
        kind = MERGE_PATCH if method == "PATCH" else JSON
        with pytest.raises(ApiError) as refused:
            stage.tenant.request(method, path.format(stage.space), body, kind)
        assert refused.value.status == 403, name
    own = f"/apis/coordination.k8s.io/v1/namespaces/{stage.space}/leases"
    record = {"name": "page-x", "labels": {"alloc.gpu.scheduling/record": "page"}}
    stage.tenant.create(own, {"metadata": record})
    text = {"config.yaml": "x: ["}
    config = {"metadata": {"name": "topology-scheduler-config"}, "data": text}
    stage.tenant.create(f"/api/v1/namespaces/{stage.space}/configmaps", config)
    stage.bind_some(honest, "beside", 1)
    assert stage.page("/status")["config"]["problems"] == []
    assert not stage.lines("config_invalid")


def test_names_fill_no_page(stage: Stage, honest: str) -> None:
    """432 pods of the longest names on the 440 slots of one leaf, and one of others."""
    leaf = {LEAF_LABEL: "leaf-0"}
    for_leaf = []
    for number in range(432):
        said = {GANG: "g" * 248 + f"{number:05d}", GANG_SIZE: "1"}
        body = pod("n" * 248 + f"-{number:04d}", 0, annotations=said)
        body["spec"]["nodeSelector"] = leaf
        for_leaf.append(body)
    stage.post(for_leaf)
    stage.wait_bound(stage.space, 432, patience=60)
    (body,) = [pod("beside", 4)]
    body["spec"]["nodeSelector"] = leaf
    stage.submit(honest, [body])
    stage.wait_bound(honest, 1)


def test_texts_are_only_texts(stage: Stage, honest: str) -> None:
    """Line ends, escapes and marks of direction in a Job; no metric of any of 100 gangs' own."""
    before = stage.page("/metrics").count("\n")
    said = {"topology.scheduler/placement-strategy": NASTY, GANG: NASTY, GANG_SIZE: "2"}
    spec = pod("x", 1)["spec"] | {"restartPolicy": "Never"}
    job = {"metadata": {"name": "texts", "annotations": said}, "spec": {"parallelism": 2}}
    job["spec"]["template"] = {"metadata": {"annotations": said}, "spec": spec}
    stage.tenant.create(f"/apis/batch/v1/namespaces/{stage.space}/jobs", job)
    many = []
    for number in range(100):
        body = gang(f"g{number}", 2, 1, **{"topology.scheduler/preferred-domain": f"d{number}"})[0]
        body["metadata"]["labels"] = {f"l{number}": "x"}
        body["spec"]["nodeSelector"] = {f"k{number}": "v"}
        many.append(body)
    stage.post(many)
    stage.bind_some(honest, "beside")
    eventually(lambda: "placement-strategy" in stage.said(stage.space), "the Job is told of")
    assert CONTROL.findall(stage.said(stage.space)) == []
    lines = stage.replica.log.read_text().splitlines()
    assert [one for one in lines if not one.startswith("{") or CONTROL.search(one)] == []
    assert not stage.lines("forged")
    metrics = stage.page("/metrics")
    # What the scheduler counts for the first time, such as an answer of the API, is new as well.
    assert metrics.count("\n") - before < 100
    assert re.findall(r'"[dgkl][0-9]+"', metrics) == []
    stage.tenant.delete(f"/apis/batch/v1/namespaces/{stage.space}/jobs/texts")
