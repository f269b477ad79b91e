"""Devices by ResourceClaims on the whole scheduler, on the twin."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from k8s_bridge.cluster.kinds import (
    CONFIG_MAPS,
    DEVICE_CLASSES,
    NODES,
    RESOURCE_CLAIM_TEMPLATES,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
)
from k8s_bridge.cluster.memory.actors import nodes, pod, submit
from k8s_bridge.cluster.memory.claim_actors import (
    DRIVER,
    ClaimController,
    claim_spec,
    device_class,
    resource_slice,
)
from k8s_bridge.cluster.protocol import Body
from model.config import API_VERSION, CONFIG_MAP
from tests.k8s_bridge.test_scheduler import TEAM, Bench

GPUS = [f"gpu-{i}" for i in range(12)]
"""Twelve, so that gpu-10 does not stand before gpu-2."""


class Claims(Bench):
    """A leaf of two nodes whose GPUs a driver publishes, and who makes claims from templates."""

    def __init__(self) -> None:
        super().__init__()
        controller = ClaimController(self.cluster.store)
        self.tasks.append(asyncio.ensure_future(controller.run()))

    async def set_up(self, **devices: Any) -> None:
        """Nodes, slices, class and config."""
        said = {"mode": "dra"} | devices
        config = {"apiVersion": API_VERSION, "kind": "SchedulerConfig", "spec": {"devices": said}}
        body = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": json.dumps(config)}}
        await self.cluster.create(CONFIG_MAPS, "kube-system", body)
        await self.cluster.create(DEVICE_CLASSES, "", device_class())
        for one in nodes(1, 1, 2):
            del one["status"]["allocatable"]["nvidia.com/gpu"]
            made = await self.cluster.create(NODES, "", one)
            published = resource_slice(made["metadata"]["name"], GPUS)
            await self.cluster.create(RESOURCE_SLICES, "", published)
        await submit(self.cluster, TEAM, [])

    async def template(self, name: str, count: int) -> None:
        """A template for claims of `count` GPUs."""
        body = {"metadata": {"name": name}, "spec": {"spec": claim_spec(count)}}
        await self.cluster.create(RESOURCE_CLAIM_TEMPLATES, TEAM, body)

    async def claims(self) -> dict[str, Body]:
        """All claims by name."""
        found = (await self.cluster.list(RESOURCE_CLAIMS)).items
        return {body["metadata"]["name"]: body for body in found}


@pytest.fixture
async def bench() -> AsyncIterator[Claims]:
    """Two nodes of twelve GPUs each."""
    bench = Claims()
    await bench.set_up()
    yield bench
    await bench.stop()


def claiming(body: Body, **source: str) -> Body:
    """The pod, with one claim: by `resourceClaimName` or `resourceClaimTemplateName`."""
    body["spec"]["resourceClaims"] = [{"name": "gpus", **source}]
    return body


def held(claim: Body) -> tuple[str, list[str], list[str]]:
    """Node, devices and pods of a claim."""
    status = claim.get("status") or {}
    allocation = status.get("allocation")
    if not allocation:
        return "", [], []
    (term,) = allocation["nodeSelector"]["nodeSelectorTerms"]
    results = allocation["devices"]["results"]
    users = [one["name"] for one in status["reservedFor"]]
    return term["matchFields"][0]["values"][0], [one["device"] for one in results], users


async def test_a_claim_gets_its_devices_before_its_pod_is_bound(bench: Claims) -> None:
    """Two GPUs of one node, in the allocation, which is older than the binding."""
    await bench.start()
    await bench.cluster.create(
        RESOURCE_CLAIMS, TEAM, {"metadata": {"name": "two"}, "spec": claim_spec(2)}
    )
    await submit(bench.cluster, TEAM, [claiming(pod("p", 0), resourceClaimName="two")])
    await bench.clock.advance(3)
    node = (await bench.places())["p"]
    claim = (await bench.claims())["two"]
    assert held(claim) == (node, ["gpu-0", "gpu-1"], ["p"])
    assert {one["driver"] for one in claim["status"]["allocation"]["devices"]["results"]} == {
        DRIVER
    }
    bound = (await bench.pods())["p"]["metadata"]["resourceVersion"]
    assert int(claim["metadata"]["resourceVersion"]) < int(bound)
