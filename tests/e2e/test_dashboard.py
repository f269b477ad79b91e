"""The dashboard beside the scheduler, on a real API server, with the rights that ship."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fourleaf.simulator.readers.folder import NoData
from fourleaf.simulator.readers.recorded import fabric_of, recording
from tests.controlplane.api import Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.plane import ControlPlane
from tests.controlplane.processes import Process
from tests.controlplane.releases import since
from tests.controlplane.waiting import eventually
from tests.e2e.accounts import DASHBOARD, RBAC, SCHEDULER, account, install, uninstall
from tests.e2e.attacks import pod
from tests.e2e.board import TOKEN, Board
from tests.e2e.checker import holds
from tests.e2e.every_kind import NATIVE_GROUPS, serve_every_kind, unread
from tests.e2e.replica import Replica

APISERVER_FLAGS = NATIVE_GROUPS


class Stage:
    """A gang of four that runs, another that has to wait, and a dashboard that looks on."""

    def __init__(self, plane: Plane, api: Api, board: Board, namespace: str, looker: Path) -> None:
        self.plane, self.api, self.board, self.namespace = plane, api, board, namespace
        self.looker = looker


def gang(name: str, size: int) -> list[dict[str, Any]]:
    """The pods of a gang, each of which takes a node."""
    bodies = [pod(f"{name}-{index}", "8") for index in range(size)]
    said = {"topology.scheduler/gang": name, "topology.scheduler/gang-size": str(size)}
    for body in bodies:
        body["metadata"]["annotations"] = dict(said)
    return bodies


@pytest.fixture(scope="module")
def stage(module_control_plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Eight nodes under two leaves, on a server that has every kind that may be read."""
    plane, folder = module_control_plane, tmp_path_factory.mktemp("dashboard")
    with plane.api() as api:
        if plane.managed:
            serve_every_kind(api)
        made = install(api, RBAC / "scheduler.yaml", RBAC / "dashboard.yaml")
        create_fleet(plane.kubeconfig(), Fleet(8))
        scheduler = account(plane, SCHEDULER, folder)
        looker = account(plane, DASHBOARD, folder)
        replica = Replica(plane, "admin", folder, kubeconfig=scheduler)
        with (
            replica,
            Board(looker, folder, "--server", f"http://127.0.0.1:{replica.port}") as board,
        ):
            eventually(lambda: replica.leads, "it leads")
            namespace = api.new_namespace()
            pods = f"/api/v1/namespaces/{namespace}/pods"
            for body in gang("runs", 4):
                api.create(pods, body)
            eventually(lambda: all(map(holds, api.get(pods)["items"])), "all are bound")
            for body in gang("waits", 8):
                api.create(pods, body)
            yield Stage(plane, api, board, namespace, looker)
        uninstall(api, made)


def test_the_map_shows_who_holds_what(stage: Stage) -> None:
    """Four nodes of one leaf are the gang's, the other leaf is whole."""

    def held() -> dict[str, list[str]]:
        leaves = [leaf for row in stage.board.api("/fabric")["spines"] for leaf in row["leaves"]]
        return {
            leaf["name"]: [block["gang"] for node in leaf["nodes"] for block in node["blocks"]]
            for leaf in leaves
        }

    name = f"{stage.namespace}/runs"
    eventually(lambda: sorted(held().values()) == [[""] * 4, [name] * 4], "it stands on a leaf")


def test_the_queue_says_what_the_scheduler_said(stage: Stage) -> None:
    """The reason from the pods' conditions, and that nobody knows when it can start."""

    def told() -> list[Any]:
        return [
            one
            for one in stage.board.api("/queue")["gangs"]
            if one["reason"] == "NoFreeCapacity" and one["start"]["state"] == "waits"
        ]

    # The search gives way to all else that runs on the machine.
    (entry,) = eventually(told, "both the scheduler and the search have said it", timeout=120.0)
    assert (entry["name"], entry["pods"], entry["gpus"]) == ("waits", 8, 64)
    assert entry["start"]["waitsFor"] == [f"{stage.namespace}/runs"]


def test_its_account_may_record(stage: Stage, tmp_path: Path) -> None:
    """`fourleaf record` needs no other rights: it sees who runs and who waits."""
    main = "from fourleaf.cli.main import main; main()"
    command = [sys.executable, "-c", main, "record", str(tmp_path / "trace"), "--interval", "0.5"]
    command += ["--kubeconfig", str(stage.looker), "--scheduler-namespace", "kube-system"]
    recorder = Process("fourleaf record", command, tmp_path / "record.log")

    def seen() -> dict[str, tuple[int, bool]]:
        try:
            found = recording(tmp_path / "trace").gangs.values()
        except NoData:
            return {}
        return {
            one.key.name: (sum(role.pods for role in one.shape.roles), one.has_run)
            for one in found
            if one.key.namespace == stage.namespace
        }

    recorder.start()
    try:
        eventually(lambda: seen() == {"runs": (4, True), "waits": (8, False)}, "both are recorded")
    finally:
        recorder.stop()
    assert len(fabric_of(recording(tmp_path / "trace")).nodes) == 8


