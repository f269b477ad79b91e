"""The chart as it ships in a cluster that others use too: schedulers, analysts and tenants."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fourleaf.k8s_bridge.cache.config_watcher import START, folded
from fourleaf.model.config.spec import CONFIG_MAP
from tests.controlplane.api import MERGE_PATCH, Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.waiting import eventually
from tests.deploy.generated import CHARTS, SYSTEM
from tests.deploy.tools import run
from tests.e2e.accounts import account
from tests.e2e.attacks import binding, pod
from tests.e2e.helm import GIVEN, RELEASE, Release, namespaces

RBAC = "/apis/rbac.authorization.k8s.io/v1"
CONFIG = f"/api/v1/namespaces/{SYSTEM}/configmaps/{CONFIG_MAP}"
OTHERS = {
    "volcano": ("volcano-system", "volcano-scheduler", "volcano-scheduler"),
    "kai-scheduler": ("kai-scheduler", "binder", "kai-binder"),
    "second": ("kube-system", "my-scheduler", "system:kube-scheduler"),
}
"""Scheduler name -> namespace and name of its service account, and its ClusterRole."""
BINDS = [{"apiGroups": [""], "resources": ["pods/binding"], "verbs": ["create"]}]
EVERYWHERE = "--set=policies.refuseBindings=allNamespaces"


@pytest.fixture(scope="module")
def api(module_control_plane: Plane) -> Iterator[Api]:
    """The API as its admin, with GPU nodes that no label tells of and other schedulers at work."""
    run("helm", "version")
    create_fleet(module_control_plane.kubeconfig(), Fleet(2))
    with module_control_plane.api() as api, namespaces(api):
        for space, name, role in OTHERS.values():
            if space != "kube-system":
                api.create("/api/v1/namespaces", {"metadata": {"name": space}})
            api.create(f"/api/v1/namespaces/{space}/serviceaccounts", {"metadata": {"name": name}})
            if not role.startswith("system:"):
                body = {"metadata": {"name": role}, "rules": BINDS}
                api.create(f"{RBAC}/clusterroles", body)
            api.create(f"{RBAC}/clusterrolebindings", _bound(f"{space}-{name}", role, space, name))
        yield api


@pytest.fixture(scope="module")
def release(module_control_plane: Plane, api: Api, tmp_path_factory: Any) -> Iterator[Release]:
    """The chart as it ships, with default values."""
    release = Release(module_control_plane, tmp_path_factory.mktemp("release"))
    release.helm("install", RELEASE, CHARTS / "fourleaf", GIVEN)
    yield release
    release.uninstall()


def _bound(title: str, role: str, space: str, name: str) -> dict[str, Any]:
    group = "rbac.authorization.k8s.io"
    return {
        "metadata": {"name": title},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "namespace": space, "name": name}],
    }


def bindings_refused(plane: Plane, api: Api, space: str, folder: Path) -> list[str]:
    """What the API server answers where it refuses a Binding of another scheduler's pods."""
    pods = f"/api/v1/namespaces/{space}/pods"
    refused = []
    for scheduler, (home, name, _) in OTHERS.items():
        with Api(account(plane, (home, name), folder)) as other:
            for kind, gpus in (("plain", ""), ("with-gpus", "8")):
                title = f"{scheduler}-{kind}"
                api.create(pods, pod(title, gpus, scheduler))
                try:
                    other.create(f"{pods}/{title}/binding?dryRun=All", binding(title))
                except ApiError as error:
                    refused.append(str(error))
                api.delete(f"{pods}/{title}?gracePeriodSeconds=0")
    return refused


def test_other_schedulers_bind_as_before(
    module_control_plane: Plane, api: Api, release: Release, tmp_path: Path
) -> None:
    """Volcano, KAI and a second kube-scheduler: none of their Bindings is refused."""
    assert bindings_refused(module_control_plane, api, api.new_namespace(), tmp_path) == []


