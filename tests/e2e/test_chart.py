"""The chart on a real API server: admitted, at work, upgraded, rolled back, removed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourleaf.model.config.spec import CONFIG_MAP
from tests.controlplane.api import Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.waiting import eventually
from tests.deploy.generated import DEPLOY, KIND, SYSTEM, rendered
from tests.deploy.schemas import FOREIGN
from tests.deploy.shipped import SWITCHED_ON
from tests.deploy.tools import run
from tests.e2e.accounts import applied
from tests.e2e.chart_work import (
    GANG,
    SIZE,
    comes_to_rest,
    dies_in_a_commit,
    doomed,
    held,
    scheduler,
    standing,
    work,
)
from tests.e2e.checker import breaches
from tests.e2e.helm import (
    NEW_FIELD,
    Release,
    admission,
    inner,
    namespaces,
    path_of,
    schema_of,
)
from tests.e2e.hook import claims
from tests.e2e.replica import Replica

OURS = (
    *SWITCHED_ON,
    "--set=monitoring.serviceMonitor=false,monitoring.rules=false",
    "--set=webhook.certificates=selfSigned",
)
"""Everything on but those."""
BATCH = "--set=config.batch.size=300"
HELM = "helm"
"""The manager of what helm applies; another one could not take fields away from it."""
WORKLOADS = ("Deployment", "DaemonSet", "StatefulSet")
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gpuclaims.gpu.scheduling"
HOOK = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/fourleaf-webhook"
CONFIG = f"/api/v1/namespaces/{SYSTEM}/configmaps/{CONFIG_MAP}"
FLEET = Fleet(24)
"""Six leaves of four: room for every gang of these tests, which stay where they are."""
RECORDS, BINDINGS = 3, 6
"""Writes of a commit over two leaves: a gang lease, two pages, its word, bindings."""
LIMITED = "limited"
APISERVER_FLAGS = [
    f"--admission-control-config-file={Path(__file__).with_name('limited.yaml')}",
]
"""Pods of that class need a quota."""


@pytest.fixture(scope="module")
def api(module_control_plane: Plane) -> Iterator[Api]:
    """The API as its admin, with nodes and a namespace for the chart."""
    run("helm", "version")
    create_fleet(module_control_plane.kubeconfig(), FLEET)
    with module_control_plane.api() as api, namespaces(api):
        yield api


@pytest.fixture(scope="module")
def release(module_control_plane: Plane, api: Api, tmp_path_factory: Any) -> Iterator[Release]:
    """Revision 1, of the chart of yesterday."""
    release = Release(module_control_plane, tmp_path_factory.mktemp("release"))
    release.install(BATCH)
    yield release
    release.uninstall()


def configured(api: Api) -> Any:
    """The spec of the config that stands in the cluster."""
    return yaml.safe_load(api.get(CONFIG)["data"]["defaults.yaml"])["spec"]


def knows_the_field(api: Api) -> bool:
    """Whether the server's schema of claims has the field that yesterday's chart lacks."""
    return NEW_FIELD[-1] in inner(schema_of(api.get(CRD)), NEW_FIELD[:-1])


@pytest.mark.parametrize("values", [(), SWITCHED_ON], ids=["default", "everything"])
def test_pods_are_admitted_at_their_level(api: Api, release: Release, values: Any) -> None:
    """Restricted where the level is enforced; the agent's alone would be refused there."""
    for body in rendered("fourleaf", *values):
        if body["kind"] in WORKLOADS:
            metadata, template = body["metadata"], body["spec"]["template"]
            assert admission(api, metadata["namespace"], template) == "", metadata["name"]
            if metadata["name"] == "fourleaf-agent":
                assert "violates PodSecurity" in admission(api, SYSTEM, template)
        elif body["kind"] == "Pod":
            assert admission(api, SYSTEM, body) == ""


def test_a_release_works_changes_and_goes_and_loses_nothing(
    module_control_plane: Plane, api: Api, release: Release, tmp_path: Path
) -> None:
    """What runs, runs on; kinds and config follow an upgrade and a rollback; claims stay."""
    with scheduler(module_control_plane, api, tmp_path) as replica:
        space = work(api)
        before = held(api, space)
        assert len({node for _, node, _ in before.values()} & set(FLEET.names())) == SIZE
        finds_a_leader(replica)
        api.patch(HOOK, [_bundle("YQ==")], "application/json-patch+json")
        for values, size in (("--set=config.batch.size=7",), 7), ((*OURS, BATCH), 300):
            upgraded_and_back(api, release, values, size)
            assert replica.leads
            assert held(api, space) == before
            assert breaches(api, [GANG], SYSTEM) == []
    release.uninstall()
    assert held(api, space) == before
    # A changed kind is served again after a moment.
    eventually(lambda: api.get(f"{claims(space)}/kept"), "the claim is there")
    with pytest.raises(ApiError, match="NotFound"):
        api.get(HOOK)
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
    assert api.get(path)["items"] == []
    release.install(BATCH)


