"""Fake GPU nodes on a leaf/spine fabric, created many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kubernetes.aio import config

from fourleaf.model.config.topology_presets import PRESETS
from tests.controlplane.api import JSON, MERGE_PATCH, Api, ApiError, answer_of
from tests.controlplane.waiting import eventually

SPINE_LABEL, LEAF_LABEL = PRESETS["topograph"][0][-2:]
FAKE = {"kwok.x-k8s.io/node": "fake"}
"""The annotation by which kwok knows its nodes in a cluster that has real ones too."""

LABEL = "fourleaf.test/fleet"
"""The label of every node of a fleet, by which they are found again."""

GPU = "nvidia.com/gpu"
AT_ONCE = 32
"""Requests under way at a time; more do not make two cores faster."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """So many equal nodes: `gpu-0` and on, filling leaf after leaf and spine after spine.

    `cpu` and `memory` are Kubernetes quantities, `pods` is how many fit on a node.
    """

    nodes: int
    per_leaf: int = 4
    leaves_per_spine: int = 8
    gpus: int = 8
    cpu: str = "192"
    memory: str = "2Ti"
    pods: int = 110

    def names(self) -> list[str]:
        """Tell the names of the nodes, in the order of the fabric."""
        return [f"gpu-{number}" for number in range(self.nodes)]

    def objects(self, ready: bool = True) -> list[dict[str, Any]]:
        """Make the Node objects; `ready` ones need no kubelet to say that they are."""
        return [self._object(number, name, ready) for number, name in enumerate(self.names())]

    def _object(self, number: int, name: str, ready: bool) -> dict[str, Any]:
        leaf = number // self.per_leaf
        room = {
            GPU: str(self.gpus),
            "cpu": self.cpu,
            "memory": self.memory,
            "pods": str(self.pods),
        }
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "annotations": dict(FAKE),
                "labels": {
                    "kubernetes.io/hostname": name,
                    LABEL: "true",
                    SPINE_LABEL: f"spine-{leaf // self.leaves_per_spine}",
                    LEAF_LABEL: f"leaf-{leaf}",
                },
            },
            "status": {
                "capacity": room,
                "allocatable": room,
                **({"conditions": [ready_condition()], "phase": "Running"} if ready else {}),
            },
        }


async def create_nodes(kubeconfig: Path, nodes: Sequence[dict[str, Any]]) -> None:
    """Create Node objects with their status, and take the taint off those that are ready.

    Raises `ApiError` where one is refused.
    """
    client = await config.new_client_from_config(str(kubeconfig), persist_config=False)
    waiting = iter(nodes)

    async def send(method: str, path: str, body: Any, content: str = JSON) -> dict[str, Any]:
        headers = {"Content-Type": content, "Accept": JSON}
        await client.update_params_for_auth(headers, [], ["BearerToken"], path, method, body)
        url = client.configuration.host + path
        answer = await client.rest_client.request(method, url, headers=headers, body=body)
        return answer_of(answer.status, await answer.read())

    async def untaint(path: str, node: dict[str, Any]) -> None:
        del node["spec"]["taints"]
        try:
            # Twice as fast as a patch, but a controller may have been there first.
            await send("PUT", path, node)
        except ApiError as error:
            if error.status != 409:
                raise
            await send("PATCH", path, {"spec": {"taints": None}}, MERGE_PATCH)

    async def work() -> None:
        for node in waiting:
            made = await send("POST", "/api/v1/nodes", node)
            # Admission taints every new node until a controller sees it ready; not every
            # control plane of the tests runs that controller.
            if "conditions" in node["status"] and made["spec"].get("taints"):
                await untaint(f"/api/v1/nodes/{made['metadata']['name']}", made)

    try:
        async with client, asyncio.TaskGroup() as group:
            for _ in range(min(AT_ONCE, len(nodes))):
                group.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None


def create_fleet(kubeconfig: Path, fleet: Fleet, ready: bool = True) -> list[str]:
    """Create the nodes of `fleet` from where no event loop runs, and tell their names.

    Leave `ready` to kwok and kube-controller-manager where both run. Raises `ApiError`.
    """
    asyncio.run(create_nodes(kubeconfig, fleet.objects(ready)))
    return fleet.names()


def wait_usable(api: Api, names: Iterable[str]) -> None:
    """Wait until kubelets and controllers have made nodes usable: each is Ready, without a taint.

    Before that a gang may well go elsewhere than it would later.
    """
    wanted = set(names)

    def usable() -> bool:
        nodes = api.get("/api/v1/nodes")["items"]
        return wanted <= {one["metadata"]["name"] for one in nodes if _is_usable(one)}

    eventually(usable, f"{len(wanted)} nodes are Ready, without a taint", 90.0)


def _is_usable(node: dict[str, Any]) -> bool:
    found = {one["type"]: one["status"] for one in node["status"].get("conditions", [])}
    return found.get("Ready") == "True" and not node["spec"].get("taints")


def ready_condition() -> dict[str, str]:
    """The condition of a node that is ready as of now."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "a node of the tests",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
