"""The kinds of objects that the bridge reads or writes, and where the API serves them."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind as the API serves it. `group` is "" for the core group.

    What `makes_pods` has pod specs in its templates.
    """

    group: str
    version: str
    plural: str
    name: str
    namespaced: bool = True
    makes_pods: bool = field(default=False, compare=False)

    @property
    def api_version(self) -> str:
        """`apiVersion` of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def is_always_served(self) -> bool:
        """Whether every API server serves it: a 404 to a list of it is no answer of one."""
        return self.version == "v1" and self.group in _ALWAYS_SERVED

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The URL path of the collection, or of one object or its subresource.

        Raises `ValueError` for names that would lead elsewhere.
        """
        parts = ["/apis" if self.group else "/api", self.api_version]
        if self.namespaced and namespace:
            parts += ["namespaces", _part(namespace)]
        parts += [self.plural, *(_part(one) for one in (name, subresource) if one)]
        return "/".join(parts)


_ALWAYS_SERVED = frozenset(
    {"", "apps", "batch", "coordination.k8s.io", "policy", "scheduling.k8s.io", "storage.k8s.io"}
)


def _part(text: str) -> str:
    if text in (".", ".."):
        raise ValueError(f"{text!r} is no name of an object")
    return quote(text, safe="")


NODES = Kind("", "v1", "nodes", "Node", namespaced=False)
PODS = Kind("", "v1", "pods", "Pod")
NAMESPACES = Kind("", "v1", "namespaces", "Namespace", namespaced=False)
CONFIG_MAPS = Kind("", "v1", "configmaps", "ConfigMap")
SECRETS = Kind("", "v1", "secrets", "Secret")
EVENTS = Kind("events.k8s.io", "v1", "events", "Event")
LEASES = Kind("coordination.k8s.io", "v1", "leases", "Lease")
PRIORITY_CLASSES = Kind(
    "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False
)
DISRUPTION_BUDGETS = Kind("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")
VOLUME_CLAIMS = Kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
VOLUMES = Kind("", "v1", "persistentvolumes", "PersistentVolume", namespaced=False)
STORAGE_CLASSES = Kind("storage.k8s.io", "v1", "storageclasses", "StorageClass", namespaced=False)
CSI_DRIVERS = Kind("storage.k8s.io", "v1", "csidrivers", "CSIDriver", namespaced=False)
CSI_NODES = Kind("storage.k8s.io", "v1", "csinodes", "CSINode", namespaced=False)
STORAGE_CAPACITIES = Kind("storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity")
VOLUME_ATTACHMENTS = Kind(
    "storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", namespaced=False
)
JOBS = Kind("batch", "v1", "jobs", "Job", makes_pods=True)
DEPLOYMENTS = Kind("apps", "v1", "deployments", "Deployment", makes_pods=True)
REPLICA_SETS = Kind("apps", "v1", "replicasets", "ReplicaSet", makes_pods=True)
STATEFUL_SETS = Kind("apps", "v1", "statefulsets", "StatefulSet", makes_pods=True)
JOB_SETS = Kind("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet", makes_pods=True)
LEADER_WORKER_SETS = Kind(
    "leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet", makes_pods=True
)
RAY_CLUSTERS = Kind("ray.io", "v1", "rayclusters", "RayCluster", makes_pods=True)
NATIVE_POD_GROUPS = Kind("scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup")
NATIVE_POD_GROUPS_BETA = Kind("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")
COSCHEDULING_POD_GROUPS = Kind("scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup")
GPU_CLAIMS = Kind("gpu.scheduling", "v1", "gpuclaims", "GpuClaim")
GPU_NODE_STATUSES = Kind(
    "gpu.scheduling", "v1", "gpunodestatuses", "GpuNodeStatus", namespaced=False
)
VOLCANO_POD_GROUPS = Kind("scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup")
RESOURCE_CLAIMS = Kind("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim")
RESOURCE_SLICES = Kind("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", namespaced=False)
DEVICE_CLASSES = Kind("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", namespaced=False)
RESOURCE_CLAIM_TEMPLATES = Kind(
    "resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate"
)
_ADMISSION = "admissionregistration.k8s.io"
VALIDATING_WEBHOOKS = Kind(
    _ADMISSION, "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", False
)
MUTATING_WEBHOOKS = Kind(
    _ADMISSION, "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", False
)
VALIDATING_POLICIES = Kind(
    _ADMISSION, "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", False
)
MUTATING_POLICIES = Kind(
    _ADMISSION, "v1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy", False
)