def test_commits_in_flight_outlive_an_upgrade_and_a_rollback(
    module_control_plane: Plane, api: Api, release: Release, tmp_path: Path
) -> None:
    """A leader dies amid each, once amid its records and once amid its bindings.

    Helm changes the release before anybody follows. The next leader brings the gang to run as a
    whole, and moves no pod that was bound.
    """
    plane, revision = module_control_plane, len(release.revisions())
    up, down = ([f"{name}-{index}" for index in range(SIZE)] for name in ("up", "down"))
    with doomed(plane, tmp_path, "old", RECORDS) as old:
        first = dies_in_a_commit(api, old, up)
    assert breaches(api, [up], SYSTEM)
    release.upgrade("--set=config.batch.size=7")
    with doomed(plane, tmp_path, "new", BINDINGS) as new:
        comes_to_rest(api, first, up)
        whole = standing(api, first)
        second = dies_in_a_commit(api, new, down)
    assert breaches(api, [down], SYSTEM)
    begun = standing(api, second)
    release.rollback(revision)
    with scheduler(plane, api, tmp_path):
        comes_to_rest(api, second, down)
    ended = standing(api, second)
    assert begun.items() <= ended.items()
    assert standing(api, first) == whole
    nodes = [node for _, node, _ in (*whole.values(), *ended.values())]
    assert len(set(nodes) & set(FLEET.names())) == 2 * SIZE


def upgraded_and_back(api: Api, release: Release, values: tuple[str, ...], size: int) -> None:
    """To the chart as it ships with `values`, and to the one of yesterday again."""
    revisions = release.revisions()
    assert not knows_the_field(api)
    release.upgrade(*values)
    assert configured(api)["batch"] == {"size": size}
    assert knows_the_field(api)
    assert api.get(HOOK)["webhooks"][0]["clientConfig"]["caBundle"] == "YQ=="
    release.rollback(len(revisions))
    assert configured(api)["batch"] == {"size": 300}
    assert not knows_the_field(api)
    assert release.revisions()[-2:] == ["superseded", "deployed"]


def finds_a_leader(replica: Replica) -> None:
    """What the pod of `helm test` runs is content."""
    (test,) = (one for one in rendered("fourleaf") if one["kind"] == "Pod")
    kubeconfig = replica.command[replica.command.index("--kubeconfig") + 1]
    main = "from fourleaf.cli.main import main; main()"
    (container,) = test["spec"]["containers"]
    command = [sys.executable, "-c", main, *container["args"], "--kubeconfig", kubeconfig]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _bundle(value: str) -> dict[str, str]:
    """What the webhook does with its authority."""
    return {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": value}


def test_every_object_is_taken_as_it_is_written(api: Api, release: Release) -> None:
    """With everything on, and with unknown and doubled fields as errors."""
    for body in rendered("fourleaf", *SWITCHED_ON):
        if f"{body['apiVersion']}/{body['kind']}" in FOREIGN or body["kind"] == "Pod":
            continue
        applied(api, path_of(api, body) + "?dryRun=All&fieldValidation=Strict", body, HELM)


def test_overlays_are_taken_too(api: Api, release: Release) -> None:
    """Of kind, GKE and DRA, as kustomize builds them."""
    for overlay in ("kind", "gke", "dra"):
        text = run("kustomize", "build", DEPLOY / "kustomize" / "overlays" / overlay).stdout
        for body in yaml.safe_load_all(text):
            path = path_of(api, body)
            applied(api, path + "?dryRun=All&fieldValidation=Strict", body, HELM)


def test_the_nodes_for_kind_are_taken(api: Api, release: Release) -> None:
    """With their GPUs, though nobody but kwok will ever say that they live."""
    nodes = list(yaml.safe_load_all((DEPLOY / "kind" / "nodes.yaml").read_text()))
    assert len(nodes) == KIND.nodes
    for body in nodes:
        name = f"kind-{body['metadata']['name']}"
        path = "/api/v1/nodes?dryRun=All&fieldValidation=Strict"
        made = api.create(path, {**body, "metadata": {**body["metadata"], "name": name}})
        assert made["status"]["allocatable"]["nvidia.com/gpu"] == str(KIND.gpus)


def test_quotas_admit_pods_where_their_class_is_limited(
    module_control_plane: Plane, api: Api
) -> None:
    """As on GKE: refused without the chart's quota, admitted once it counts."""
    if not module_control_plane.managed:
        pytest.skip("whom that cluster admits is not ours to say")
    body = {"metadata": {"name": LIMITED}, "value": 1}
    api.create("/apis/scheduling.k8s.io/v1/priorityclasses", body)
    space = api.new_namespace()
    values = f"--set=priorityQuota.enabled=true,scheduler.priorityClassName={LIMITED}"
    made = {
        (one["kind"], one["metadata"].get("namespace")): one
        for one in rendered("fourleaf", values, namespace=space)
        if one["metadata"]["name"] in ("fourleaf-scheduler", "fourleaf-priority")
    }
    template = made["Deployment", space]["spec"]["template"]
    # Admission hears of the class a moment after it was made.
    scopes = "insufficient quota to match these scopes"
    eventually(lambda: scopes in admission(api, space, template), "the pod lacks a quota")
    quota = made["ResourceQuota", space]
    path = path_of(api, quota)
    applied(api, path, quota, HELM)
    # Its controller, which does not run here, counts by these.
    api.patch(f"{path}/status", {"status": {**quota["spec"], "used": {"pods": "0"}}})
    eventually(lambda: not admission(api, space, template), "the pod is admitted")
