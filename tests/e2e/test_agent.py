"""Agents under their own service account on a real API server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
import yaml

from fourleaf.agent.agent import Agent, AgentSettings
from fourleaf.agent.metrics import AgentMetrics
from fourleaf.agent.node import own_boot_id
from fourleaf.agent.readers.from_file import FileReader
from fourleaf.agent.timed_reader import PatientReader
from fourleaf.k8s_bridge.cluster.live import connect
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.model.crds.definitions import definitions
from tests.agent.discovery.made import port, sample
from tests.controlplane.api import MERGE_PATCH, Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.plane import ControlPlane
from tests.controlplane.processes import Process, free_ports
from tests.controlplane.roles import write_kubeconfig
from tests.controlplane.waiting import eventually, serve
from tests.e2e.accounts import allowed

RBAC = Path(__file__).parents[2] / "deploy" / "rbac" / "agent.yaml"
STATUSES = "/apis/gpu.scheduling/v1/gpunodestatuses"
ACCOUNT = "/api/v1/namespaces/fourleaf-agent/serviceaccounts/fourleaf-agent"
USER = "system:serviceaccount:fourleaf-agent:fourleaf-agent"
PATHS = {
    "Namespace": "/api/v1/namespaces",
    "ServiceAccount": "/api/v1/namespaces/fourleaf-agent/serviceaccounts",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
}


@pytest.fixture(scope="module")
def api(module_control_plane: Plane) -> Iterator[Api]:
    """An API server that serves our kinds and knows the agents' account."""
    with module_control_plane.api() as api:
        serve(api, definitions())
        for body in yaml.safe_load_all(RBAC.read_text()):
            api.create(PATHS[body["kind"]], body)
        yield api


@pytest.fixture
def kubeconfig(api: Api, module_control_plane: Plane, tmp_path: Path) -> Path:
    """The way to the cluster as the agents' account."""
    if not isinstance(module_control_plane, ControlPlane):
        pytest.skip("the kubeconfig of a cluster of others is not taken apart")
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = api.create(f"{ACCOUNT}/token", body)["status"]["token"]
    plane = yaml.safe_load(module_control_plane.kubeconfig().read_text())
    path = write_kubeconfig(
        tmp_path / "agent.kubeconfig", plane["clusters"][0]["cluster"], "agent", token
    )
    with Api(path) as own:
        kind = "gpu.scheduling/gpunodestatuses"
        eventually(lambda: allowed(own, "create", kind), "the agents have their rights")
    return path


