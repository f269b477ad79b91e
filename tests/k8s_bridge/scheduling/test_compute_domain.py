"""Claims of classes beside GPUs on the whole scheduler, on the twin: channels of a rack."""

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
from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP
from fourleaf.model.devices.held_devices import DEVICES
from tests.k8s_bridge.test_scheduler import TEAM, Bench
from tests.twins.resource_claims import (
    COMPUTE_DOMAIN,
    ClaimController,
    channel_spec,
    claim_spec,
    compute_domain_classes,
    compute_domain_slice,
    device_class,
    resource_slice,
)


class Rack(Bench):
    """A leaf of two nodes of 8 GPUs by resource; a driver publishes a channel of each."""

    async def set_up(self, mode: str) -> None:
        """Nodes, slices, classes and config."""
        controller = ClaimController(self.cluster.store)
        self.tasks.append(asyncio.ensure_future(controller.run()))
        spec = {"devices": {"mode": mode}}
        config = {"apiVersion": API_VERSION, "kind": "SchedulerConfig", "spec": spec}
        body = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": json.dumps(config)}}
        await self.cluster.create(CONFIG_MAPS, "kube-system", body)
        for one in compute_domain_classes():
            await self.cluster.create(DEVICE_CLASSES, "", one)
        for one in nodes(1, 1, 2):
            made = await self.cluster.create(NODES, "", one)
            published = compute_domain_slice(made["metadata"]["name"])
            await self.cluster.create(RESOURCE_SLICES, "", published)
        await submit(self.cluster, TEAM, [])
        template = {"metadata": {"name": "channel"}, "spec": {"spec": channel_spec()}}
        await self.cluster.create(RESOURCE_CLAIM_TEMPLATES, TEAM, template)

    async def claims(self) -> dict[str, Body]:
        """All claims by name."""
        found = (await self.cluster.list(RESOURCE_CLAIMS)).items
        return {body["metadata"]["name"]: body for body in found}

    async def shared(self, name: str) -> None:
        """A claim that pods may share, which has nothing yet."""
        body = {"metadata": {"name": name}, "spec": channel_spec()}
        await self.cluster.create(RESOURCE_CLAIMS, TEAM, body)


@pytest.fixture
async def rack() -> AsyncIterator[Rack]:
    """The rack, where the scheduler chooses GPUs."""
    bench = Rack()
    await bench.set_up("env")
    yield bench
    await bench.stop()


def with_channel(body: Body, **source: str) -> Body:
    """The pod, with a claim for a channel: by template unless `source` says otherwise."""
    source = source or {"resourceClaimTemplateName": "channel"}
    body["spec"]["resourceClaims"] = [{"name": "channel", **source}]
    return body


def users(claim: Body) -> list[str]:
    """The pods that a claim is reserved for."""
    return sorted(one["name"] for one in (claim.get("status") or {}).get("reservedFor") or ())


@pytest.mark.parametrize(("mode", "devices"), [("env", "0,1,2,3,4,5,6,7"), ("count", None)])
async def test_a_gang_gets_channels_and_gpus(mode: str, devices: str | None) -> None:
    """Each pod has all GPUs of its node and its channel, with the config of the domain."""
    rack = Rack()
    await rack.set_up(mode)
    try:
        await rack.start()
        await submit(rack.cluster, TEAM, [with_channel(body) for body in gang("g", 2, 8)])
        await rack.clock.advance(3)
        places = await rack.places()
        assert places.keys() == {"g-0", "g-1"}
        found = await rack.pods()
        for claim in (await rack.claims()).values():
            (name,) = users(claim)
            annotations = found[name]["metadata"].get("annotations") or {}
            assert annotations.get(DEVICES) == devices
            allocation = claim["status"]["allocation"]
            assert allocation.pop("allocationTimestamp").endswith("Z")
            assert allocation == {
                "devices": {
                    "results": [
                        {
                            "request": "channel",
                            "driver": COMPUTE_DOMAIN,
                            "pool": places[name],
                            "device": "channel-0",
                        }
                    ],
                    "config": [channel_spec()["devices"]["config"][0] | {"source": "FromClaim"}],
                },
                "nodeSelector": selector(places[name]),
            }
    finally:
        await rack.stop()


