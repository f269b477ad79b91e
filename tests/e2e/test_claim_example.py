"""A claim and a pod that names it, from creation to its devices, with everything that ships."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import yaml

from tests.controlplane.api import Api
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.waiting import eventually
from tests.e2e.accounts import POLICIES, RBAC, SCHEDULER, account, install, uninstall
from tests.e2e.hook import Scene, claims, pods, variables
from tests.e2e.replica import Replica

DEVICES = "alloc.gpu.scheduling/devices"
SOURCE = f"metadata.annotations['{DEVICES}']"

CLAIM = """
apiVersion: gpu.scheduling/v1
kind: GpuClaim
metadata:
  name: single-gpu
spec:
  devices:
    count: 1
    exclusivity: Exclusive
"""
POD = """
apiVersion: v1
kind: Pod
metadata:
  name: gpu-test
  namespace: gpu-scheduler
  annotations:
    gpu.scheduling/claim: single-gpu
spec:
  schedulerName: gpu-scheduler
  restartPolicy: Never
  containers:
    - name: cuda-test
      image: nvidia/cuda:12.4.1-runtime-ubuntu22.04
      command: ["bash","-lc","echo CVD=$CUDA_VISIBLE_DEVICES; nvidia-smi -L"]
      resources:
        limits:
          nvidia.com/gpu: "1"
"""


@pytest.fixture
def api(control_plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Webhook, scheduler, policies and kubelets at work, and the namespace opted in."""
    folder = tmp_path_factory.mktemp("all")
    scene = Scene(control_plane, folder)
    create_fleet(control_plane.kubeconfig(), Fleet(2, gpus=2))
    control_plane.kwok()
    with scene.api as api:
        name = {"name": "gpu-scheduler", "labels": {"topology.scheduler/enforce": "true"}}
        api.create("/api/v1/namespaces", {"metadata": name})
        made = install(api, RBAC / "scheduler.yaml", *POLICIES)
        kubeconfig = account(control_plane, SCHEDULER, folder)
        with (
            scene.hook(),
            Replica(control_plane, "admin", folder, kubeconfig=kubeconfig) as replica,
        ):
            scene.wait()
            eventually(lambda: replica.leads, "the replica leads")
            yield api
        uninstall(api, made)


def test_the_pod_is_told_the_device_that_its_claim_gave_it(api: Api) -> None:
    """Its variable points at what the scheduler writes, and three more share no device."""
    api.create(claims("gpu-scheduler"), yaml.safe_load(CLAIM))
    body = yaml.safe_load(POD)
    made = api.create(pods("gpu-scheduler"), body)
    assert variables(made, ("containers",)) == [("cuda-test", SOURCE)]
    for number in range(3):
        more = json.loads(json.dumps(body))
        more["metadata"]["name"] = f"gpu-test-{number}"
        api.create(pods("gpu-scheduler"), more)

    def given() -> list[tuple[str, str]]:
        found = api.get(pods("gpu-scheduler"))["items"]
        return sorted(
            (one["spec"].get("nodeName", ""), one["metadata"]["annotations"].get(DEVICES, ""))
            for one in found
        )

    eventually(lambda: all(all(one) for one in given()), "every pod has its device")
    assert len(set(given())) == 4
    assert {devices for _, devices in given()} == {"0", "1"}