class Running(Process):
    """One `fourleaf agent` that reads a file once a second."""

    def __init__(self, node: str, kubeconfig: Path, folder: Path, devices: dict[str, Any]) -> None:
        self.file = folder / "devices.json"
        self.port = free_ports(1)[0]
        self.write(devices)
        main = "from fourleaf.cli.main import main; main()"
        command = [sys.executable, "-c", main, "agent", "--node-name", node]
        command += ["--from-file", str(self.file), "--interval", "1"]
        neighbours = folder / "lldp.json"
        neighbours.write_bytes(sample("lldpctl.json"))
        port(folder / "sys", "mlx5_0", "enp27s0np0")
        command += ["--discover", "--host-files", str(folder), "--sysfs", str(folder / "sys")]
        command += ["--kubeconfig", str(kubeconfig), "--listen", f"127.0.0.1:{self.port}"]
        super().__init__(f"agent {node}", command, folder / f"agent-{node}.log")

    def __enter__(self) -> Running:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        if error is not None:
            error.add_note(self.tail())

    def write(self, devices: dict[str, Any]) -> None:
        """Give it other devices to read."""
        fresh = self.file.with_suffix(".new.json")
        fresh.write_text(json.dumps(devices))
        fresh.replace(self.file)

    def metric(self, name: str) -> float:
        """The value of one of its metrics, 0 while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics") as answer:
                text = answer.read().decode()
        except OSError:
            return 0.0
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else 0.0

    def rounds(self, more: int) -> None:
        """Wait until it has looked at its node so many more times."""
        until = self.metric("fourleaf_agent_rounds_total") + more
        eventually(lambda: self.metric("fourleaf_agent_rounds_total") >= until, "rounds")


def devices(count: int = 2, *processes: dict[str, Any]) -> dict[str, Any]:
    """The inventory of a node whose devices are all linked."""
    return {
        "driverVersion": "580.65",
        "gpus": [
            {"index": i, "uuid": f"GPU-{i}", "product": "H100", "memoryMiB": 81559}
            for i in range(count)
        ],
        "links": [{"a": a, "b": b, "bandwidthGBps": 450} for b in range(count) for a in range(b)],
        "processes": list(processes),
    }


def make_node(api: Api, name: str) -> str:
    """Make a node as its kubelet would; its UID."""
    made = api.create("/api/v1/nodes", {"metadata": {"name": name}})
    info = dict.fromkeys(
        (
            "architecture", "bootID", "containerRuntimeVersion", "kernelVersion",
            "kubeProxyVersion", "kubeletVersion", "machineID", "operatingSystem", "osImage",
            "systemUUID",
        ),
        "x",
    )  # fmt: skip
    # The agent asks again for as long as the kubelet has not heard of this boot.
    info["bootID"] = own_boot_id()
    api.patch(f"/api/v1/nodes/{name}/status", {"status": {"nodeInfo": info}})
    return str(made["metadata"]["uid"])


def make_pod(api: Api, namespace: str, name: str, node: str, granted: str) -> str:
    """Bind a pod with a grant, as the scheduler does; its UID."""
    path = f"/api/v1/namespaces/{namespace}/pods"
    container = {"name": "main", "image": "train"}
    made = api.create(path, {"metadata": {"name": name}, "spec": {"containers": [container]}})
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name, "annotations": {"alloc.gpu.scheduling/devices": granted}},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    api.create(f"{path}/{name}/binding", binding)
    return str(made["metadata"]["uid"])


def condition(api: Api, node: str, type_: str) -> dict[str, Any]:
    """A condition of the inventory of `node`, {} where there is none."""
    status = api.get(f"{STATUSES}/{node}").get("status", {})
    found = [one for one in status.get("conditions", []) if one["type"] == type_]
    return found[0] if found else {}


def says(api: Api, node: str, type_: str, status: str) -> bool:
    """Whether a condition of the inventory of `node` has a status."""
    return condition(api, node, type_).get("status") == status


def test_an_inventory_is_published_and_then_left_alone(
    api: Api, module_control_plane: Plane, kubeconfig: Path, tmp_path: Path
) -> None:
    """All that the file says stands, of this life of the node, and where the node does.

    No request follows, nor a write after a restart of the agent.
    """
    assert isinstance(module_control_plane, ControlPlane)
    uid = make_node(api, "quiet")
    with Running("quiet", kubeconfig, tmp_path, devices()) as agent:
        eventually(lambda: says(api, "quiet", "Ready", "True"), "it is published")
        found = api.get(f"{STATUSES}/quiet")
        agent.rounds(1)
        asked = _requests(module_control_plane)
        agent.rounds(3)
        assert _requests(module_control_plane) == asked
    with Running("quiet", kubeconfig, tmp_path, devices()) as agent:
        agent.rounds(2)
        assert api.get(f"{STATUSES}/quiet") == found
    status = found["status"]
    assert (status["nodeUID"], status["bootID"]) == (uid, own_boot_id())
    assert [gpu["uuid"] for gpu in status["gpus"]] == ["GPU-0", "GPU-1"]
    assert status["links"] == [{"a": 0, "b": 1, "kind": "NVLink", "bandwidthGBps": 450}]
    assert [one["uid"] for one in found["metadata"]["ownerReferences"]] == [uid]
    assert [one["interfaces"] for one in status["topology"]["ports"]] == [["enp27s0np0"]]
    assert [one["name"] for one in status["topology"]["switches"]] == ["su1-leaf1"]


def _requests(plane: ControlPlane) -> int:
    """How many requests for objects, watches left out, the agents have had answered."""
    return sum(
        event["user"]["username"] == USER and event["verb"] not in ("watch", "list")
        for event in plane.audit()
    )


def test_a_pod_on_a_device_of_another(api: Api, kubeconfig: Path, tmp_path: Path) -> None:
    """Pod a was granted device 0 and runs on 1, which is b's.

    The inventory and an event on a say so, until a does as granted.
    """
    make_node(api, "mixed")
    namespace = api.new_namespace()
    a = make_pod(api, namespace, "a", "mixed", "0")
    b = make_pod(api, namespace, "b", "mixed", "1")
    right = devices(2, {"gpu": 0, "pid": 10, "podUID": a}, {"gpu": 1, "pid": 11, "podUID": b})
    wrong = devices(2, {"gpu": 1, "pid": 10, "podUID": a}, {"gpu": 1, "pid": 11, "podUID": b})
    with Running("mixed", kubeconfig, tmp_path, right) as agent:
        eventually(lambda: says(api, "mixed", "DevicesMatch", "True"), "all is as granted")
        agent.write(wrong)
        eventually(lambda: says(api, "mixed", "DevicesMatch", "False"), "it is noticed")
        message = condition(api, "mixed", "DevicesMatch")["message"]
        assert message == (
            f"device 1: pod {namespace}/a runs on it, and it is granted to pod {namespace}/b"
        )
        eventually(lambda: agent.metric("fourleaf_agent_mismatches") == 1, "the metric says so")
        events = f"/apis/events.k8s.io/v1/namespaces/{namespace}/events"
        (event,) = eventually(lambda: api.get(events)["items"], "an event is there")
        assert (event["regarding"]["name"], event["note"]) == ("a", message)
        assert (event["type"], event["reportingController"]) == ("Warning", "fourleaf-agent")
        agent.write(right)
        eventually(lambda: says(api, "mixed", "DevicesMatch", "True"), "it is over")
        eventually(lambda: agent.metric("fourleaf_agent_mismatches") == 0, "the metric says so")


def test_a_file_that_breaks(api: Api, kubeconfig: Path, tmp_path: Path) -> None:
    """The devices stay, not healthy, and Ready says which field is wrong; mended, all is well."""
    make_node(api, "broken")
    with Running("broken", kubeconfig, tmp_path, devices()) as agent:
        eventually(lambda: says(api, "broken", "Ready", "True"), "it is published")
        spoilt = devices()
        spoilt["gpus"][1]["memoryMiB"] = -1
        agent.write(spoilt)
        eventually(lambda: says(api, "broken", "Ready", "False"), "it is noticed")
        ready = condition(api, "broken", "Ready")
        assert ready["reason"] == "InvalidInventory"
        assert "gpus[1].memoryMiB = -1" in ready["message"]
        gpus = api.get(f"{STATUSES}/broken")["status"]["gpus"]
        assert [(gpu["uuid"], gpu["healthy"]) for gpu in gpus] == [
            ("GPU-0", False),
            ("GPU-1", False),
        ]
        agent.write(devices())
        eventually(lambda: says(api, "broken", "Ready", "True"), "it is mended")


FORBIDDEN = (
    ("DELETE", f"{STATUSES}/others"),
    ("GET", STATUSES),
    ("GET", "/api/v1/nodes"),
    ("PATCH", "/api/v1/nodes/others"),
    ("PATCH", "/api/v1/nodes/others/status"),
    ("PATCH", "/api/v1/namespaces/default/pods/p"),
    ("PATCH", "/api/v1/namespaces/default/pods/p/status"),
    ("DELETE", "/api/v1/namespaces/default/pods/p"),
    ("GET", "/api/v1/namespaces/kube-system/secrets"),
    ("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"),
    ("GET", "/apis/gpu.scheduling/v1/namespaces/default/gpuclaims"),
)


def test_an_agent_may_do_what_it_needs_and_no_more(api: Api, kubeconfig: Path) -> None:
    """Its account may not delete inventories, nor write pods or nodes, nor read secrets."""
    make_node(api, "others")
    patch = {"metadata": {"labels": {"x": "y"}}}
    with Api(kubeconfig) as agent:
        for method, path in FORBIDDEN:
            with pytest.raises(ApiError) as refused:
                agent.request(method, path, patch if method == "PATCH" else None, MERGE_PATCH)
            assert refused.value.status == 403
        assert agent.get("/api/v1/nodes/others")["metadata"]["name"] == "others"


def test_once(api: Api, kubeconfig: Path, tmp_path: Path) -> None:
    """Published is 0, an inventory that cannot be relied on 1, a node that is not there 2."""
    make_node(api, "once")
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(devices()))
    bad.write_text("{}")

    def once(node: str, file: Path) -> int:
        main = "from fourleaf.cli.main import main; main()"
        command = [sys.executable, "-c", main, "agent", "--once", "--node-name", node]
        command += ["--from-file", str(file), "--kubeconfig", str(kubeconfig)]
        return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode

    assert once("once", good) == 0
    assert says(api, "once", "Ready", "True")
    assert once("once", bad) == 1
    assert condition(api, "once", "Ready")["reason"] == "NoDevices"
    assert once("nowhere", good) == 2


INVENTORIES: dict[str, tuple[dict[str, Any], str, int, int]] = {
    "empty": ({"gpus": []}, "NoDevices", 0, 0),
    "one UUID twice": (
        {"gpus": [{"index": 0, "uuid": "GPU-a"}, {"index": 1, "uuid": "GPU-a"}]},
        "DuplicateUUID",
        2,
        0,
    ),
    "one index twice": (
        {"gpus": [{"index": 0, "uuid": "GPU-a"}, {"index": 0, "uuid": "GPU-b"}]},
        "DuplicateIndex",
        1,
        0,
    ),
    "links that disagree": (
        {**devices(), "links": [{"a": a, "b": 1 - a, "bandwidthGBps": 9 - a} for a in (0, 1)]},
        "AsymmetricLinks",
        2,
        1,
    ),
    "not a number": (
        {**devices(), "links": [{"a": 0, "b": 1, "bandwidthGBps": float("nan")}]},
        "InvalidInventory",
        0,
        0,
    ),
    "a later format": ({"format": 2, **devices()}, "UnknownFormat", 0, 0),
    "1000 devices": ({**devices(1000), "links": []}, "InventoryRead", 1000, 0),
    "1000 devices, all linked": (devices(1000), "InvalidInventory", 0, 0),
    "128 devices, all linked": (devices(128), "InventoryRead", 128, 8128),
    "200 devices, all linked": (devices(200), "TooManyLinks", 200, 0),
}


@pytest.mark.parametrize("name", INVENTORIES)
async def test_inventories(api: Api, kubeconfig: Path, tmp_path: Path, name: str) -> None:
    """The server takes what the agent makes of each, and Ready has the reason."""
    found, reason, gpus, links = INVENTORIES[name]
    node = f"n-{list(INVENTORIES).index(name)}"
    make_node(api, node)
    file = tmp_path / "devices.json"
    file.write_text(json.dumps(found))
    clock = SystemClock()
    cluster = await connect(str(kubeconfig))
    read = PatientReader(FileReader(file)).read
    agent = Agent(
        cluster, clock, read, AgentSettings(node, boot_id=own_boot_id()), AgentMetrics(clock)
    )
    done = await agent.once()
    await cluster.close()
    assert done.error is None
    ready = condition(api, node, "Ready")
    assert (ready["reason"], ready["status"]) == (reason, str(reason == "InventoryRead"))
    status = api.get(f"{STATUSES}/{node}")["status"]
    assert (len(status["gpus"]), len(status["links"])) == (gpus, links)
