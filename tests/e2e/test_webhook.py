"""The webhook before a real API server: what it adds, and what it refuses."""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.throughput.cost import peak_mib
from tests.controlplane.api import STRATEGIC_PATCH, Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.waiting import eventually
from tests.e2e.hook import Hook, Scene, namespace, pod, pods, refusal, try_out, variables

SOURCE = "metadata.annotations['alloc.gpu.scheduling/devices']"
Body = dict[str, Any]


@pytest.fixture(scope="module")
def scene(module_control_plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """The webhook at work."""
    made = Scene(module_control_plane, tmp_path_factory.mktemp("hook"))
    with made.api:
        yield made


@pytest.fixture(scope="module")
def api(scene: Scene) -> Iterator[Api]:
    """An API server whose webhook answers."""
    with scene.hook():
        scene.wait()
        yield scene.api


def test_every_kind_of_container_is_told_its_devices(api: Api, scene: Scene) -> None:
    """Containers, init containers, sidecars and ephemeral containers take the annotation."""
    init = [
        {"name": "before", "image": "x"},
        {"name": "beside", "image": "x", "restartPolicy": "Always"},
    ]
    made = api.create(pods(scene.enforced), pod("all-kinds", initContainers=init))
    assert variables(made, ("containers", "initContainers")) == [
        ("main", SOURCE),
        ("before", SOURCE),
        ("beside", SOURCE),
    ]
    path = f"{pods(scene.enforced)}/all-kinds/ephemeralcontainers"
    more = {"spec": {"ephemeralContainers": [{"name": "debug", "image": "x"}]}}
    debugged = api.patch(path, more, STRATEGIC_PATCH)
    assert variables(debugged, ("ephemeralContainers",)) == [("debug", SOURCE)]


def test_pods_of_others_are_left_alone(api: Api, scene: Scene) -> None:
    """A pod with GPUs of another scheduler is as its author wrote it."""
    other = pod("other", schedulerName="default-scheduler")
    assert variables(try_out(api, scene.enforced, other), ("containers",)) == [("main", None)]


def test_a_namespace_can_ask_for_our_scheduler(api: Api, scene: Scene) -> None:
    """There, and only there, a pod with GPUs that names no scheduler gets ours, and its devices."""
    there = namespace(api, default_scheduler="true")
    plain = pod("plain")
    del plain["spec"]["schedulerName"]

    def made() -> Body:
        return try_out(api, there, plain)

    ours = "topology-aware-scheduler"
    eventually(lambda: made()["spec"]["schedulerName"] == ours, "the namespace's label counts")
    assert variables(made(), ("containers",)) == [("main", SOURCE)]
    elsewhere = try_out(api, scene.enforced, plain)
    assert elsewhere["spec"]["schedulerName"] == "default-scheduler"
    without = pod("cpu")
    del without["spec"]["schedulerName"], without["spec"]["containers"][0]["resources"]
    assert try_out(api, there, without)["spec"]["schedulerName"] == "default-scheduler"


def _with(kind: str, **more: Any) -> Body:
    body = pod()
    if kind == "containers":
        body["spec"]["containers"][0].update(more)
    else:
        body["spec"][kind] = [{"name": "other", "image": "x", **more}]
    return body


def _mount(path: str) -> Body:
    return pod(volumes=[{"name": "v", "hostPath": {"path": path}}])


BAD: list[tuple[str, Body, str]] = [
    *(
        (
            f"{name} in {kind}",
            _with(kind, env=[{"name": name, "value": "all"}]),
            f"spec.{kind}[0].env[",
        )
        for name in (
            "CUDA_VISIBLE_DEVICES",
            "NVIDIA_VISIBLE_DEVICES",
            "ROCR_VISIBLE_DEVICES",
            "HIP_VISIBLE_DEVICES",
        )
        for kind in ("containers", "initContainers")
    ),
    (
        "another annotation as the source",
        _with(
            "containers",
            env=[
                {
                    "name": "CUDA_VISIBLE_DEVICES",
                    "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['mine']"}},
                }
            ],
        ),
        "spec.containers[0].env[",
    ),
    (
        "privileged",
        _with("containers", securityContext={"privileged": True}),
        "spec.containers[0].securityContext.privileged",
    ),
    (
        "privileged init container",
        _with("initContainers", securityContext={"privileged": True}),
        "spec.initContainers[0].securityContext.privileged",
    ),
    ("device file", _mount("/dev/nvidia0"), "spec.volumes[0].hostPath.path"),
    ("device folder", _mount("/dev"), "spec.volumes[0].hostPath.path"),
    ("everything", _mount("//"), "spec.volumes[0].hostPath.path"),
    ("AMD's device file", _mount("/dev/kfd"), "spec.volumes[0].hostPath.path"),
    ("render nodes", _mount("/dev/./dri/"), "spec.volumes[0].hostPath.path"),
    ("processes of the host", pod(hostPID=True), "spec.hostPID"),
    (
        "forged devices",
        pod(annotations={"alloc.gpu.scheduling/devices": "0,1"}),
        "metadata.annotations[alloc.gpu.scheduling/devices]",
    ),
    (
        "claim of another namespace",
        pod(annotations={"gpu.scheduling/claim": "other/claim"}),
        "names a claim of another namespace",
    ),
    (
        "claim without a name",
        pod(annotations={"gpu.scheduling/claim": ""}),
        "metadata.annotations[gpu.scheduling/claim]",
    ),
    (
        "claim that is no name",
        pod(annotations={"gpu.scheduling/claim": "Größe"}),
        "metadata.annotations[gpu.scheduling/claim]",
    ),
    (
        "claim and map",
        pod("p-0", {"gpu.scheduling/claim": "c", "gpu-scheduling-map": "0=n1:0"}),
        "stands next to gpu-scheduling-map",
    ),
    (
        "map that is none",
        pod("p-0", {"gpu-scheduling-map": "node-a 0,1"}),
        "metadata.annotations[gpu-scheduling-map]",
    ),
    (
        "map with more devices than GPUs",
        pod("p-0", {"gpu-scheduling-map": "0=n1:0,1"}),
        "names 2 devices, but p-0 asks for 1 GPUs",
    ),
    (
        "unknown annotation",
        pod(annotations={"topology.scheduler/gang-sizes": "4"}),
        "Did you mean topology.scheduler/gang-size?",
    ),
    (
        "size without a gang",
        pod(annotations={"topology.scheduler/gang-size": "4"}),
        "metadata.annotations[topology.scheduler/gang-size]",
    ),
    (
        "gang without a size",
        pod(annotations={"topology.scheduler/gang": "g"}),
        "metadata.annotations[topology.scheduler/gang-size]",
    ),
    *(
        (
            f"gang of {size!r}",
            pod(annotations={"topology.scheduler/gang": "g", "topology.scheduler/gang-size": size}),
            "metadata.annotations[topology.scheduler/gang-size]",
        )
        for size in ("0", "-1", "2147483648", "1.5", "٣", "", "NaN")
    ),
    (
        "gang with a name of 200 KiB",
        pod(
            annotations={
                "topology.scheduler/gang": "g" * 200 * 1024,
                "topology.scheduler/gang-size": "4",
            }
        ),
        "metadata.annotations[topology.scheduler/gang]",
    ),
    (
        "GPUs of two vendors",
        _with("initContainers", resources={"limits": {"amd.com/gpu": "1"}}),
        "names GPUs of two kinds at once",
    ),
    (
        "count that contradicts the containers",
        pod(annotations={"topology.scheduler/gpu-count": "4"}),
        "metadata.annotations[topology.scheduler/gpu-count]",
    ),
]


