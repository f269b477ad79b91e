"""The rights of every component: all that it does, and nothing else, on a real apiserver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.informers.owner_kinds import BUILT_IN_OWNERS
from fourleaf.k8s_bridge.informers.selection import Selection
from fourleaf.k8s_bridge.scheduler import WATCHED_KINDS
from fourleaf.model.crds.definitions import definitions
from tests.controlplane.api import Api
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.waiting import eventually
from tests.e2e.accounts import (
    AGENT,
    DASHBOARD,
    RBAC,
    SCHEDULER,
    WEBHOOK,
    account,
    allowed,
    install,
    uninstall,
)
from tests.e2e.attacks import Body, pod
from tests.e2e.board import Board
from tests.e2e.checker import holds
from tests.e2e.replica import Replica

Rights = dict[str, dict[str, str]]
"""Namespace ("" for all) -> group/resource[/subresource][=name] -> verbs."""
READS = "list watch"
DESCRIBED = (
    "ray.io/rayclusters",
    "ray.io/rayjobs",
    "ray.io/rayservices",
    "kubeflow.org/pytorchjobs",
    "kubeflow.org/tfjobs",
    "kubeflow.org/xgboostjobs",
    "kubeflow.org/paddlejobs",
    "kubeflow.org/jaxjobs",
    "kubeflow.org/mpijobs",
    "trainer.kubeflow.org/trainjobs",
    "batch.volcano.sh/jobs",
    "sparkoperator.k8s.io/sparkapplications",
    "workload.codeflare.dev/appwrappers",
    "grove.io/podcliques",
    "grove.io/podcliquescalinggroups",
    "grove.io/podcliquesets",
    "scheduler.grove.io/podgangs",
)
"""Owners whose sizes a table says."""
GATED = ("scheduling.k8s.io/podgroups",)
"""Kinds that a server has only behind a feature gate; `test_native_groups.py` reads them."""
BUILT_IN_GROUPS = (
    "admissionregistration.k8s.io",
    "coordination.k8s.io",
    "events.k8s.io",
    "gpu.scheduling",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
)
"""Groups that the server has by itself, or that have definitions of their own."""
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ACCOUNTS = {"scheduler": SCHEDULER, "webhook": WEBHOOK, "agent": AGENT, "dashboard": DASHBOARD}
DOES: dict[str, Rights] = {
    "scheduler": {
        "": {
            "core/nodes": f"get {READS}",
            "core/pods": f"get {READS} patch",
            "core/persistentvolumeclaims": f"get {READS} patch",
            "core/persistentvolumes": READS,
            "storage.k8s.io/storageclasses": READS,
            "storage.k8s.io/csidrivers": READS,
            "storage.k8s.io/csinodes": READS,
            "storage.k8s.io/csistoragecapacities": READS,
            "storage.k8s.io/volumeattachments": READS,
            "core/pods/binding": "create",
            "core/pods/eviction": "create",
            "core/pods/status": "patch",
            "apps/deployments": READS,
            "apps/replicasets": READS,
            "apps/statefulsets": READS,
            "batch/jobs": READS,
            "policy/poddisruptionbudgets": READS,
            "jobset.x-k8s.io/jobsets": READS,
            "leaderworkerset.x-k8s.io/leaderworkersets": READS,
            **dict.fromkeys(DESCRIBED, READS),
            "scheduling.k8s.io/priorityclasses": READS,
            "scheduling.k8s.io/podgroups": READS,
            "scheduling.x-k8s.io/podgroups": READS,
            "scheduling.volcano.sh/podgroups": READS,
            "scheduling.k8s.io/podgroups/status": "patch",
            "scheduling.x-k8s.io/podgroups/status": "patch",
            "scheduling.volcano.sh/podgroups/status": "patch",
            "gpu.scheduling/gpuclaims": READS,
            "gpu.scheduling/gpunodestatuses": READS,
            "gpu.scheduling/gpuclaims/status": "patch",
            "resource.k8s.io/resourceclaims": f"get {READS} patch",
            "resource.k8s.io/resourceclaims/status": "patch",
            "resource.k8s.io/resourceclaims/binding": "patch",
            "resource.k8s.io/resourceslices": READS,
            "resource.k8s.io/deviceclasses": READS,
            "admissionregistration.k8s.io/mutatingwebhookconfigurations": "list",
            "admissionregistration.k8s.io/validatingwebhookconfigurations": "list",
            "admissionregistration.k8s.io/mutatingadmissionpolicies": "list",
            "admissionregistration.k8s.io/validatingadmissionpolicies": "list",
            "events.k8s.io/events": "create patch",
        },
        "kube-system": {
            "coordination.k8s.io/leases": "get list create update delete",
            "core/configmaps": f"get {READS}",
        },
        "kube-node-lease": {"coordination.k8s.io/leases": "list watch"},
    },
    "webhook": {
        "": {
            "gpu.scheduling/gpuclaims": "list watch",
            "admissionregistration.k8s.io/mutatingwebhookconfigurations=fourleaf-webhook": (
                "get update"
            ),
            "admissionregistration.k8s.io/validatingwebhookconfigurations=fourleaf-webhook": (
                "get update"
            ),
        },
        "kube-system": {
            "core/configmaps": "list watch",
            "core/secrets=fourleaf-webhook-tls": "get update",
        },
    },
    "agent": {
        "": {
            "core/nodes": "get",
            "core/pods": "list watch",
            "gpu.scheduling/gpunodestatuses": "get create patch",
            "gpu.scheduling/gpunodestatuses/status": "patch",
            "events.k8s.io/events": "create patch",
        },
    },
    "dashboard": {
        "": {
            "core/nodes": READS,
            "core/pods": READS,
            "core/persistentvolumeclaims": READS,
            "core/persistentvolumes": READS,
            "storage.k8s.io/storageclasses": READS,
            "storage.k8s.io/csidrivers": READS,
            "storage.k8s.io/csinodes": READS,
            "storage.k8s.io/csistoragecapacities": READS,
            "storage.k8s.io/volumeattachments": READS,
            "apps/deployments": READS,
            "apps/replicasets": READS,
            "apps/statefulsets": READS,
            "batch/jobs": READS,
            "jobset.x-k8s.io/jobsets": READS,
            "leaderworkerset.x-k8s.io/leaderworkersets": READS,
            **dict.fromkeys(DESCRIBED, READS),
            "policy/poddisruptionbudgets": READS,
            "scheduling.k8s.io/priorityclasses": READS,
            "scheduling.k8s.io/podgroups": READS,
            "scheduling.x-k8s.io/podgroups": READS,
            "scheduling.volcano.sh/podgroups": READS,
            "gpu.scheduling/gpuclaims": READS,
            "gpu.scheduling/gpunodestatuses": READS,
            "resource.k8s.io/resourceclaims": READS,
            "resource.k8s.io/resourceslices": READS,
            "resource.k8s.io/deviceclasses": READS,
            "events.k8s.io/events": "list",
        },
        "kube-system": {"coordination.k8s.io/leases": "list", "core/configmaps": READS},
    },
}
NOBODY: Rights = {
    "": {
        "core/secrets": "list watch delete",
        "core/pods": "create update delete deletecollection",
        "core/pods/exec": "create",
        "core/pods/attach": "create",
        "core/pods/portforward": "create",
        "core/pods/ephemeralcontainers": "patch update",
        "core/nodes": "create update patch delete",
        "core/nodes/status": "patch update",
        "core/nodes/proxy": "get",
        "core/namespaces": "create delete patch",
        "core/serviceaccounts": "impersonate",
        "core/users": "impersonate",
        "core/serviceaccounts/token": "create",
        "core/configmaps": "create update patch delete",
        "apps/daemonsets": "create patch",
        "apps/deployments": "create patch delete",
        "rbac.authorization.k8s.io/clusterroles": "create patch bind escalate",
        "rbac.authorization.k8s.io/clusterrolebindings": "create patch",
        "rbac.authorization.k8s.io/rolebindings": "create patch",
        "admissionregistration.k8s.io/mutatingwebhookconfigurations": "create delete patch",
        "admissionregistration.k8s.io/validatingwebhookconfigurations": "create delete patch",
        "admissionregistration.k8s.io/validatingadmissionpolicies": "create update patch delete",
        "admissionregistration.k8s.io/validatingadmissionpolicybindings": "create patch delete",
        "apiextensions.k8s.io/customresourcedefinitions": "create update patch delete",
        "certificates.k8s.io/certificatesigningrequests": "create",
        "coordination.k8s.io/leases": "create update patch delete",
        "gpu.scheduling/gpuclaims": "create update patch delete",
        "gpu.scheduling/gpunodestatuses": "delete",
        "gpu.scheduling/schedulers": "bind",
    },
    "kube-system": {"core/secrets": "list watch delete", "core/configmaps": "create update patch"},
}
FORBIDDEN: dict[str, Rights] = {
    "scheduler": {
        "": {
            "core/secrets": "get",
            "core/configmaps": "get list watch",
            "gpu.scheduling/gpunodestatuses": "create update patch",
            "gpu.scheduling/gpunodestatuses/status": "patch update",
            "batch/jobs": "create patch delete",
        },
        "kube-system": {
            "core/secrets": "get create",
            "coordination.k8s.io/leases": "deletecollection",
        },
        "kube-node-lease": {"coordination.k8s.io/leases": "create update patch delete"},
    },
    "webhook": {
        "": {
            "core/secrets": "get",
            "core/pods": "get list watch patch",
            "core/pods/binding": "create",
            "core/pods/status": "patch",
            "core/nodes": "get list",
            "gpu.scheduling/gpuclaims/status": "patch update",
            "gpu.scheduling/gpunodestatuses/status": "patch update",
            "admissionregistration.k8s.io/validatingwebhookconfigurations=other": "get update",
        },
        "kube-system": {
            "core/secrets=another": "get update",
            "coordination.k8s.io/leases": "get list create update patch delete",
        },
    },
    "agent": {
        "": {
            "core/secrets": "get",
            "core/pods": "patch",
            "core/pods/binding": "create",
            "core/pods/eviction": "create",
            "core/pods/status": "patch",
            "gpu.scheduling/gpuclaims/status": "patch update",
        },
        "kube-system": {
            "core/configmaps": "get list",
            "core/secrets": "get create",
            "coordination.k8s.io/leases": "get list create update",
        },
    },
    "dashboard": {
        "": {
            "core/secrets": "get",
            "core/pods": "patch",
            "core/pods/binding": "create",
            "core/pods/eviction": "create",
            "core/pods/status": "patch update",
            "core/pods/log": "get",
            "core/configmaps": "get list",
            "batch/jobs": "create update patch delete",
            "gpu.scheduling/gpuclaims/status": "patch update",
            "gpu.scheduling/gpunodestatuses": "create update patch",
            "resource.k8s.io/resourceclaims": "create update patch delete",
            "events.k8s.io/events": "create patch delete",
        },
        "kube-system": {
            "core/secrets": "get create",
            "coordination.k8s.io/leases": "create update patch delete deletecollection",
        },
    },
}


@pytest.fixture(scope="module")
def plane(module_control_plane: Plane) -> Iterator[Plane]:
    """A control plane with the accounts that ship, and their rights."""
    with module_control_plane.api() as api:
        made = install(api, *(RBAC / f"{name}.yaml" for name in ACCOUNTS))
        yield module_control_plane
        uninstall(api, made)


@pytest.fixture(scope="module", params=ACCOUNTS)
def component(
    request: pytest.FixtureRequest, plane: Plane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Api]]:
    """A component, and the API as its account."""
    name = str(request.param)
    path = account(plane, ACCOUNTS[name], tmp_path_factory.mktemp("accounts"))
    with Api(path) as api:
        eventually(lambda: not denied(api, DOES[name]), f"{name} has its rights")
        yield name, api


def each(rights: Rights) -> Iterator[tuple[str, str, str, str]]:
    """Namespace, resource, name and verb, one by one."""
    for namespace, resources in rights.items():
        for one, verbs in resources.items():
            resource, _, name = one.partition("=")
            for verb in verbs.split():
                yield namespace, resource, name, verb


def denied(api: Api, rights: Rights) -> list[str]:
    """Those of `rights` that whoever `api` is does not have."""
    return [
        f"{verb} {resource} {name} in {namespace or 'any namespace'}"
        for namespace, resource, name, verb in each(rights)
        if not allowed(api, verb, resource, namespace or "default", name)
    ]


def granted(api: Api, rights: Rights) -> list[str]:
    """Those of `rights` that whoever `api` is has."""
    without = set(denied(api, rights))
    return [
        text
        for namespace, resource, name, verb in each(rights)
        if (text := f"{verb} {resource} {name} in {namespace or 'any namespace'}") not in without
    ]


def rules(path: Path) -> set[tuple[str, str, str, str]]:
    """All that the roles of a file allow, one by one."""
    found = set()
    for body in yaml.safe_load_all(path.read_text()):
        if body["kind"] not in ("Role", "ClusterRole"):
            continue
        namespace = body["metadata"].get("namespace", "")
        for rule in body["rules"]:
            found |= {
                (namespace, f"{group or 'core'}/{resource}", name, verb)
                for group in rule["apiGroups"]
                for resource in rule["resources"]
                for name in rule.get("resourceNames", [""])
                for verb in rule["verbs"]
            }
    return found


@pytest.mark.parametrize("name", ACCOUNTS)
def test_a_role_allows_what_its_component_does(name: str) -> None:
    """The rules that ship are the table above, right by right; no wildcard stands in them."""
    assert rules(RBAC / f"{name}.yaml") == set(each(DOES[name]))


def test_what_a_component_does_is_allowed(component: tuple[str, Api]) -> None:
    """Asked of the server under the component's own token."""
    name, api = component
    assert denied(api, DOES[name]) == []