def selector(node: str) -> Body:
    """The selector of a node by its name."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    return {"nodeSelectorTerms": [term]}


async def test_a_third_channel_is_not_there(rack: Rack) -> None:
    """GPUs are free on both nodes, channels on none: the pod waits, and says for what."""
    await rack.start()
    await submit(rack.cluster, TEAM, [with_channel(body) for body in gang("g", 2, 1)])
    await rack.clock.advance(3)
    await submit(rack.cluster, TEAM, [with_channel(pod("late", 1)), pod("plain", 1)])
    await rack.clock.advance(3)
    assert (await rack.places()).keys() == {"g-0", "g-1", "plain"}
    assert "devices of class compute-domain-default-channel" in await rack.condition("late")
    rack.kubelets.finish(TEAM, ["g-0"])
    await rack.clock.advance(10)
    assert "late" in await rack.places()


async def test_a_shared_claim_takes_later_pods_to_its_node(rack: Rack) -> None:
    """The first pod has it allocated; others join it there, for as long as any of them runs."""
    await rack.start()
    await rack.shared("one")
    named = {"resourceClaimName": "one"}
    await submit(rack.cluster, TEAM, [with_channel(pod("first", 1), **named)])
    await rack.clock.advance(3)
    members = [with_channel(body, **named) for body in gang("g", 2, 1)]
    await submit(rack.cluster, TEAM, members)
    await rack.clock.advance(3)
    places = await rack.places()
    assert set(places) == {"first", "g-0", "g-1"}
    assert len(set(places.values())) == 1
    assert users((await rack.claims())["one"]) == ["first", "g-0", "g-1"]
    rack.kubelets.finish(TEAM, ["first", "g-0"])
    await rack.clock.advance(10)
    claim = (await rack.claims())["one"]
    assert users(claim) == ["g-1"]
    assert claim["status"]["allocation"]["nodeSelector"] == selector(places["first"])


async def test_what_strangers_hold_is_not_given_away(rack: Rack) -> None:
    """Another scheduler has given a claim the channel of one node: the pod goes to the other."""
    names = sorted(body["metadata"]["name"] for body in (await rack.cluster.list(NODES)).items)
    await rack.shared("theirs")
    result = {
        "request": "channel",
        "driver": COMPUTE_DOMAIN,
        "pool": names[0],
        "device": "channel-0",
    }
    status: dict[str, Any] = {
        "allocation": {"devices": {"results": [result]}, "nodeSelector": selector(names[0])}
    }
    target = Target(TEAM, "theirs")
    await rack.cluster.patch(RESOURCE_CLAIMS, target, {"status": status}, "status")
    await rack.start()
    await submit(rack.cluster, TEAM, [with_channel(pod(name, 1)) for name in ("a", "b")])
    await rack.clock.advance(3)
    assert list((await rack.places()).values()) == [names[1]]
    joins = with_channel(pod("joins", 1), resourceClaimName="theirs")
    await submit(rack.cluster, TEAM, [joins])
    await rack.clock.advance(3)
    assert (await rack.places())["joins"] == names[0]


async def test_a_new_leader_gives_no_channel_twice(rack: Rack) -> None:
    """It knows what pods have from their claims, and a node is free again once they ended."""
    await rack.start()
    await submit(rack.cluster, TEAM, [with_channel(body) for body in gang("g", 2, 1)])
    await rack.clock.advance(3)
    rack.tasks[-1].cancel()
    await rack.clock.advance(20)
    await rack.start("b")
    await submit(rack.cluster, TEAM, [with_channel(body) for body in gang("h", 2, 1)])
    await rack.clock.advance(20)
    assert (await rack.places()).keys() == {"g-0", "g-1"}
    rack.kubelets.finish(TEAM, ["g-0", "g-1"])
    await rack.clock.advance(20)
    given = [
        (one["pool"], one["device"])
        for claim in (await rack.claims()).values()
        if users(claim)
        for one in claim["status"]["allocation"]["devices"]["results"]
    ]
    assert {"h-0", "h-1"} <= (await rack.places()).keys()
    assert len(given) == len(set(given)) == 2


NIC = "nic.example.com"


async def publish_nics(rack: Rack) -> list[str]:
    """Two network devices on each node, by one class; the names of the nodes."""
    await rack.cluster.create(DEVICE_CLASSES, "", device_class(NIC))
    names = sorted(body["metadata"]["name"] for body in (await rack.cluster.list(NODES)).items)
    for name in names:
        body = resource_slice(name, ["nic-0", "nic-1"], driver=NIC)
        await rack.cluster.create(RESOURCE_SLICES, "", body)
    template = {"metadata": {"name": "nic"}, "spec": {"spec": claim_spec(1, NIC)}}
    await rack.cluster.create(RESOURCE_CLAIM_TEMPLATES, TEAM, template)
    return names


def with_nic(body: Body) -> Body:
    """The pod, with a claim for a network device."""
    return with_channel(body, resourceClaimTemplateName="nic")


async def given(rack: Rack) -> list[tuple[str, str]]:
    """Node and device of all that claims hold, sorted."""
    return sorted(
        (one["pool"], one["device"])
        for claim in (await rack.claims()).values()
        for one in ((claim.get("status") or {}).get("allocation") or {})
        .get("devices", {})
        .get("results", ())
    )


async def test_a_device_that_a_claim_holds_is_not_given(rack: Rack) -> None:
    """A stranger has the first device of each node: two pods get the second, a third waits."""
    names = await publish_nics(rack)
    for name in names:
        body = {"metadata": {"name": f"theirs-{name}"}, "spec": claim_spec(1, NIC)}
        made = await rack.cluster.create(RESOURCE_CLAIMS, TEAM, body)
        result = {"request": "gpus", "driver": NIC, "pool": name, "device": "nic-0"}
        status = {"allocation": {"devices": {"results": [result]}}}
        target = Target(TEAM, made["metadata"]["name"])
        await rack.cluster.patch(RESOURCE_CLAIMS, target, {"status": status}, "status")
    await rack.start()
    await submit(rack.cluster, TEAM, [with_nic(pod(f"p-{i}", 1)) for i in range(3)])
    await rack.clock.advance(5)
    assert len(await rack.places()) == 2
    assert await given(rack) == [(name, f"nic-{i}") for name in names for i in range(2)]


async def test_gangs_of_one_plan_share_no_device(rack: Rack) -> None:
    """Four gangs of one pod for four devices, all in one plan."""
    names = await publish_nics(rack)
    await submit(rack.cluster, TEAM, [with_nic(pod(f"p-{i}", 1)) for i in range(4)])
    await rack.clock.advance(1)
    await rack.start()
    await rack.clock.advance(5)
    assert len(await rack.places()) == 4
    assert await given(rack) == [(name, f"nic-{i}") for name in names for i in range(2)]
