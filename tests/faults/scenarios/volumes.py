"""Gangs whose volumes are made on first use, and leaders that die on the way."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from tests.controlplane.api import ApiError
from tests.faults.asked import Asked, bindings, commits_to_page, writes
from tests.faults.faults import DropAfter, DropBefore, Pass
from tests.faults.gangs import Gang
from tests.faults.scenario import Needs, Scenario
from tests.faults.stage import Stage
from tests.history.check import Expectations

STORAGE_CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
VOLUMES = "/api/v1/persistentvolumes"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
CLASS = "made-on-use"
RESYNCS = 120.0
"""Seconds until all run: what the controller of claims misses it comes back to every 15."""


def volumes_made_on_use(stage: Stage) -> None:
    """At some write of the commit an answer or a request is lost, or the leader is killed."""
    leader, _ = stage.lead()
    with suppress(ApiError):
        made = {"metadata": {"name": CLASS}, "provisioner": "disk.example.org"}
        stage.api.create(STORAGE_CLASSES, {**made, "volumeBindingMode": "WaitForFirstConsumer"})
    gang = Gang(stage.namespace, "gang", stage.chance.choice((2, 4)))

    def kill(_: Asked) -> None:
        leader.process.kill()

    match = stage.chance.choice((_selections, _selections, commits_to_page, bindings))
    k = 1 if match is commits_to_page else stage.chance.randint(1, gang.pods)
    fault = stage.chance.choice((DropBefore(), DropAfter(), Pass()))
    deadly = kill if isinstance(fault, Pass) else None
    strike = leader.proxy.strike(match, fault, first=k, before=deadly)
    for i in range(gang.pods):
        _create(stage, gang, i)
    stage.gangs.append(gang)
    until = time.monotonic() + RESYNCS
    while stage.bound(gang) < gang.pods:
        assert time.monotonic() < until, f"{stage.bound(gang)} of {gang.pods} are bound"
        _provision(stage)
        time.sleep(0.2)
    assert strike.done.is_set(), f"write {k} was never sent"
    nodes = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in stage.pods(gang)}
    reached = {name: _selected(body) for name, body in _claims(stage).items()}
    assert nodes == reached, f"pods on {nodes}, their volumes on {reached}"
    stage.expected = Expectations(gang.pods, 1, gang.pods)


def _selections(one: Asked) -> bool:
    """Match writes that select a node for a claim."""
    return writes(one) and one.resource == "persistentvolumeclaims"


def _create(stage: Stage, gang: Gang, i: int) -> None:
    """A pod and the claim of its name."""
    name = gang.names[i]
    space = f"/api/v1/namespaces/{stage.namespace}"
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"metadata": {"name": name}, "spec": {"storageClassName": CLASS, **asked}}
    stage.api.create(f"{space}/persistentvolumeclaims", claim)
    body = gang.body(i)
    body["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]
    stage.api.create(f"{space}/pods", body)


def _claims(stage: Stage) -> dict[str, dict[str, Any]]:
    """All claims of the run, by name."""
    path = f"/api/v1/namespaces/{stage.namespace}/persistentvolumeclaims"
    return {body["metadata"]["name"]: body for body in stage.api.get(path)["items"]}


def _selected(claim: dict[str, Any]) -> str:
    return str((claim["metadata"].get("annotations") or {}).get(SELECTED_NODE, ""))


def _provision(stage: Stage) -> None:
    """Make the volumes of claims that have a node, as a driver does: that node alone reaches it."""
    for claim in _claims(stage).values():
        if _selected(claim):
            with suppress(ApiError):
                stage.api.create(VOLUMES, _volume(claim, _selected(claim)))


def _volume(claim: dict[str, Any], node: str) -> dict[str, Any]:
    metadata = claim["metadata"]
    host = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    return {
        "metadata": {"name": f"pv-{metadata['uid']}"},
        "spec": {
            "storageClassName": CLASS,
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": "disk.example.org", "volumeHandle": metadata["uid"]},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [host]}]}},
            "claimRef": {
                **reference,
                "namespace": metadata["namespace"],
                "name": metadata["name"],
                "uid": metadata["uid"],
            },
        },
    }


SCENARIOS = (
    Scenario(
        "volumes-made-on-use",
        "Whichever write of its commit is lost or kills the leader, a gang starts at its volumes.",
        volumes_made_on_use,
        Needs(controllers=("persistentvolume-binder-controller",)),
    ),
)
