"""Devices of classes beside GPUs: what nodes offer, what claims ask for, hold and may not say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.gang import Gang
from fourleaf.model.node_constraint import NODE_NAME_FIELD, Operator, Requirement
from fourleaf.model.readers import InputReading
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import of_class
from tests.model.readers.claims import (
    API,
    DRA,
    NVIDIA,
    bare,
    claim,
    claiming,
    device,
    device_class,
    gpus,
    published,
)
from tests.model.readers.made import Body, config, node, pod, reading
from tests.twins.resource_claims import (
    CHANNEL_CLASS,
    COMPUTE_DOMAIN,
    DAEMON_CLASS,
    channel_spec,
    compute_domain_classes,
    compute_domain_slice,
)

NIC = "nic.example.com"
RDMA = "rdma.example.com"
COUNT = config(devices={"mode": "count"})
CHANNELS = of_class(CHANNEL_CLASS)


def typed(kind: str, body: Body) -> Body:
    """The body as the API gives it alone."""
    return {"apiVersion": API, "kind": kind} | body


def rack(*names: str) -> list[Body]:
    """Nodes of GPUs by resource, each with a channel and a daemon."""
    slices = [typed("ResourceSlice", compute_domain_slice(name)) for name in names]
    classes = [typed("DeviceClass", body) for body in compute_domain_classes()]
    return [*(node(name) for name in names), *slices, *classes]


def channel(name: str = "c", **fields: Any) -> Body:
    """A claim of a channel, as a ComputeDomain makes it."""
    return claim(name) | {"spec": channel_spec()} | fields


def given(body: Body, driver: str, *devices: str, node: str = "n1", **more: Any) -> Body:
    """The claim with devices of a node, for the pods whose UIDs `users` are."""
    results = [
        {"request": "channel", "driver": driver, "pool": node, "device": one} | more
        for one in devices
    ]
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    selector = {"nodeSelectorTerms": [term]}
    return body | {
        "status": {"allocation": {"devices": {"results": results}, "nodeSelector": selector}}
    }


def waiting(*claims: str, **fields: Any) -> Body:
    """A pod that asks for a GPU by resource and names claims."""
    named = [{"name": one, "resourceClaimName": one} for one in claims or ("c",)]
    return pod("p", 1, resourceClaims=named, **fields)


def read(*bodies: Body, settings: SchedulerConfig | None = None) -> InputReading:
    """Read the bodies, in `devices.mode` env unless `settings` say otherwise."""
    first = () if settings is None else (settings,)
    return reading(*first, *bodies, strict=False)


def the_gang(*bodies: Body, settings: Any = None) -> Gang:
    """The only gang of a rack of one node."""
    (gang,) = read(*rack("n1"), *bodies, settings=settings).snapshot.gangs
    return gang


def refusal(gang: Gang) -> tuple[str, str]:
    """What a gang that is refused says, and advises."""
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.UNSUPPORTED
    return gang.hold.detail, gang.hold.unblock[0]


def nics(*names: str, rdma: tuple[str, ...] = (), **more: Any) -> Body:
    """The network devices of n1, some of which can do RDMA."""
    listed = [
        device(name, attributes={"rdma": {"bool": name in rdma}}, capacity={}, **more)
        for name in names
    ]
    return published(*listed, driver=NIC)


NIC_CLASSES = (
    device_class(NIC),
    device_class(RDMA, f"device.driver == '{NIC}' && device.attributes['{NIC}'].rdma == true"),
)


def asking(*classes: str) -> list[Body]:
    """A pod that waits, with a claim for a device of each class."""
    claims = [claim(f"c{i}", deviceClassName=one) for i, one in enumerate(classes)]
    return [*claims, claiming("p", *(body["metadata"]["name"] for body in claims))]


@pytest.mark.parametrize("settings", [None, COUNT], ids=["env", "count"])
def test_a_channel_is_counted_beside_gpus_by_resource(settings: SchedulerConfig | None) -> None:
    """The node has one channel and one daemon; the pod asks for its GPU and one channel."""
    found = read(*rack("n1"), channel(), waiting(), settings=settings).snapshot
    extra = ((of_class(DAEMON_CLASS), 1), (CHANNELS, 1))
    assert found.fabric.nodes["n1"].allocatable.extra == tuple(sorted(extra))
    (gang,) = found.gangs
    assert gang.hold is None
    assert (gang.roles[0].request.gpus, gang.roles[0].request.extra) == (1, ((CHANNELS, 1),))


def test_a_channel_is_counted_beside_gpus_by_claim() -> None:
    """In `dra`, one claim for GPUs and one for a channel: each is counted in its own way."""
    bodies = [body for body in rack("n1") if body["kind"] != "Node"]
    both = (claim("gpus", 2), channel(), claiming("p", "gpus", "c"))
    found = read(bare(), *bodies, published(*gpus()), device_class(), *both, settings=DRA)
    (gang,) = found.snapshot.gangs
    assert gang.hold is None
    request = gang.roles[0].request
    assert (request.gpus, request.extra) == (2, ((CHANNELS, 1),))


def test_what_a_claim_holds_is_taken_whatever_made_it() -> None:
    """A claim without any pod holds the channel; once a pod of ours has it, it counts there."""
    theirs = given(channel("theirs"), COMPUTE_DOMAIN, "channel-0")
    found = read(*rack("n1", "n2"), theirs).snapshot
    assert found.free["n1"].amount(CHANNELS) == 0
    assert found.free["n2"].amount(CHANNELS) == 1
    runs = waiting("theirs", nodeName="n1")
    named = [{"name": "theirs", "resourceClaimTemplateName": "t"}]
    runs["spec"]["resourceClaims"] = named
    runs["status"] = {"resourceClaimStatuses": [{"name": "theirs", "resourceClaimName": "theirs"}]}
    found = read(*rack("n1"), theirs, runs).snapshot
    assert [(one.name, one.request.extra) for one in found.running] == [("p", ((CHANNELS, 1),))]
    assert found.free["n1"].amount(CHANNELS) == 0


def test_a_claim_that_has_devices_takes_its_pods_to_their_node() -> None:
    """It may be shared: each pod goes where the selector of the allocation says, for no device."""
    shared = given(channel("c"), COMPUTE_DOMAIN, "channel-0", node="n2")
    said = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}
    pods = [waiting("c", annotations=said) for _ in range(2)]
    for i, body in enumerate(pods):
        body["metadata"] |= {"name": f"p-{i}", "uid": f"uid-{i}"}
    found = read(*rack("n1", "n2"), shared, *pods).snapshot
    (gang,) = found.gangs
    assert gang.hold is None
    (role,) = gang.roles
    assert role.request.extra == ()
    there = Requirement(NODE_NAME_FIELD, Operator.IN, ("n2",), True)
    assert role.constraint.affinity == ((there,),)
    bound = waiting("c", nodeName="n2")
    found = read(*rack("n1", "n2"), shared, bound).snapshot
    assert {one.name: one.request.extra for one in found.running} == {
        "p": (),
        "c (claim)": ((CHANNELS, 1),),
    }


def test_a_claim_that_has_as_many_pods_as_it_may_waits() -> None:
    """The API takes 256 users of a claim."""
    shared = given(channel(), COMPUTE_DOMAIN, "channel-0")
    shared["status"]["reservedFor"] = [{"uid": f"u{i}"} for i in range(256)]
    gang = the_gang(shared, waiting())
    assert gang.hold is not None
    assert "that 256 pods use, the most that may" in gang.hold.detail


def test_a_device_of_two_classes_is_one_of_each() -> None:
    """Three NICs, one with RDMA: who asks for RDMA takes one of all NICs too."""
    found = read(node(), nics("a", "b", "c", rdma=("c",)), *NIC_CLASSES, *asking(RDMA)).snapshot
    both = ((of_class(NIC), 3), (of_class(RDMA), 1))
    assert found.fabric.nodes["n1"].allocatable.extra == both
    (gang,) = found.gangs
    assert gang.roles[0].request.extra == ((of_class(NIC), 1), (of_class(RDMA), 1))
    (gang,) = read(node(), nics("a", "c", rdma=("c",)), *NIC_CLASSES, *asking(NIC)).snapshot.gangs
    assert gang.roles[0].request.extra == ((of_class(NIC), 1),)


def test_classes_that_share_some_devices_are_not_counted_together() -> None:
    """`fast` and RDMA share one NIC of three, so two counts do not say what is left of it."""
    fast = device_class("fast", f"device.attributes['{NIC}'].fast == true")
    listed = [
        device(name, attributes={"rdma": {"bool": rdma}, "fast": {"bool": quick}}, capacity={})
        for name, rdma, quick in (("a", True, False), ("b", True, True), ("c", False, True))
    ]
    rest = (node(), published(*listed, driver=NIC), *NIC_CLASSES, fast)
    (gang,) = read(*rest, *asking("fast", RDMA)).snapshot.gangs
    detail, advice = refusal(gang)
    assert f"classes fast and {RDMA}, which share some devices" in detail
    assert "share all devices" in advice
    for name in ("fast", RDMA):
        (gang,) = read(*rest, *asking(name)).snapshot.gangs
        assert gang.hold is None


@pytest.mark.parametrize(
    ("special", "named"),
    [
        ({"consumesCounters": [{"counterSet": "s"}]}, "devices with consumesCounters"),
        ({"allowMultipleAllocations": True}, "devices with allowMultipleAllocations"),
        ({"bindingConditions": ["ready"]}, "devices with bindingConditions"),
        ({"taints": [{"key": "k", "effect": "NoSchedule"}]}, "devices with taints"),
    ],
)
def test_devices_that_take_more_than_a_name_are_refused_by_name(
    special: dict[str, Any], named: str
) -> None:
    """A class that has no others says so; the node offers none of them."""
    found = read(node(), nics("a", **special), *NIC_CLASSES, *asking(NIC)).snapshot
    assert found.fabric.nodes["n1"].allocatable.extra == ()
    (gang,) = found.gangs
    detail, advice = refusal(gang)
    assert f"deviceClassName {NIC}, which has {named}, cannot be honoured" in detail
    assert "given away whole" in advice
    mixed = published(device("a", attributes={}, **special), device("b", attributes={}), driver=NIC)
    found = read(node(), mixed, *NIC_CLASSES, *asking(NIC)).snapshot
    assert found.fabric.nodes["n1"].allocatable.extra == ((of_class(NIC), 1),)
    assert found.gangs[0].hold is None


@pytest.mark.parametrize(
    "reach",
    [
        {"allNodes": True},
        {"nodeSelector": {"nodeSelectorTerms": [{}]}},
        {"perDeviceNodeSelection": True},
    ],
    ids=str,
)
def test_devices_that_several_nodes_reach_are_refused_by_name(reach: Body) -> None:
    """No node has a number of its own of them; what a claim has been given is honoured."""
    wide = nics("a", "b")
    del wide["spec"]["nodeName"]
    wide["spec"] |= reach
    found = read(node(), wide, *NIC_CLASSES, *asking(NIC)).snapshot
    assert found.fabric.nodes["n1"].allocatable.extra == ()
    detail, _ = refusal(found.gangs[0])
    assert "which has devices that several nodes reach" in detail
    shared = given(claim("c0", deviceClassName=NIC), NIC, "a")
    del shared["status"]["allocation"]["nodeSelector"]
    (gang,) = read(node(), wide, *NIC_CLASSES, shared, claiming("p", "c0")).snapshot.gangs
    assert gang.hold is None
    assert gang.roles[0].constraint.affinity == ()


def test_a_class_with_gpus_in_it_is_refused_by_name() -> None:
    """They are counted as GPUs already, by resource or by number."""
    everything = device_class("everything", "device.driver != 'x'")
    rest = (device_class(), everything, published(*gpus()), *asking("everything"))
    for settings, place in ((None, node()), (DRA, bare())):
        (gang,) = read(place, *rest, settings=settings).snapshot.gangs
        detail, advice = refusal(gang)
        assert "everything, which has devices of a driver of GPUs" in detail
        assert advice == "Add everything to spec.devices.deviceClasses of the config."


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda spec: spec["exactly"].update(selectors=[{}]), "exactly.selectors, of which"),
        (lambda spec: spec["exactly"].update(allocationMode="All"), "allocationMode All"),
        (lambda spec: spec["exactly"].update(adminAccess=True), "exactly.adminAccess"),
        (lambda spec: spec["exactly"].update(deviceClassName="none"), "there is no DeviceClass"),
        (
            lambda spec: spec["exactly"].update(deviceClassName=NVIDIA),
            "whose GPUs are not claimed in devices.mode env",
        ),
        (lambda spec: spec["exactly"].update(count=33), "for 33 devices, above the 32 of one"),
        (lambda spec: spec.update(firstAvailable=[{}]), "requests[0].firstAvailable"),
    ],
)
def test_what_else_a_request_says_is_refused_by_name(
    change: Callable[[Body], None], named: str
) -> None:
    """The reason names claim and field."""
    body = channel()
    change(body["spec"]["devices"]["requests"][0])
    detail, _ = refusal(the_gang(body, waiting()))
    assert "ResourceClaim c: spec.devices.requests" in detail
    assert named in detail


def test_part_of_a_device_is_refused_by_name() -> None:
    """A claim that was given some of a device says more than its name."""
    shared = given(channel(), COMPUTE_DOMAIN, "channel-0", shareID="1")
    detail, _ = refusal(the_gang(shared, waiting()))
    assert "status.allocation.devices.results[*].shareID" in detail


def test_an_incomplete_pool_offers_nothing_and_says_so() -> None:
    """Its driver is about to publish anew; the node takes other pods meanwhile."""
    part = nics("a", "b")
    part["spec"]["pool"]["resourceSliceCount"] = 2
    found = read(node(), part, *NIC_CLASSES)
    there = found.snapshot.fabric.nodes["n1"]
    assert there.allocatable.extra == ()
    assert there.schedulable
    assert any("offers no devices of its pool n1" in one.message for one in found.problems)


def test_devices_by_the_name_of_their_class_are_refused_by_name() -> None:
    """A container asks for two devices of a class as if for a resource: no claim would be made."""
    amount = {"deviceclass.resource.kubernetes.io/gpu.nvidia.com": "2"}
    container = {"name": "main", "resources": {"limits": amount, "requests": amount}}
    (gang,) = reading(node(), pod("p", containers=[container])).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.UNSUPPORTED
    assert "resources[deviceclass.resource.kubernetes.io/gpu.nvidia.com]" in gang.hold.detail
