"""A node loses power under a gang, on a real control plane with default grace periods."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from fourleaf.k8s_bridge.cluster.memory.actors import container
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS
from fourleaf.k8s_bridge.relocation.records import UNWANTED
from tests.controlplane.api import Api
from tests.controlplane.fleet import Fleet, create_nodes
from tests.controlplane.plane import ControlPlane
from tests.controlplane.power import MANAGES, Power
from tests.controlplane.waiting import eventually
from tests.e2e.replica import Replica, grant

INDEX = "batch.kubernetes.io/job-completion-index"
GOAL = 60.0
"""Seconds from the silence to the replacement; how long it takes is for the benchmark to say."""


@pytest.fixture
def powered(own_control_plane: ControlPlane) -> Iterator[tuple[ControlPlane, Power]]:
    """One spine of two leaves of four nodes, whose power can be cut; Jobs have a controller."""
    fleet = Fleet(8)
    with Power(fleet.names()) as power:
        nodes = fleet.objects()
        power.wire(nodes)
        asyncio.run(create_nodes(own_control_plane.kubeconfig(), nodes))
        own_control_plane.controller_manager()
        own_control_plane.kwok(nodes=MANAGES)
        grant(own_control_plane, "scheduler-a")
        yield own_control_plane, power


def job(name: str, size: int) -> dict[str, Any]:
    """An Indexed Job whose pods take whole nodes."""
    pod = {
        "schedulerName": "topology-aware-scheduler",
        "restartPolicy": "Never",
        "containers": [container(8)],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "parallelism": size,
            "completions": size,
            "completionMode": "Indexed",
            "template": {"spec": pod},
        },
    }


def places(api: Api, namespace: str) -> dict[int, str]:
    """Index -> node of the pods that run and are not to end."""
    items = api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    return {
        int(pod["metadata"]["labels"][INDEX]): pod["spec"]["nodeName"]
        for pod in items
        if pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]
    }


def test_a_lost_member_runs_again_and_silence_alone_moves_nobody(
    powered: tuple[ControlPlane, Power], tmp_path: Path
) -> None:
    """A gang of 2 on a leaf of 4. First a kubelet stops, for 25 s: nothing. Then its node dies."""
    plane, power = powered
    with plane.api() as api, Replica(plane, "scheduler-a", tmp_path) as replica:
        namespace = api.new_namespace()
        eventually(lambda: replica.leads, "the replica leads")
        api.create(f"/apis/batch/v1/namespaces/{namespace}/jobs", job("train", 2))
        eventually(lambda: len(places(api, namespace)) == 2, "both members run")
        before = places(api, namespace)
        power.silence(api, before[1])
        time.sleep(25)
        assert places(api, namespace) == before
        power.cut(api, before[1])
        eventually(
            lambda: len(now := places(api, namespace)) == 2 and now[1] != before[1],
            "the lost member runs again",
            GOAL,
        )
        after = places(api, namespace)
        assert after[0] == before[0]
        assert len(said(replica, "evicted")) == 1


def test_places_of_a_job_that_is_suspended_are_given_back(
    powered: tuple[ControlPlane, Power], tmp_path: Path
) -> None:
    """A node dies, and its Job is suspended before its controller has made the lost pod anew."""
    plane, power = powered
    with plane.api() as api, Replica(plane, "scheduler-a", tmp_path) as replica:
        namespace = api.new_namespace()
        eventually(lambda: replica.leads, "the replica leads")
        body = job("train", 2)
        body["spec"]["backoffLimitPerIndex"] = 100
        path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
        api.create(path, body)
        eventually(lambda: len(places(api, namespace)) == 2, "both members run")
        power.cut(api, places(api, namespace)[1])
        leases = f"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?{quoted()}"
        eventually(lambda: len(api.get(leases)["items"]) == 1, "places are kept", GOAL)
        api.patch(f"{path}/train", {"spec": {"suspend": True}})
        eventually(lambda: not api.get(leases)["items"], "none is kept any more", 20)
        # It is said once the record is gone.
        (over,) = eventually(lambda: said(replica, "relocation_over"), "it says why")
        assert over["why"] == UNWANTED


def said(replica: Replica, event: str) -> list[dict[str, Any]]:
    """Its log lines of one sort."""
    return [line for line in replica.lines() if line.get("msg") == event]


def quoted() -> str:
    """The query that lists relocations."""
    return urlencode({"labelSelector": RELOCATIONS})