@pytest.mark.parametrize(("body", "said"), [one[1:] for one in BAD], ids=[one[0] for one in BAD])
def test_a_bad_pod_is_refused_by_field(api: Api, scene: Scene, body: Body, said: str) -> None:
    """The API server hands on which field is wrong and what to do; nothing is kept."""
    why = refusal(api, scene.enforced, body)
    assert why.startswith("422 Invalid")
    assert said in why


def test_a_claim_is_held_to_its_count(api: Api, scene: Scene) -> None:
    """Once the claim is known, a pod that asks for another number of GPUs is refused."""
    claims = f"/apis/gpu.scheduling/v1/namespaces/{scene.enforced}/gpuclaims"
    spec = {"devices": {"count": 4}}
    api.create(
        claims,
        {
            "apiVersion": "gpu.scheduling/v1",
            "kind": "GpuClaim",
            "metadata": {"name": "four"},
            "spec": spec,
        },
    )
    body = pod(annotations={"gpu.scheduling/claim": "four"})
    why = eventually(lambda: refusal(api, scene.enforced, body), "the claim is known")
    assert "is for 4 devices, but p asks for 1 GPUs" in why
    body["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "4"
    assert not refusal(api, scene.enforced, body)


def test_a_tenant_cannot_take_back_what_the_scheduler_wrote(api: Api, scene: Scene) -> None:
    """Annotations of the scheduler can be neither set nor changed by an update."""
    api.create(pods(scene.enforced), pod("given"))
    path = f"{pods(scene.enforced)}/given"
    for content in ("application/merge-patch+json", STRATEGIC_PATCH):
        patch = {"metadata": {"annotations": {"alloc.gpu.scheduling/devices": "7"}}}
        with pytest.raises(ApiError, match="only the scheduler writes it"):
            api.patch(path, patch, content)
    api.patch(path, {"metadata": {"labels": {"mine": "1"}}})


def test_a_bad_claim_is_refused(api: Api, scene: Scene) -> None:
    """What the schema cannot say is said here: no memory at all is no selector."""
    claims = f"/apis/gpu.scheduling/v1/namespaces/{scene.enforced}/gpuclaims"
    spec = {"devices": {"count": 1}, "selector": {"minMemory": "0"}}
    body = {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuClaim",
        "metadata": {"name": "none"},
        "spec": spec,
    }
    with pytest.raises(ApiError, match=r"spec\.selector\.minMemory"):
        api.create(claims, body)


def test_a_bad_config_is_refused(api: Api) -> None:
    """By field, before it is stored; a good one passes, and others of that namespace do too."""
    maps = "/api/v1/namespaces/kube-system/configmaps"
    head = "apiVersion: topology.scheduler/v1alpha1\nkind: SchedulerConfig\n"
    for size, name, refused in (
        ("none", "topology-scheduler-config", True),
        ("7", "topology-scheduler-config", False),
        ("none", "of-another-program", False),
    ):
        text = f"{head}spec: {{batch: {{size: {size}}}}}\n"
        body = {"metadata": {"name": name}, "data": {"config.yaml": text}}
        if refused:
            with pytest.raises(ApiError, match=r"spec\.batch\.size"):
                api.create(f"{maps}?dryRun=All", body)
        else:
            api.create(f"{maps}?dryRun=All", body)


def test_a_body_of_a_gibibyte_is_cut_short(scene: Scene, tmp_path: Path) -> None:
    """Announced or streamed, it ends early, the memory stays small, and the next is answered."""
    with Hook(scene.plane, tmp_path) as hook:
        for head in (b"Content-Length: 1073741824", b"Transfer-Encoding: chunked"):
            assert _poured(hook.port, head, 2**30) < 2**28
        assert hook.get("/readyz") == {"ready": True, "draining": False, "missing": []}
        assert peak_mib(hook.pid or 0) < 256


def _poured(port: int, header: bytes, most: int) -> int:
    """Bytes of a body that the webhook takes before it ends the connection."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    chunk = b"10000\r\n" + b" " * 2**16 + b"\r\n"
    sent = 0
    with (
        socket.create_connection(("127.0.0.1", port), 20) as plain,
        context.wrap_socket(plain) as secured,
    ):
        secured.sendall(b"POST /validate HTTP/1.1\r\nHost: x\r\n" + header + b"\r\n")
        secured.sendall(b"Content-Type: application/json\r\n\r\n")
        with contextlib.suppress(OSError):
            while sent < most:
                secured.sendall(chunk)
                sent += len(chunk)
    return sent
