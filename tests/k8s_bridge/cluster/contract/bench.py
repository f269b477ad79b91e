"""A cluster under test, and what the tests need besides the protocol."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, Protocol

import pytest

from fourleaf.k8s_bridge.cluster.kinds import DISRUPTION_BUDGETS, NAMESPACES, PODS, Kind
from fourleaf.k8s_bridge.cluster.live import LiveCluster
from fourleaf.k8s_bridge.cluster.live import client as live_client
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.protocol import Body, PagedCluster, Target, WatchEvent
from tests.controlplane.api import Api
from tests.controlplane.fixtures import Plane
from tests.controlplane.plane import ControlPlane

PATIENCE = 20.0
"""Seconds after which an event that has not come will not come."""


def target(body: Body, *, uid: bool = False, version: bool = False) -> Target:
    """Name an object as it was read, with its UID and version where asked for."""
    metadata = body["metadata"]
    return Target(
        metadata.get("namespace", ""),
        metadata["name"],
        metadata["uid"] if uid else "",
        metadata["resourceVersion"] if version else "",
    )


def version_of(body: Body) -> str:
    """Tell the resource version of an object."""
    return str(body["metadata"]["resourceVersion"])


def pod_body(name: str, **spec: Any) -> Body:
    """Make a pod for our scheduler."""
    container = {"name": "main", "image": "train"}
    return {
        "metadata": {"name": name},
        "spec": {
            "schedulerName": "topology-aware-scheduler",
            "containers": [container],
            "terminationGracePeriodSeconds": 30,
            **spec,
        },
    }


class Bench(Protocol):
    """A cluster, a namespace that no other test uses, and the other actors in a cluster."""

    cluster: PagedCluster
    namespace: str

    async def finish(self, pod: Target) -> None:
        """Be the kubelet whose pod has stopped."""

    async def allow(self, budget: Target, disruptions: int) -> None:
        """Be the disruption controller that has counted."""

    async def forget(self) -> None:
        """Let the history before now be too old to watch from version 1."""

    async def hasten(self) -> None:
        """Let watches get a bookmark and an end within seconds."""


class TwinBench:
    """The twin."""

    def __init__(self) -> None:
        self.cluster = MemoryCluster()
        self.namespace = "team-a"
        self._tasks: list[asyncio.Task[None]] = []

    async def finish(self, pod: Target) -> None:
        """Be the kubelet whose pod has stopped."""
        self.cluster.store.finish(pod.namespace, pod.name)

    async def allow(self, budget: Target, disruptions: int) -> None:
        """Do nothing: the twin counts for itself."""

    async def forget(self) -> None:
        """Compact the history."""
        self.cluster.store.compact()

    async def hasten(self) -> None:
        """Send a bookmark and end watches soon."""

        async def soon() -> None:
            await asyncio.sleep(0.05)
            self.cluster.store.bookmark()
            await asyncio.sleep(0.05)
            self.cluster.store.end_watches()

        self._tasks.append(asyncio.create_task(soon()))


class RealBench:
    """A real apiserver, without controllers and kubelets: this plays them."""

    def __init__(
        self,
        cluster: LiveCluster,
        plane: Plane,
        api: Api,
        patch: Callable[[object, str, object], None],
    ) -> None:
        self.cluster = cluster
        self._plane = plane
        self.namespace = f"t-{uuid.uuid4().hex[:8]}"
        self._api = api
        self._patch = patch

    async def finish(self, pod: Target) -> None:
        """Delete without grace, as kubelets do."""
        path = PODS.path(pod.namespace, pod.name)
        await asyncio.to_thread(self._api.delete, f"{path}?gracePeriodSeconds=0")

    async def allow(self, budget: Target, disruptions: int) -> None:
        """Write what the disruption controller would."""
        found = await self.cluster.get(DISRUPTION_BUDGETS, budget)
        status = {
            "observedGeneration": found["metadata"]["generation"],
            "disruptionsAllowed": disruptions,
            "currentHealthy": disruptions + 1,
            "desiredHealthy": 1,
            "expectedPods": 2,
        }
        await self.cluster.patch(DISRUPTION_BUDGETS, budget, {"status": status}, "status")

    async def forget(self) -> None:
        """Start the apiserver again: its cache of events begins at the newest version."""
        if not isinstance(self._plane, ControlPlane):
            pytest.skip("the apiserver is not ours to start again")
        await asyncio.to_thread(self._plane.restart_apiserver)

    async def hasten(self) -> None:
        """Ask for watches of five seconds, which get a bookmark before they end."""
        self._patch(live_client, "WATCH_SECONDS", (5, 5))


async def make_namespace(bench: Bench) -> None:
    """Create the namespace of the test."""
    await bench.cluster.create(NAMESPACES, "", {"metadata": {"name": bench.namespace}})


async def make_pod(bench: Bench, name: str = "p", **spec: Any) -> Body:
    """Create a pod; what the server made of it."""
    return await bench.cluster.create(PODS, bench.namespace, pod_body(name, **spec))


async def watched(
    bench: Bench, kind: Kind, version: str, count: int, labels: str = "", namespace: str = ""
) -> list[WatchEvent]:
    """Watch until `count` events about objects have come."""

    async def gather() -> list[WatchEvent]:
        found: list[WatchEvent] = []
        events = bench.cluster.watch(kind, version, namespace or bench.namespace, labels)
        async with closing(events) as stream:
            async for event in stream:
                if event.type not in ("OPENED", "BOOKMARK"):
                    found.append(event)
                if len(found) == count:
                    break
        return found

    return await asyncio.wait_for(gather(), PATIENCE)


def closing(events: AsyncIterator[WatchEvent]) -> aclosing[Any]:
    """Close a watch at the end of a block."""
    return aclosing(events)  # type: ignore[type-var]