def test_what_a_component_must_not_do_is_forbidden(component: tuple[str, Api]) -> None:
    """Likewise; neither by its own role nor by one that every account has."""
    name, api = component
    assert granted(api, NOBODY) == []
    assert granted(api, FORBIDDEN[name]) == []


def test_the_scheduler_asks_for_nothing_that_it_may_not(plane: Plane, tmp_path: Path) -> None:
    """It binds a gang, says why another pod waits, and the server refuses it nothing."""
    if not plane.managed:
        pytest.skip("the audit log of that cluster is not ours to read")
    create_fleet(plane.kubeconfig(), Fleet(8))
    kubeconfig = account(plane, SCHEDULER, tmp_path)
    with plane.api() as api, Replica(plane, "admin", tmp_path, kubeconfig=kubeconfig) as replica:
        eventually(lambda: replica.leads, "it leads")
        pods = f"/api/v1/namespaces/{api.new_namespace()}/pods"
        for index in range(8):
            body = pod(f"wide-{index}", "8")
            body["metadata"]["annotations"] = {
                "topology.scheduler/gang": "wide",
                "topology.scheduler/gang-size": "8",
            }
            api.create(pods, body)
        eventually(lambda: all(map(holds, api.get(pods)["items"])), "all are bound")
        api.create(pods, pod("too-many", "8"))
        eventually(
            lambda: api.get(f"{pods}/too-many")["status"].get("conditions"), "it says why it waits"
        )
    user = "system:serviceaccount:" + ":".join(SCHEDULER)
    asked = [event for event in plane.audit() if event["user"]["username"] == user]
    assert asked
    refused = [
        f"{event['verb']} {event['requestURI']}"
        for event in asked
        if event["responseStatus"]["code"] == 403
    ]
    assert refused == []


