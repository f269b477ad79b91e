"""What a tenant may try, each as one request that has to be refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fourleaf.k8s_bridge.cluster.memory.actors import container
from tests.controlplane.api import JSON, MERGE_PATCH, STRATEGIC_PATCH, Api

DEVICES = "alloc.gpu.scheduling/devices"
FIELD = f"metadata.annotations[{DEVICES}]"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
POD = "/api/v1/namespaces/{space}/pods"
ELSEWHERE = "/api/v1/namespaces/{elsewhere}/pods"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
CLAIMS = "/apis/gpu.scheduling/v1/namespaces/{space}/gpuclaims"
NODES = "/apis/gpu.scheduling/v1/gpunodestatuses"
DEVICE_CLAIMS = "/apis/resource.k8s.io/v1/namespaces/{space}/resourceclaims"
COMMIT = "alloc.gpu.scheduling/commit"
FENCE = "alloc.gpu.scheduling/fence"

Body = dict[str, Any]


@dataclass(frozen=True)
class Attack:
    """One request, and what its refusal has to name: one of the fields `refused_for`.

    In `path`, {space} is a namespace that has opted in, {elsewhere} one that has not. `change`
    makes the body from the object that is there, where a request needs all of it.
    """

    name: str
    method: str
    path: str
    refused_for: str | tuple[str, ...]
    body: Any = None
    content_type: str = JSON
    change: Callable[[Body], None] | None = field(default=None, compare=False)

    def send(self, api: Api, space: str, elsewhere: str, dry_run: bool = False) -> None:
        """Try it. Raises `ApiError` where it is refused."""
        path = self.path.format(space=space, elsewhere=elsewhere)
        body = self.body
        if self.change is not None:
            body = api.get(path)
            self.change(body)
        if dry_run:
            path += ("&" if "?" in path else "?") + "dryRun=All"
        api.request(self.method, path, body, self.content_type)


def pod(
    name: str, gpus: str = "", scheduler: str = "topology-aware-scheduler", **spec: Any
) -> Body:
    """A pod of one container, with GPUs where `gpus` says how many."""
    main = container()
    if gpus:
        main["resources"] = {"limits": {"nvidia.com/gpu": gpus}}
    whole = {"schedulerName": scheduler, "containers": [main], **spec}
    return {"metadata": {"name": name}, "spec": whole}


def said(body: Body, **metadata: Any) -> Body:
    """`body` with more metadata."""
    return {**body, "metadata": {**body["metadata"], **metadata}}


def annotated(value: str | None) -> Body:
    """A patch of the devices of a pod."""
    return {"metadata": {"annotations": {DEVICES: value}}}


def device_claim(name: str, **metadata: Any) -> Body:
    """A ResourceClaim for one device."""
    exactly = {"deviceClassName": "gpu.nvidia.com"}
    spec = {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}}
    return {"metadata": {"name": name, **metadata}, "spec": spec}


def committed(value: str | None) -> Body:
    """A patch of the commit of a claim."""
    return {"metadata": {"annotations": {COMMIT: value}}}


def binding(name: str, **metadata: Any) -> Body:
    """A Binding of a pod to gpu-0."""
    target = {"apiVersion": "v1", "kind": "Node", "name": "gpu-0"}
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name, **metadata},
        "target": target,
    }


def _forge(body: Body) -> None:
    body["metadata"]["annotations"][DEVICES] = "6,7"


def _remove(body: Body) -> None:
    del body["metadata"]["annotations"][DEVICES]


def _recommit(body: Body) -> None:
    body["metadata"]["annotations"][COMMIT] = "mine"


def _uncommit(body: Body) -> None:
    del body["metadata"]["annotations"][COMMIT]


def _take_over(body: Body) -> None:
    body["spec"]["holderIdentity"] = "somebody-else"


_MAPPED = said(pod("x", nodeName="gpu-0", scheduler="mine"))
_MAPPED["metadata"]["annotations"] = {"gpu-scheduling-map": "0=gpu-0:0"}
_INIT = pod("x", scheduler="mine", nodeName="gpu-0")
_INIT["spec"]["initContainers"] = [
    {"name": "init", "image": "train", "resources": {"limits": {"amd.com/gpu": "1"}}}
]
_APPLIED = {"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": {DEVICES: "6,7"}}}

# Where two policies refuse, either may speak first.
ANNOTATIONS = [
    Attack("create", "POST", POD, FIELD, said(pod("x", "8"), annotations={DEVICES: "0"})),
    Attack(
        "create with a label",
        "POST",
        POD,
        "metadata.labels[alloc.gpu.scheduling/commit]",
        said(pod("x"), labels={"alloc.gpu.scheduling/commit": "c"}),
    ),
    *(
        Attack(
            f"create elsewhere with {key}",
            "POST",
            ELSEWHERE,
            f"metadata.annotations[{key}]",
            said(pod("x", "1", "default-scheduler"), annotations={key: "0"}),
        )
        for key in (DEVICES, COMMIT)
    ),
    Attack("update changes", "PUT", POD + "/held", FIELD, change=_forge),
    Attack("update removes", "PUT", POD + "/held", FIELD, change=_remove),
    Attack("merge patch sets", "PATCH", POD + "/free", FIELD, annotated("0"), MERGE_PATCH),
    Attack("merge patch changes", "PATCH", POD + "/held", FIELD, annotated("6"), MERGE_PATCH),
    Attack("merge patch removes", "PATCH", POD + "/held", FIELD, annotated(None), MERGE_PATCH),
    Attack("strategic patch", "PATCH", POD + "/held", FIELD, annotated("6"), STRATEGIC_PATCH),
    Attack(
        "strategic patch replaces all",
        "PATCH",
        POD + "/held",
        FIELD,
        {"metadata": {"annotations": {"$patch": "replace", "own": "1"}}},
        STRATEGIC_PATCH,
    ),
    Attack(
        "JSON patch",
        "PATCH",
        POD + "/held",
        FIELD,
        [{"op": "remove", "path": "/metadata/annotations"}],
        JSON_PATCH,
    ),
    Attack(
        "apply",
        "PATCH",
        POD + "/held?fieldManager=me&force=true",
        FIELD,
        json.dumps(_APPLIED),
        APPLY,
    ),
    Attack("status patch", "PATCH", POD + "/held/status", FIELD, annotated("6"), MERGE_PATCH),
    Attack("status removes", "PUT", POD + "/held/status", FIELD, change=_remove),
    Attack(
        "binding",
        "POST",
        POD + "/free/binding",
        (FIELD, "target.name"),
        binding("free", annotations={DEVICES: "0"}),
    ),
    Attack(
        "binding with a label",
        "POST",
        POD + "/free/binding",
        ("metadata.labels[alloc.gpu.scheduling/commit]", "target.name"),
        binding("free", labels={"alloc.gpu.scheduling/commit": "c"}),
    ),
]
BINDINGS = [
    Attack("binding alone", "POST", POD + "/free/binding", "target.name", binding("free")),
    Attack(
        "binding of the collection",
        "POST",
        "/api/v1/namespaces/{space}/bindings",
        "target.name",
        binding("free"),
    ),
]
NODE_NAMES = [
    Attack("GPUs", "POST", ELSEWHERE, "spec.nodeName", pod("x", "1", "mine", nodeName="gpu-0")),
    Attack("GPUs of an init container", "POST", ELSEWHERE, "spec.nodeName", _INIT),
    Attack("our scheduler", "POST", ELSEWHERE, "spec.nodeName", pod("x", nodeName="gpu-0")),
    Attack("a device map", "POST", ELSEWHERE, "spec.nodeName", _MAPPED),
]


def _with(body: Body, **container: Any) -> Body:
    """`body` with more of its container."""
    (main,) = body["spec"]["containers"]
    return {**body, "spec": {**body["spec"], "containers": [{**main, **container}]}}


def _asking(resource: str) -> Body:
    """A pod of kube-scheduler with one of `resource`."""
    limits = {"limits": {resource: "1"}}
    return _with(pod("x", scheduler="default-scheduler"), resources=limits)


def _mounting(path: str) -> Body:
    """A pod of ours with a path of the host."""
    return pod("x", volumes=[{"name": "host", "hostPath": {"path": path}}])


def _capable(name: str) -> Body:
    """A pod with a capability."""
    return _with(pod("x", scheduler="mine"), securityContext={"capabilities": {"add": [name]}})


def _debugging(**container: Any) -> Body:
    """A patch that adds a container to a pod that runs."""
    debug = {"name": "debug", "image": "tools", **container}
    return {"spec": {"ephemeralContainers": [debug]}}


_CLAIMING = pod(
    "x", scheduler="default-scheduler", resourceClaims=[{"name": "c", "resourceClaimName": "free"}]
)
_PRIVILEGED = {"securityContext": {"privileged": True}}
_SEES_ALL = {"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}
_ELSEWHERE_CHOSEN = {
    "env": [
        {
            "name": "CUDA_VISIBLE_DEVICES",
            "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['mine']"}},
        }
    ]
}
ENFORCED = [
    Attack("default", "POST", POD, "spec.schedulerName", pod("x", "1", "default-scheduler")),
    Attack("none named", "POST", POD, "spec.schedulerName", pod("x", "1", "")),
    Attack("of one's own", "POST", POD, "spec.schedulerName", pod("x", "0", "mine")),
    *(
        Attack(resource, "POST", POD, "spec.schedulerName", _asking(resource))
        for resource in (
            "nvidia.com/mig-1g.5gb",
            "nvidia.com/gpu.shared",
            "deviceclass.resource.kubernetes.io/gpu.nvidia.com",
        )
    ),
    Attack("a claim of another scheduler", "POST", POD, "spec.resourceClaims", _CLAIMING),
    Attack(
        "all at once, and no scheduler named",
        "POST",
        POD,
        "spec.",
        _with(pod("x", scheduler="", nodeName="gpu-0", hostPID=True), **_PRIVILEGED),
    ),
    Attack(
        "a node of its own choice",
        "POST",
        POD,
        "spec.nodeName",
        pod("x", scheduler="default-scheduler", nodeName="gpu-0"),
    ),
    *(
        Attack(f"{name} under any scheduler", "POST", POD, "spec.containers", _with(body, **env))
        for name, env in (
            ("NVIDIA_VISIBLE_DEVICES", _SEES_ALL),
            ("AMD_VISIBLE_DEVICES", {"env": [{"name": "AMD_VISIBLE_DEVICES", "value": "all"}]}),
            ("GPU_DEVICE_ORDINAL", {"env": [{"name": "GPU_DEVICE_ORDINAL", "value": "0"}]}),
            ("an annotation of its own", _ELSEWHERE_CHOSEN),
        )
        for body in (pod("x", scheduler="default-scheduler"),)
    ),
    Attack(
        "privileged", "POST", POD, "spec.containers", _with(pod("x", "", "mine"), **_PRIVILEGED)
    ),
    *(
        Attack(name, "POST", POD, "spec.containers", _capable(name))
        for name in ("SYS_ADMIN", "SYS_RAWIO", "DAC_READ_SEARCH", "ALL")
    ),
    Attack("hostPID", "POST", POD, "spec.hostPID", pod("x", scheduler="mine", hostPID=True)),
    Attack("hostIPC", "POST", POD, "spec.hostIPC", pod("x", scheduler="mine", hostIPC=True)),
    *(
        Attack(f"hostPath {path}", "POST", POD, "spec.volumes", _mounting(path))
        for path in (
            "/",
            "//dev//nvidia0",
            "/run/nvidia/driver/dev",
            "/proc/1/dev",
            "/dev/char",
            "/var/lib/kubelet/device-plugins",
            "/run/containerd/containerd.sock",
            "/sys",
            "/mnt-of-others",
        )
    ),
    Attack(
        "a privileged debugger",
        "PATCH",
        POD + "/held/ephemeralcontainers",
        "spec.containers",
        _debugging(**_PRIVILEGED),
        STRATEGIC_PATCH,
    ),
    Attack(
        "a debugger that sees all",
        "PATCH",
        POD + "/held/ephemeralcontainers",
        "spec.containers",
        _debugging(**_SEES_ALL),
        STRATEGIC_PATCH,
    ),
]
LEASES = [
    Attack(
        "a page made up", "POST", LEASE, "metadata.name", {"metadata": {"name": "page-leaf-0-0"}}
    ),
    *(
        Attack(name, "POST", LEASE, "metadata.name", {"metadata": {"name": f"fourleaf-{name}"}})
        for name in ("node-failures", "moves", "config")
    ),
    Attack(
        "a record by its label",
        "POST",
        LEASE,
        "metadata.name",
        {"metadata": {"name": "mine", "labels": {"alloc.gpu.scheduling/record": "page"}}},
    ),
    Attack(
        "the leader's", "PUT", LEASE + "/fourleaf-scheduler", "metadata.name", change=_take_over
    ),
    Attack(
        "a label taken off",
        "PATCH",
        LEASE + "/page-held",
        "metadata.name",
        {"metadata": {"labels": None}},
        MERGE_PATCH,
    ),
    Attack("deleted", "DELETE", LEASE + "/page-held", "metadata.name"),
    Attack(
        "all deleted",
        "DELETE",
        LEASE + "?labelSelector=alloc.gpu.scheduling/record",
        "metadata.name",
    ),
]
INVENTORIES = [
    Attack(
        "made up",
        "POST",
        NODES,
        "metadata.name",
        {
            "apiVersion": "gpu.scheduling/v1",
            "kind": "GpuNodeStatus",
            "metadata": {"name": "gpu-3"},
        },
    ),
    Attack(
        "status",
        "PATCH",
        NODES + "/gpu-0/status",
        "metadata.name",
        {"status": {"gpus": []}},
        MERGE_PATCH,
    ),
    Attack(
        "labels",
        "PATCH",
        NODES + "/gpu-0",
        "metadata.name",
        {"metadata": {"labels": {"a": "b"}}},
        MERGE_PATCH,
    ),
]
CLAIM_STATUS = [
    Attack(
        "status",
        "PATCH",
        CLAIMS + "/claim/status",
        "status",
        {"status": {"allocated": 7}},
        MERGE_PATCH,
    ),
]
_COMMIT = f"metadata.annotations[{COMMIT}]"
_FENCE = f"metadata.annotations[{FENCE}]"
_HELD = DEVICE_CLAIMS + "/held"
_APPLIED_CLAIM = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"annotations": {COMMIT: "mine"}},
}
DEVICE_CLAIM_MARKS = [
    Attack("create", "POST", DEVICE_CLAIMS, _COMMIT, device_claim("x", annotations={COMMIT: "c1"})),
    Attack(
        "create with a label",
        "POST",
        DEVICE_CLAIMS,
        f"metadata.labels[{COMMIT}]",
        device_claim("x", labels={COMMIT: "c1"}),
    ),
    Attack("update changes", "PUT", _HELD, _COMMIT, change=_recommit),
    Attack("update removes", "PUT", _HELD, _COMMIT, change=_uncommit),
    Attack("merge patch changes", "PATCH", _HELD, _COMMIT, committed("mine"), MERGE_PATCH),
    Attack("merge patch removes", "PATCH", _HELD, _COMMIT, committed(None), MERGE_PATCH),
    Attack(
        "merge patch fences",
        "PATCH",
        DEVICE_CLAIMS + "/free",
        _FENCE,
        {"metadata": {"annotations": {FENCE: "c1"}}},
        MERGE_PATCH,
    ),
    Attack(
        "JSON patch",
        "PATCH",
        _HELD,
        _COMMIT,
        [{"op": "remove", "path": "/metadata/annotations"}],
        JSON_PATCH,
    ),
    Attack(
        "apply",
        "PATCH",
        _HELD + "?fieldManager=me&force=true",
        _COMMIT,
        json.dumps(_APPLIED_CLAIM),
        APPLY,
    ),
]
ATTACKS = {
    "annotations": ANNOTATIONS,
    "bindings": BINDINGS,
    "node name": NODE_NAMES,
    "enforced": ENFORCED,
    "leases": LEASES,
    "inventories": INVENTORIES,
    "claims": CLAIM_STATUS,
    "resource claims": DEVICE_CLAIM_MARKS,
}
"""By policy; the first of each shows whether its policy is in force."""
