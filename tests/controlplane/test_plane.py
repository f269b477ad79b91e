"""The control plane does what the tests on it take for granted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from urllib3.exceptions import HTTPError

from tests.controlplane.api import ApiError
from tests.controlplane.build import kubernetes_version
from tests.controlplane.external import ExternalPlane
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import GPU, LEAF_LABEL, Fleet, create_fleet, wait_usable
from tests.controlplane.plane import ControlPlane
from tests.controlplane.roles import RBAC, ROLES
from tests.controlplane.stages import COMPLETE_AFTER
from tests.controlplane.waiting import eventually

NODES = "/api/v1/nodes"
SPEC = {"containers": [{"name": "main", "image": "none", "resources": {"limits": {GPU: "8"}}}]}


def _pod(name: str, **annotations: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "annotations": annotations}, "spec": SPEC}


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node["status"].get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def _pods(plane: Plane) -> str:
    return f"/api/v1/namespaces/{plane.namespace()}/pods"


def _grant(plane: Plane, role: str, pods: str) -> None:
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
    name = {"metadata": {"name": role}}
    granted = {"apiGroup": RBAC, "kind": "Role", "name": role}
    binding = {**name, "roleRef": granted, "subjects": [plane.subject(role)]}
    folder = pods.replace("/api/", f"/apis/{RBAC}/").removesuffix("/pods")
    with plane.api() as api:
        api.create(f"{folder}/roles", {**name, "rules": [rule]})
        api.create(f"{folder}/rolebindings", binding)


def test_the_version_is_the_one_that_the_module_pins(own_control_plane: ControlPlane) -> None:
    """Results name a Kubernetes version, so the server has to be of that version."""
    with own_control_plane.api() as api:
        assert api.get("/version")["gitVersion"] == kubernetes_version()


def test_every_role_is_who_it_says(own_control_plane: ControlPlane) -> None:
    """RBAC rules of the tests name users and groups, so a token must stand for just these."""
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    for role in ROLES.values():
        with own_control_plane.api(role.name) as api:
            answer = api.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", review)
        user = answer["status"]["userInfo"]
        assert user["username"] == role.user
        assert set(user["groups"]) == {*role.groups, "system:authenticated"}


def test_a_role_may_nothing_until_it_is_granted(control_plane: Plane) -> None:
    """A missing rule in our RBAC manifests must turn a test red, not pass by accident."""
    pods = _pods(control_plane)
    with control_plane.api("scheduler-a") as first, control_plane.api("scheduler-b") as second:
        with pytest.raises(ApiError) as refusal:
            first.get(pods)
        assert refusal.value.status == 403
        _grant(control_plane, "scheduler-a", pods)
        eventually(lambda: "items" in first.get(pods), "scheduler-a may list pods")
        with pytest.raises(ApiError):
            second.get(pods)


def test_a_bound_pod_runs_and_ends_when_asked(control_plane: Plane) -> None:
    """Kubelets are played by kwok: nodes get Ready, bound pods run, some end by themselves."""
    create_fleet(control_plane.kubeconfig(), Fleet(1), ready=False)
    control_plane.kwok()
    pods = _pods(control_plane)
    with control_plane.api() as api:
        eventually(lambda: _is_ready(api.get(f"{NODES}/gpu-0")), "the node is Ready")
        assert api.get(f"{NODES}/gpu-0")["status"]["allocatable"][GPU] == "8"
        for pod in (_pod("stays"), _pod("ends", **{COMPLETE_AFTER: "100ms"})):
            api.create(pods, pod)
            api.bind(f"{pods}/{pod['metadata']['name']}", "gpu-0")

        def phase(name: str) -> str:
            return api.get(f"{pods}/{name}")["status"]["phase"]

        eventually(lambda: phase("ends") == "Succeeded", "the pod has completed")
        eventually(lambda: phase("stays") == "Running", "the pod runs")
        assert api.get(f"{pods}/stays")["status"]["podIP"]


def test_the_audit_log_tells_who_wrote_what(own_control_plane: ControlPlane) -> None:
    """What a scheduler wrote is proven by the server's own log, not by the scheduler's."""
    create_fleet(own_control_plane.kubeconfig(), Fleet(1))
    pods = _pods(own_control_plane)
    with own_control_plane.api() as api:
        api.create(pods, _pod("audited"))
        api.bind(f"{pods}/audited", "gpu-0")

    def event(subresource: str | None) -> dict[str, Any] | None:
        for one in own_control_plane.audit():
            about = one.get("objectRef", {})
            wanted = (about.get("name"), about.get("subresource")) == ("audited", subresource)
            if one["verb"] == "create" and wanted:
                return one
        return None

    created = eventually(lambda: event(None), "the audit log has the pod")
    assert created["user"]["username"] == "fourleaf:admin"
    binding = eventually(lambda: event("binding"), "the audit log has the binding")
    assert binding["requestObject"]["target"]["name"] == "gpu-0"


def test_the_native_scheduler_and_controllers_run_a_job(own_control_plane: ControlPlane) -> None:
    """Comparisons and co-existence need the native scheduler and owners that make pods.

    Both pods run at once, each on a node of its own: neither ends before the other is bound.
    """
    plane = own_control_plane
    plane.controller_manager()
    plane.scheduler()
    plane.kwok()
    names = create_fleet(plane.kubeconfig(), Fleet(2), ready=False)
    template = {
        "metadata": {"annotations": {COMPLETE_AFTER: "5s"}},
        "spec": {**SPEC, "restartPolicy": "Never"},
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "pair"},
        "spec": {"completions": 2, "parallelism": 2, "template": template},
    }
    pods = _pods(plane)
    path = pods.replace("/api/", "/apis/batch/").removesuffix("/pods") + "/jobs"
    with plane.api() as api:
        wait_usable(api, names)
        api.create(path, job)
        done = eventually(
            lambda: api.get(f"{path}/pair")["status"].get("completionTime"),
            "the job is done",
            timeout=90.0,
        )
        assert done
        nodes = {pod["spec"]["nodeName"] for pod in api.get(pods)["items"]}
    assert nodes == {"gpu-0", "gpu-1"}


def test_a_fleet_fills_leaf_after_leaf_ready_for_pods(control_plane: Plane) -> None:
    """Without any kubelet or controller the nodes must still count as usable."""
    names = create_fleet(control_plane.kubeconfig(), Fleet(10))
    with control_plane.api() as api:
        nodes = [api.get(f"{NODES}/{name}") for name in names]
    leaves = Counter(node["metadata"]["labels"][LEAF_LABEL] for node in nodes)
    assert leaves == {"leaf-0": 4, "leaf-1": 4, "leaf-2": 2}
    assert all(_is_ready(node) for node in nodes)
    assert not any(node["spec"].get("taints") for node in nodes)


def test_objects_outlive_a_crash_of_the_apiserver(own_control_plane: ControlPlane) -> None:
    """Recovery tests crash the server and go on with what was written before."""
    pods = _pods(own_control_plane)
    with own_control_plane.api() as api:
        api.create(pods, _pod("kept"))
        own_control_plane.kill_apiserver()
        with pytest.raises(HTTPError):
            api.get(pods)
        own_control_plane.start_apiserver()
        assert api.get(f"{pods}/kept")["metadata"]["name"] == "kept"


def test_objects_outlive_a_crash_of_etcd(own_control_plane: ControlPlane) -> None:
    """A server that cannot write must say so, and go on once its store is back."""
    pods = _pods(own_control_plane)
    with own_control_plane.api() as api:
        api.create(pods, _pod("kept"))
        own_control_plane.stop_etcd()
        own_control_plane.start_etcd()
        eventually(lambda: api.get(f"{pods}/kept"), "the pod is still there")


def test_features_and_versions_can_be_switched_on(
    control_plane_programs: dict[str, Path], tmp_path: Path
) -> None:
    """Native gangs are alpha, so the tests on them need gates and an API version."""
    gates = {"GenericWorkload": True, "GangScheduling": True}
    served = ["scheduling.k8s.io/v1alpha2=true"]
    with ControlPlane(tmp_path / "alpha", gates=gates, runtime_config=served) as plane:
        with plane.api() as api:
            found = api.get("/apis/scheduling.k8s.io/v1alpha2")["resources"]
        plane.scheduler()
    assert "podgroups" in {one["name"] for one in found}


def test_a_given_cluster_has_the_same_roles(own_control_plane: ControlPlane) -> None:
    """The suite also runs on a cluster of somebody else, given by a kubeconfig file."""
    own_control_plane.controller_manager(controllers=["serviceaccount-controller"])
    given = ExternalPlane(own_control_plane.kubeconfig())
    try:
        pods = _pods(given)
        with given.api("tenant") as tenant:
            with pytest.raises(ApiError) as refusal:
                tenant.get(pods)
            assert refusal.value.status == 403
            _grant(given, "tenant", pods)
            eventually(lambda: "items" in tenant.get(pods), "the tenant may list pods")
    finally:
        given.stop()
    with own_control_plane.api() as api:
        made = [one["metadata"] for one in api.get("/api/v1/namespaces")["items"]]
    left = [one for one in made if one["name"].startswith("fourleaf-test-")]
    assert all("deletionTimestamp" in one for one in left)