def served(plane: Plane) -> None:
    """Let the API serve every kind that components read, in whatever shape."""
    kinds = [one.kind if isinstance(one, Selection) else one for one in WATCHED_KINDS]
    kinds += [one.kind for one in BUILT_IN_OWNERS]
    with plane.api() as api:
        for body in definitions():
            api.create(DEFINITIONS, body)
        for kind in {one for one in kinds if "." in one.group and one.group not in BUILT_IN_GROUPS}:
            api.create(DEFINITIONS, definition(kind))


def definition(kind: Kind) -> Body:
    """The definition of a kind of any shape."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    names = {"kind": kind.name, "plural": kind.plural, "singular": kind.name.lower()}
    metadata = {
        "name": f"{kind.plural}.{kind.group}",
        "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
    }
    spec = {"group": kind.group, "names": names, "scope": "Namespaced", "versions": [version]}
    return {"metadata": metadata, "spec": spec}


def test_every_kind_that_a_role_names_is_read(plane: Plane, tmp_path: Path) -> None:
    """Scheduler and dashboard list and watch whatever is served of what they may."""
    if not plane.managed:
        pytest.skip("the audit log of that cluster is not ours to read")
    served(plane)
    paths = {name: account(plane, ACCOUNTS[name], tmp_path) for name in ("scheduler", "dashboard")}
    with (
        Replica(plane, "admin", tmp_path, kubeconfig=paths["scheduler"]) as replica,
        Board(paths["dashboard"], tmp_path),
    ):
        eventually(lambda: replica.leads, "it leads")
        eventually(lambda: not unread(plane, "scheduler"), "the scheduler reads every kind")
        eventually(lambda: not unread(plane, "dashboard"), "the dashboard reads every kind")


def unread(plane: Plane, component: str) -> list[str]:
    """What a component may watch everywhere, and has not.

    What it may only list is asked for when something is to be bound.
    """
    user = "system:serviceaccount:" + ":".join(ACCOUNTS[component])
    done = {
        (event["verb"], f"{what.get('apiGroup') or 'core'}/{what['resource']}")
        for event in plane.audit()
        if event["user"]["username"] == user and (what := event.get("objectRef"))
    }
    return [
        f"{verb} {resource}"
        for resource, verbs in DOES[component][""].items()
        for verb in ("list", "watch")
        if "watch" in verbs.split()
        and verb in verbs.split()
        and resource not in (*GATED, "events.k8s.io/events")
        and (verb, resource) not in done
    ]
