"""Native PodGroups (`scheduling.k8s.io`), with their feature gates on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.controlplane.fixtures import KUBECONFIG
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.plane import ControlPlane
from tests.controlplane.releases import since
from tests.controlplane.waiting import eventually
from tests.e2e.checker import breaches, holds
from tests.e2e.replica import Replica, grant
from tests.e2e.test_dialects import template

pytestmark = since(36, "this version of native groups")

GATES = {"GenericWorkload": True, "GangScheduling": True}


@pytest.fixture
def plane(
    control_plane_programs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ControlPlane]:
    """A control plane of our own, which serves the native groups."""
    monkeypatch.delenv(KUBECONFIG, raising=False)
    with ControlPlane(
        tmp_path / "plane", gates=GATES, runtime_config=["scheduling.k8s.io/v1alpha2=true"]
    ) as plane:
        yield plane


def test_a_native_group(plane: ControlPlane, tmp_path: Path) -> None:
    """A group with minCount 4 waits for its fourth pod, is bound to one leaf, and says so."""
    create_fleet(plane.kubeconfig(), Fleet(16))
    grant(plane, "scheduler-a")
    with plane.api() as api, Replica(plane, "scheduler-a", tmp_path) as replica:
        eventually(lambda: replica.leads, "it leads")
        namespace = api.new_namespace()
        groups = f"/apis/scheduling.k8s.io/v1alpha2/namespaces/{namespace}/podgroups"
        pods = f"/api/v1/namespaces/{namespace}/pods"
        policy = {"schedulingPolicy": {"gang": {"minCount": 4}}}
        api.create(groups, {"metadata": {"name": "quad"}, "spec": policy})

        def submit(i: int) -> None:
            pod = {**template(8), "metadata": {"name": f"quad-{i}"}}
            pod["spec"] = {**pod["spec"], "schedulingGroup": {"podGroupName": "quad"}}
            api.create(pods, pod)

        def message() -> str:
            conditions = api.get(f"{pods}/quad-0")["status"].get("conditions", [])
            return next((one.get("message", "") for one in conditions), "")

        for i in range(3):
            submit(i)
        eventually(lambda: "3 of 4 members" in message(), "three wait for the fourth")
        submit(3)
        eventually(lambda: all(map(holds, api.get(pods)["items"])), "all four are bound")
        leaves = {int(p["spec"]["nodeName"][4:]) // 4 for p in api.get(pods)["items"]}
        assert len(leaves) == 1
        eventually(
            lambda: [
                one
                for one in api.get(f"{groups}/quad").get("status", {}).get("conditions", [])
                if one["type"] == "PodGroupScheduled" and one["status"] == "True"
            ],
            "the group's status says that it is scheduled",
        )
        eventually(lambda: not breaches(api), "at rest without a breach")
