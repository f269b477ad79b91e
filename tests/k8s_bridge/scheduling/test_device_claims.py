"""Devices by ResourceClaims on the whole scheduler, on the twin."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import (
    CONFIG_MAPS,
    DEVICE_CLASSES,
    NODES,
    RESOURCE_CLAIM_TEMPLATES,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
)
from fourleaf.k8s_bridge.cluster.memory.actors import gang, nodes, pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.names import FENCE
from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP
from tests.k8s_bridge.test_scheduler import TEAM, Bench
from tests.twins.resource_claims import (
    DRIVER,
    ClaimController,
    claim_spec,
    device_class,
    resource_slice,
)

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


async def test_a_gang_by_template_gets_all_or_nothing(bench: Claims) -> None:
    """Two pods with twelve GPUs each: a node each; a second gang waits until the first ends."""
    await bench.start()
    await bench.template("all", 12)
    for name in ("first", "second"):
        members = [claiming(body, resourceClaimTemplateName="all") for body in gang(name, 2, 0)]
        await submit(bench.cluster, TEAM, members)
        await bench.clock.advance(3)
    assert sorted(await bench.places()) == ["first-0", "first-1"]
    assert await bench.condition("second-0")
    bench.kubelets.finish(TEAM, ["first-0", "first-1"])
    await bench.clock.advance(10)
    assert {"second-0", "second-1"} <= (await bench.places()).keys()
    found = {
        users[0]: (node, names) for node, names, users in map(held, (await bench.claims()).values())
    }
    places = await bench.places()
    assert found == {name: (places[name], GPUS) for name in ("second-0", "second-1")}


async def test_what_strangers_hold_is_not_given_away(bench: Claims) -> None:
    """Nine GPUs of each node are held by claims that another scheduler gave them."""
    for node in await node_names(bench):
        body = {"metadata": {"name": f"theirs-{node}"}, "spec": claim_spec(9)}
        made = await bench.cluster.create(RESOURCE_CLAIMS, TEAM, body)
        results = [
            {"request": "gpus", "driver": DRIVER, "pool": node, "device": name}
            for name in GPUS[1:10]
        ]
        status = {"allocation": {"devices": {"results": results}}}
        target = Target(TEAM, made["metadata"]["name"])
        await bench.cluster.patch(RESOURCE_CLAIMS, target, {"status": status}, "status")
    await bench.start()
    await bench.template("three", 3)
    await bench.template("four", 4)
    three = claiming(pod("three", 0), resourceClaimTemplateName="three")
    four = claiming(pod("four", 0), resourceClaimTemplateName="four")
    await submit(bench.cluster, TEAM, [three, four])
    await bench.clock.advance(3)
    assert (await bench.places()).keys() == {"three"}
    (mine,) = [body for name, body in (await bench.claims()).items() if name.startswith("three-")]
    assert held(mine)[1] == ["gpu-0", "gpu-10", "gpu-11"]


async def node_names(bench: Claims) -> list[str]:
    """The nodes, by name."""
    return [body["metadata"]["name"] for body in (await bench.cluster.list(NODES)).items]


async def test_devices_are_packed_across_pods_and_restarts(bench: Claims) -> None:
    """Six pods of four GPUs fill both nodes; one that leads later gives no device away twice."""
    await bench.template("four", 4)
    first = await bench.start()
    members = [claiming(pod(f"a-{i}", 0), resourceClaimTemplateName="four") for i in range(3)]
    await submit(bench.cluster, TEAM, members)
    await bench.clock.advance(3)
    assert len(await bench.places()) == 3
    assert first.leading
    bench.tasks[-1].cancel()
    await bench.clock.advance(20)
    await bench.start("b")
    members = [claiming(pod(f"b-{i}", 0), resourceClaimTemplateName="four") for i in range(4)]
    await submit(bench.cluster, TEAM, members)
    await bench.clock.advance(20)
    assert len(await bench.places()) == 6
    given = [
        (node, name)
        for claim in (await bench.claims()).values()
        for node, names, _ in [held(claim)]
        for name in names
    ]
    assert len(given) == len(set(given)) == 24


async def test_a_claim_that_is_named_by_two_pods_is_for_the_first(bench: Claims) -> None:
    """The second says so and stays where it is; it starts once the first has ended.

    No commit of it was written, which would have had to go back.
    """
    await bench.start()
    body = {"metadata": {"name": "one"}, "spec": claim_spec(1)}
    await bench.cluster.create(RESOURCE_CLAIMS, TEAM, body)
    both = [claiming(pod(name, 0), resourceClaimName="one") for name in ("p", "q")]
    await submit(bench.cluster, TEAM, both)
    await bench.clock.advance(5)
    (place,) = await bench.places()
    other = {"p": "q", "q": "p"}[place]
    assert "has devices already" in await bench.condition(other)
    said = (await bench.pods())[other]["metadata"].get("annotations") or {}
    assert FENCE not in said
    bench.kubelets.finish(TEAM, [place])
    await bench.clock.advance(10)
    assert other in await bench.places()
    assert held((await bench.claims())["one"])[2] == [other]


async def test_a_device_that_goes_and_comes_keeps_what_pods_hold(bench: Claims) -> None:
    """gpu-0 is taken away: all numbers shift by one, and no device is given twice for that."""
    await bench.start()
    await bench.template("six", 6)
    first = [claiming(pod(f"a-{i}", 0), resourceClaimTemplateName="six") for i in range(2)]
    await submit(bench.cluster, TEAM, first)
    await bench.clock.advance(3)
    for node in await node_names(bench):
        body = resource_slice(node, GPUS[1:], generation=2)
        await bench.cluster.patch(
            RESOURCE_SLICES, Target("", body["metadata"]["name"]), {"spec": body["spec"]}
        )
    await bench.clock.advance(1)
    second = [claiming(pod(f"b-{i}", 0), resourceClaimTemplateName="six") for i in range(3)]
    await submit(bench.cluster, TEAM, second)
    await bench.clock.advance(5)
    given = [
        (node, name)
        for claim in (await bench.claims()).values()
        for node, names, _ in [held(claim)]
        for name in names
    ]
    assert len(given) == len(set(given))
    # Where a pod holds gpu-0, which is gone, six of the other eleven are left.
    assert len(await bench.places()) in (3, 4)
    names = {name for claim in (await bench.claims()).values() for name in held(claim)[1]}
    assert names <= set(GPUS)


async def test_a_class_and_a_claim_configure_what_they_give(bench: Claims) -> None:
    """Both configurations stand in the allocation, where the driver looks for them."""
    opaque = {"opaque": {"driver": DRIVER, "parameters": {"sharing": "none"}}}
    spec = device_class()["spec"] | {"config": [opaque]}
    await bench.cluster.patch(DEVICE_CLASSES, Target("", DRIVER), {"spec": spec})
    claim = claim_spec(1)
    claim["devices"]["config"] = [opaque | {"requests": ["gpus"]}]
    body = {"metadata": {"name": "set"}, "spec": claim}
    await bench.cluster.create(RESOURCE_CLAIMS, TEAM, body)
    await bench.start()
    await submit(bench.cluster, TEAM, [claiming(pod("p", 0), resourceClaimName="set")])
    await bench.clock.advance(3)
    found = (await bench.claims())["set"]["status"]["allocation"]["devices"]["config"]
    assert found == [
        opaque | {"source": "FromClass", "requests": ["gpus"]},
        opaque | {"source": "FromClaim", "requests": ["gpus"]},
    ]


async def test_an_incomplete_pool_keeps_new_pods_away_and_old_ones_where_they_are(
    bench: Claims,
) -> None:
    """A driver is about to publish anew: nobody comes, nobody goes; then it goes on."""
    await bench.start()
    await bench.template("one", 1)
    await submit(bench.cluster, TEAM, [claiming(pod("a", 0), resourceClaimTemplateName="one")])
    await bench.clock.advance(3)
    for count in (2, 1):
        for node in await node_names(bench):
            body = resource_slice(node, GPUS, generation=4 - count)
            body["spec"]["pool"]["resourceSliceCount"] = count
            target = Target("", body["metadata"]["name"])
            await bench.cluster.patch(RESOURCE_SLICES, target, {"spec": body["spec"]})
        if count == 2:
            waits = claiming(pod("b", 0), resourceClaimTemplateName="one")
            await submit(bench.cluster, TEAM, [waits])
        await bench.clock.advance(5)
        assert (await bench.places()).keys() == ({"a"} if count == 2 else {"a", "b"})


async def test_each_claim_of_a_pod_gets_devices_of_its_own(bench: Claims) -> None:
    """Two claims and three requests of one pod share no device, and all are on its node."""
    await bench.start()
    spec = claim_spec(2)
    (request,) = spec["devices"]["requests"]
    spec["devices"]["requests"] = [request, request | {"name": "more"}]
    for name, body in (("a", spec), ("b", claim_spec(3))):
        made = {"metadata": {"name": name}, "spec": body}
        await bench.cluster.create(RESOURCE_CLAIMS, TEAM, made)
    body = pod("p", 0)
    body["spec"]["resourceClaims"] = [{"name": n, "resourceClaimName": n} for n in ("a", "b")]
    await submit(bench.cluster, TEAM, [body])
    await bench.clock.advance(3)
    claims = await bench.claims()
    results = claims["a"]["status"]["allocation"]["devices"]["results"]
    assert [one["request"] for one in results] == ["gpus", "gpus", "more", "more"]
    node = (await bench.places())["p"]
    assert held(claims["a"]) == (node, GPUS[:4], ["p"])
    assert held(claims["b"]) == (node, GPUS[4:7], ["p"])
