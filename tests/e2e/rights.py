"""The rights of every account that ships, one by one, and those that stand next to them."""

from __future__ import annotations

from collections.abc import Iterator

from fourleaf.model.config.spec import CONFIG_MAP
from tests.e2e.accounts import AGENT, DASHBOARD, SCHEDULER, WEBHOOK

Rights = dict[str, dict[str, str]]
"""Namespace ("" for all) -> group/resource[/subresource][=name] -> verbs."""
Right = tuple[str, str, str, str]
"""Namespace, group/resource[/subresource], name ("" for any) and verb."""
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
CONFIG = f"core/configmaps={CONFIG_MAP}"
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
            CONFIG: f"get {READS}",
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
            CONFIG: READS,
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
        "kube-system": {"coordination.k8s.io/leases": "list", CONFIG: READS},
    },
}
"""By component: all that it does, and all that it may."""
EVERY_ACCOUNT = frozenset(
    {
        ("authentication.k8s.io/selfsubjectreviews", "create"),
        ("authorization.k8s.io/selfsubjectaccessreviews", "create"),
        ("authorization.k8s.io/selfsubjectrulesreviews", "create"),
    }
)
"""What the server itself lets every account do: ask who it is, and what it may."""
VERBS = (
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
)
NAMESPACES = ("default", "kube-system", "kube-node-lease")
"""Those of the roles that ship, and one that stands for all others."""
ANOTHER = "another"
SECRETS = "core/secrets"


def each(rights: Rights) -> Iterator[Right]:
    """Rights one by one."""
    for namespace, resources in rights.items():
        for one, verbs in resources.items():
            resource, _, name = one.partition("=")
            for verb in verbs.split():
                yield namespace, resource, name, verb


def within(rights: Rights, namespace: str) -> set[Right]:
    """What `rights` come to in one namespace."""
    return {
        (namespace, resource, name, verb)
        for place, resource, name, verb in each(rights)
        if place in ("", namespace)
    }


def neighbours(rights: Rights) -> list[Right]:
    """What stands next to `rights` and is none of them.

    Other verbs on the same object and on its status, without the name or on another one where a
    name is given, in other namespaces where a namespace is, and the same verbs on Secrets.
    """
    near: set[Right] = set()
    for place, resource, name, verb in each(rights):
        own = place or NAMESPACES[0]
        near.update((own, resource, name, other) for other in VERBS)
        near.update((namespace, SECRETS, ANOTHER, verb) for namespace in NAMESPACES)
        if resource.count("/") == 1:
            near.update((own, f"{resource}/status", name, other) for other in ("patch", "update"))
        if name:
            near |= {(own, resource, "", verb), (own, resource, ANOTHER, verb)}
        if place:
            near.update((namespace, resource, name, verb) for namespace in NAMESPACES)
    granted = {one for namespace in NAMESPACES for one in within(rights, namespace)}
    return sorted(
        one for one in near if one not in granted and (*one[:2], "", one[3]) not in granted
    )