def test_a_gang_with_its_lease_and_its_events(stage: Stage) -> None:
    """Where it stands, with which devices; the page that records it; that it was bound."""
    query = f"?namespace={stage.namespace}&name=runs"

    def stands() -> Any:
        view = stage.board.api("/gang" + query)
        return view if view["state"] == "running" else None

    view = eventually(stands, "the dashboard has seen that it runs")
    assert [one["devices"] for one in view["pods"]] == [list(range(8))] * 4
    assert 0 < view["place"]["score"] <= 1000

    def history() -> Any:
        found = stage.board.api("/gang/history" + query)
        return found if found["happenings"] else None

    found = eventually(history, "an event was written")
    assert [(one["kind"][:7], one["phase"]) for one in found["records"]] == [
        ("page of", "Committed")
    ]
    assert len(found["records"][0]["nodes"]) == 4
    assert found["unknown"] == []


def test_the_cycles_that_the_scheduler_tells_of(stage: Stage) -> None:
    """The one that placed the gang: proven, with its phases."""

    def told() -> Any:
        view = stage.board.api("/cycles")
        placing = [one for one in view["cycles"] if one["placed"] == 1]
        return (view, placing[0]) if placing else None

    view, first = eventually(told, "the scheduler has told of it")
    assert view["leader"] is True
    assert (first["status"], first["gap"]) == ("OPTIMAL", 0.0)
    assert first["bound"] == first["objective"] > 0
    assert set(first["seconds"]) == {"observe", "solve", "check", "commit"}


def test_a_what_if_changes_nothing(stage: Stage) -> None:
    """A Job of four would be placed, and afterwards no pod and no Job is there that was not."""
    pods = f"/api/v1/namespaces/{stage.namespace}/pods"
    before = [one["metadata"]["name"] for one in stage.api.get(pods)["items"]]
    limits = "{nvidia.com/gpu: '8'}"
    manifest = f"""
apiVersion: batch/v1
kind: Job
metadata: {{name: tried, namespace: {stage.namespace}}}
spec:
  parallelism: 4
  completions: 4
  completionMode: Indexed
  template:
    spec:
      schedulerName: gpu-scheduler
      priority: 0
      containers: [{{name: c, image: i, resources: {{limits: {limits}}}}}]
"""
    view = stage.board.api("/what-if", {"manifest": manifest})
    (tried,) = [one for one in view["gangs"] if one["name"].startswith("tried")]
    assert tried["isNew"] is True
    assert len(tried["after"]["nodes"]) == 4
    assert [one["metadata"]["name"] for one in stage.api.get(pods)["items"]] == before
    jobs = stage.api.get(f"/apis/batch/v1/namespaces/{stage.namespace}/jobs")
    assert jobs["items"] == []


def test_who_has_no_token_sees_nothing(stage: Stage) -> None:
    """401 for every page and the API; the probes need none."""
    for path in ("/", "/queue", "/api/v1/fabric", "/api/v1/events"):
        assert stage.board.status(path, token=TOKEN[::-1]) == 401
    assert stage.board.status("/healthz", token="") == 200


def test_the_account_can_write_nothing(stage: Stage, tmp_path: Path) -> None:
    """The API server itself refuses its writes, whatever the dashboard's code would do."""
    path = f"/api/v1/namespaces/{stage.namespace}/pods"
    lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/fourleaf-scheduler"
    cordon = {"spec": {"unschedulable": True}}
    with Api(account(stage.plane, DASHBOARD, tmp_path)) as looker:
        assert looker.get(path)["items"]
        for write in (
            lambda: looker.create(path, pod("mine", "1")),
            lambda: looker.patch(f"{path}/waits-0", {"metadata": {"labels": {"a": "b"}}}),
            lambda: looker.delete(f"{path}/waits-0"),
            lambda: looker.patch("/api/v1/nodes/gpu-0", cordon),
            lambda: looker.patch(lease, {"spec": {"holderIdentity": "me"}}),
            lambda: looker.bind(f"{path}/waits-0", "gpu-7"),
        ):
            with pytest.raises(ApiError) as caught:
                write()
            assert caught.value.status == 403


@since(36, "this version of native groups")
@pytest.mark.parametrize("component", ["scheduler", "dashboard"])
def test_every_kind_that_a_role_names_is_read(stage: Stage, component: str) -> None:
    """Listed and watched, whatever may be of what is served."""
    if not isinstance(stage.plane, ControlPlane):
        pytest.skip("the audit log of that cluster is not ours to read")
    plane = stage.plane
    eventually(lambda: not unread(plane.audit(), component), f"the {component} reads every kind")


def test_it_asks_for_nothing_that_it_may_not(stage: Stage) -> None:
    """After all of the above, the API server has not refused the dashboard anything."""
    if not stage.plane.managed:
        pytest.skip("the audit log of that cluster is not ours to read")
    user = "system:serviceaccount:" + ":".join(DASHBOARD)
    asked = [one for one in stage.plane.audit() if one["user"]["username"] == user]
    reads = [one for one in asked if one["verb"] in ("get", "list", "watch")]
    refused = [
        f"{one['verb']} {one['requestURI']}"
        for one in reads
        if one["responseStatus"]["code"] == 403
    ]
    assert asked
    assert refused == []