def test_who_else_binds_is_told_before_anything_changes(api: Api, release: Release) -> None:
    """By name, with the nodes where no agent would run; all namespaces need the names given."""
    ask = ("upgrade", RELEASE, CHARTS / "fourleaf", GIVEN, "--dry-run=server")
    told = release.helm(*ask)
    names = [f"{space}/{name}" for space, name, _ in OTHERS.values()]
    assert all(name in told for name in names)
    assert "daemon-set-controller" not in told
    assert "2 nodes tell of GPUs and have no label of agent.nodeLabels" in told
    with pytest.raises(pytest.fail.Exception) as stopped:
        release.helm(*ask, EVERYWHERE)
    assert "policies.refuseBindings: allNamespaces would stop" in str(stopped.value)
    assert all(name in str(stopped.value) for name in names)
    named = f"--set=policies.otherSchedulers={{{','.join(names)}}}"
    assert names[0] not in release.helm(*ask, named).partition("NOTES:")[2]


def test_everywhere_those_that_are_named_bind_and_others_do_not(
    module_control_plane: Plane, api: Api, release: Release, tmp_path: Path
) -> None:
    """A scheduler that comes later and that no value names is refused by the policy."""
    names = ",".join(f"{space}/{name}" for space, name, _ in OTHERS.values())
    release.upgrade(EVERYWHERE, f"--set=policies.otherSchedulers={{{names}}}")
    space = api.new_namespace()
    eventually(
        lambda: bindings_refused(module_control_plane, api, space, tmp_path) == [],
        "those with leave bind",
    )
    api.create(f"/api/v1/namespaces/{space}/serviceaccounts", {"metadata": {"name": "unknown"}})
    api.create(f"{RBAC}/clusterroles", {"metadata": {"name": "unknown"}, "rules": BINDS})
    api.create(f"{RBAC}/clusterrolebindings", _bound("unknown", "unknown", space, "unknown"))
    pods = f"/api/v1/namespaces/{space}/pods"
    api.create(pods, pod("free", scheduler="volcano"))
    with Api(account(module_control_plane, (space, "unknown"), tmp_path)) as unknown:

        def refused() -> bool:
            try:
                unknown.create(f"{pods}/free/binding?dryRun=All", binding("free"))
            except ApiError as error:
                return "may not bind pods" in str(error)
            return False

        eventually(refused, "the policy refuses it, and not RBAC")
    api.delete(f"{RBAC}/clusterrolebindings/unknown")
    release.rollback(1)
    # The policy of the next test, whichever that is.
    eventually(
        lambda: bindings_refused(module_control_plane, api, space, tmp_path) == [],
        "the others bind as before",
    )


def test_an_edit_of_the_config_outlives_upgrade_and_rollback(api: Api, release: Release) -> None:
    """By kubectl, beside the defaults of the chart, which follow the release; no conflict."""
    head = "apiVersion: topology.scheduler/v1alpha1\nkind: SchedulerConfig\n"
    edit = f"{head}spec: {{scoringWeights: {{topologyAlignment: 0.6}}}}\n"
    path = f"{CONFIG}?fieldManager=kubectl-edit"
    api.patch(path, {"data": {"config.yaml": edit}}, MERGE_PATCH)
    first = len(release.revisions())
    default = folded(START, api.get(CONFIG)).config.spec.batch.size
    for change, size in (("--set=config.batch.size=7", 7), ("", default)):
        if change:
            release.upgrade(change)
        else:
            release.rollback(first)
        state = folded(START, api.get(CONFIG))
        assert state.valid
        assert state.config.spec.batch.size == size
        assert str(state.config.spec.scoring_weights["topologyAlignment"]) == "0.6"
        assert state.config.spec.namespaces["*"].max_gangs == 100
    assert release.revisions()[-1] == "deployed"


def test_editors_make_claims_and_viewers_read_them(api: Api, release: Release) -> None:
    """The ClusterRoles that people have already hold what claims need, once they are aggregated."""
    for name, may in (("fourleaf-view", {"get"}), ("fourleaf-edit", {"create"})):
        body = api.get(f"{RBAC}/clusterroles/{name}")
        assert any(may <= set(rule["verbs"]) for rule in body["rules"])
        labels = body["metadata"]["labels"]
        assert labels["rbac.authorization.k8s.io/aggregate-to-admin"] == "true"
        assert labels["app.kubernetes.io/instance"] == RELEASE
