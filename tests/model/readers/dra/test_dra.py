"""What pods with ResourceClaims ask for, and which demands are refused by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.gang import Gang
from fourleaf.model.readers import InputReading
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.claims import (
    DRA,
    NVIDIA,
    bare,
    claim,
    claiming,
    device_class,
    gpus,
    holding,
    published,
)
from tests.model.readers.made import Body, job, node, pod, reading


def read(*bodies: Body) -> InputReading:
    """Read with devices claimed, on a node without GPUs in its allocatable."""
    return reading(DRA, bare(), device_class(), *bodies, strict=False)


def the_gang(*bodies: Body) -> Gang:
    """The only gang, on a node of eight GPUs."""
    (found,) = read(published(*gpus()), *bodies).snapshot.gangs
    return found


def why(gang: Gang) -> tuple[ReasonKind, str]:
    """What holds a gang."""
    assert gang.hold is not None
    return gang.hold.kind, gang.hold.detail


def test_a_pod_asks_for_what_its_claims_are_for() -> None:
    """All requests of all its claims together, of one kind of device."""
    gang = the_gang(claim("c", 2), claim("d", 1), claiming("p", "c", "d"))
    (role,) = gang.roles
    assert gang.hold is None
    assert role.request.gpus == 3
    assert role.request.wants == DeviceDemand(device_class=NVIDIA)


def test_a_claim_from_a_template_goes_by_the_name_that_the_pod_tells() -> None:
    """And must have been made for that very pod."""
    body = pod("p", None, resourceClaims=[{"name": "a", "resourceClaimTemplateName": "t"}])
    body["metadata"]["uid"] = "uid-of-p"
    assert "no ResourceClaim yet" in why(the_gang(body))[1]
    body["status"] = {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "p-a-x"}]}
    made = claim("p-a-x", 2)
    assert "made for another pod" in why(the_gang(body, made))[1]
    made["metadata"]["ownerReferences"] = [{"kind": "Pod", "name": "p", "uid": "uid-of-p"}]
    gang = the_gang(body, made)
    assert gang.hold is None
    assert gang.roles[0].request.gpus == 2


def test_products_and_memories_may_be_demanded() -> None:
    """Those two selectors of a request are understood."""
    expressions = (
        f'device.attributes["{NVIDIA}"].productName == "H200"',
        f'device.capacity["{NVIDIA}"].memory.compareTo(quantity("141Gi")) >= 0',
    )
    selectors = [{"cel": {"expression": one}} for one in expressions]
    gang = the_gang(claim(selectors=selectors), claiming())
    demand = DeviceDemand(products=("H200",), memory=141 * 1024, device_class=NVIDIA)
    assert gang.roles[0].request.wants == demand


def with_devices(change: Callable[[Body], object]) -> Body:
    """A claim whose `spec.devices` was changed."""
    body = claim()
    change(body["spec"]["devices"])
    return body


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (claim(adminAccess=True), "exactly.adminAccess"),
        (claim(tolerations=[{"operator": "Exists"}]), "exactly.tolerations"),
        (claim(capacity={"requests": {"memory": "1Gi"}}), "exactly.capacity"),
        (claim(allocationMode="All"), "exactly.allocationMode All"),
        (claim(deviceClassName="nic"), "exactly.deviceClassName nic"),
        (claim(deviceClassName="gpu.amd.com"), "of which there is no DeviceClass"),
        (claim(count=0), "exactly.count 0"),
        (
            claim(selectors=[{"cel": {"expression": "device.driver.startsWith('gpu')"}}]),
            "exactly.selectors",
        ),
        (
            claim(selectors=[{"cel": {"expression": "device.attributes['d'].uuid == 'x'"}}]),
            "exactly.selectors, of which only productName and memory count",
        ),
        (
            claim(selectors=[{"cel": {"expression": "device.driver == 'x' && " * 100}}]),
            "exactly.selectors, which are longer than 2,048 characters",
        ),
        (
            with_devices(lambda d: d.update(requests=[{"name": "r", "firstAvailable": [{}]}])),
            "requests[0].firstAvailable",
        ),
        (with_devices(lambda d: d.update(constraints=[{}])), "spec.devices.constraints"),
        (with_devices(lambda d: d.update(requests=[])), "which are empty"),
    ],
    ids=str,
)
def test_what_is_not_honoured_is_refused_by_name(body: Body, field: str) -> None:
    """The gang waits, and its reason names claim and field."""
    kind, detail = why(the_gang(body, claiming()))
    assert kind is ReasonKind.UNSUPPORTED
    assert "ResourceClaim c" in detail
    assert field in detail


def test_a_class_that_is_not_understood_is_refused_by_name() -> None:
    """None of its devices is offered, and pods that ask for them say which selector it was."""
    odd = device_class(NVIDIA, "device.driver.find('gpu') == 'gpu'")
    found = reading(DRA, bare(), odd, published(*gpus()), claim(), claiming(), strict=False)
    assert found.snapshot.fabric.nodes["n1"].allocatable.gpus == 0
    (gang,) = found.snapshot.gangs
    assert why(gang)[0] is ReasonKind.UNSUPPORTED
    assert "calls find" in why(gang)[1]


def test_requests_of_two_kinds_are_refused() -> None:
    """The devices of a pod are chosen together, so they must be of one kind."""
    selectors = [{"cel": {"expression": "device.attributes['d'].productName == 'H200'"}}]
    gang = the_gang(claim("c"), claim("d", selectors=selectors), claiming("p", "c", "d"))
    assert "of different kinds" in why(gang)[1]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (pod(), "GPUs without a ResourceClaim"),
        (claiming(annotations={"gpu.scheduling/claim": "c"}), "gpu.scheduling/claim"),
        (claiming(annotations={"gpu-scheduling-map": "0=n1:0"}), "gpu-scheduling-map"),
    ],
    ids=["resource", "GpuClaim", "map"],
)
def test_other_ways_to_ask_for_gpus_do_not_go_with_claims(body: Body, field: str) -> None:
    """Refused by name, since nobody would give those devices."""
    kind, detail = why(the_gang(claim(), body))
    assert kind is ReasonKind.UNSUPPORTED
    assert field in detail


def test_claims_are_refused_where_devices_are_not_claimed() -> None:
    """Modes `env` and `count` do not write into ResourceClaims."""
    (gang,) = reading(node(), claim(), claiming(), strict=False).snapshot.gangs
    assert why(gang)[0] is ReasonKind.UNSUPPORTED
    assert "spec.resourceClaims" in why(gang)[1]


@pytest.mark.parametrize(
    ("bodies", "message"),
    [
        ([], "names no ResourceClaim of namespace ml"),
        ([holding(claim(), "gpu-0")], "has devices already"),
        (
            [claim() | {"metadata": {"name": "c", "namespace": "ml", "deletionTimestamp": "t"}}],
            "is being deleted",
        ),
    ],
    ids=["missing", "allocated", "dying"],
)
def test_a_claim_that_cannot_be_used_holds_its_pod(bodies: list[Body], message: str) -> None:
    """With a reason that says why."""
    kind, detail = why(the_gang(*bodies, claiming()))
    assert kind is ReasonKind.INVALID
    assert message in detail


def test_two_pods_of_a_gang_cannot_wait_for_one_claim() -> None:
    """Each needs a claim of its own, and the gang says so."""
    said = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}
    bodies = [claiming(f"p-{i}", annotations=said) for i in range(2)]
    assert "p-0 names as well" in why(the_gang(claim(), *bodies))[1]


def test_a_pod_that_runs_is_not_held_for_its_claim() -> None:
    """Whoever bound it: what is wrong with its claims is nobody's reason to wait."""
    found = read(published(*gpus()), claiming("p", "gone", nodeName="n1"))
    assert [pod.name for pod in found.snapshot.running] == ["p"]
    assert not [one for one in found.problems if "ResourceClaim" in one.message]


def test_a_job_is_planned_by_its_claim_template() -> None:
    """Its pods do not exist yet, and so neither do their claims: two GPUs for each."""
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "two", "namespace": "ml"},
        "spec": {"spec": claim(count=2)["spec"]},
    }
    body = job(gpus=None, parallelism=2, completions=2, completionMode="Indexed")
    named = {"name": "gpus", "resourceClaimTemplateName": "two"}
    body["spec"]["template"]["spec"]["resourceClaims"] = [named]
    gang = the_gang(body, template)
    assert gang.hold is None
    (role,) = gang.roles
    assert (len(role.pods), role.request.gpus) == (2, 2)
    assert "no ResourceClaim yet" in why(the_gang(body))[1]
