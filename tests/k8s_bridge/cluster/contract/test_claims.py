"""ResourceClaims: what may be written of them, in which order, and by which version."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.errors import Conflict, NotFound, Refused
from fourleaf.k8s_bridge.cluster.kinds import DEVICE_CLASSES, RESOURCE_CLAIMS, RESOURCE_SLICES
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from tests.k8s_bridge.cluster.contract.bench import Bench, target, version_of
from tests.twins.resource_claims import (
    DRIVER,
    FINALIZER,
    claim_spec,
    device_class,
    resource_slice,
)

USER = {"resource": "pods", "name": "p", "uid": "0b0bd1a5-0000-4000-8000-000000000001"}


def given(device: str = "gpu-0") -> Body:
    """An allocation of one device of a node."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    result = {"request": "gpus", "driver": DRIVER, "pool": "n1", "device": device}
    return {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [term]}}


async def make_claim(bench: Bench, status: Body | None = None) -> Body:
    """A claim for one device, with that status."""
    body: Body = {"metadata": {"name": "c"}, "spec": claim_spec(1)}
    made = await bench.cluster.create(RESOURCE_CLAIMS, bench.namespace, body)
    return made if status is None else await write(bench, made, status)


async def write(bench: Bench, claim: Body, status: Body) -> Body:
    """Patch the status of a claim as it was read."""
    exactly = target(claim, uid=True, version=True)
    return await bench.cluster.patch(RESOURCE_CLAIMS, exactly, {"status": status}, "status")


async def test_devices_and_users_come_in_one_write(bench: Bench) -> None:
    """And are there when the claim is read or listed."""
    claim = await make_claim(bench, {"allocation": given(), "reservedFor": [USER]})
    assert claim["status"] == {"allocation": given(), "reservedFor": [USER]}
    (listed,) = (await bench.cluster.list(RESOURCE_CLAIMS, bench.namespace)).items
    assert listed["status"] == claim["status"]
    assert (await bench.cluster.get(RESOURCE_CLAIMS, target(claim)))["status"] == claim["status"]


async def test_a_status_that_comes_late_does_not_take(bench: Bench) -> None:
    """A claim that has changed since is left alone, and so is another one of its name."""
    claim = await make_claim(bench)
    patch = {"metadata": {"annotations": {"x": "y"}}}
    changed = await bench.cluster.patch(RESOURCE_CLAIMS, target(claim), patch)
    assert version_of(changed) != version_of(claim)
    with pytest.raises(Conflict):
        await write(bench, claim, {"allocation": given()})
    await bench.cluster.delete(RESOURCE_CLAIMS, target(claim))
    with pytest.raises(NotFound):
        await write(bench, changed, {"allocation": given()})
    await make_claim(bench)
    with pytest.raises(Conflict):
        await write(bench, changed, {"allocation": given()})


async def test_devices_once_given_stay_the_same(bench: Bench) -> None:
    """They can be taken back, not changed; the same ones again change nothing."""
    claim = await make_claim(bench, {"allocation": given()})
    with pytest.raises(Refused):
        await write(bench, claim, {"allocation": given("gpu-1")})
    again = await write(bench, claim, {"allocation": given()})
    assert version_of(again) == version_of(claim)
    freed = await write(bench, claim, {"allocation": None, "reservedFor": None})
    assert not freed.get("status")
    other = await write(bench, freed, {"allocation": given("gpu-1")})
    assert other["status"]["allocation"] == given("gpu-1")


async def test_nobody_is_a_user_of_nothing(bench: Bench) -> None:
    """A reservation without devices is refused, and so is one for a pod twice."""
    claim = await make_claim(bench)
    with pytest.raises(Refused) as refused:
        await write(bench, claim, {"reservedFor": [USER]})
    assert refused.value.status == 422
    with pytest.raises(Refused):
        await write(bench, claim, {"allocation": given(), "reservedFor": [USER, USER]})


async def test_what_a_claim_asks_for_never_changes(bench: Bench) -> None:
    """Its spec is what it was made with."""
    claim = await make_claim(bench)
    with pytest.raises(Refused):
        await bench.cluster.patch(RESOURCE_CLAIMS, target(claim), {"spec": claim_spec(2)})


async def test_a_finalizer_keeps_a_claim(bench: Bench) -> None:
    """Until it is taken off; meanwhile nobody may start to use it."""
    claim = await make_claim(bench)
    patch: Body = {"metadata": {"finalizers": [FINALIZER]}}
    claim = await bench.cluster.patch(RESOURCE_CLAIMS, target(claim), patch)
    await bench.cluster.delete(RESOURCE_CLAIMS, target(claim))
    claim = await bench.cluster.get(RESOURCE_CLAIMS, target(claim))
    assert claim["metadata"]["deletionTimestamp"]
    with pytest.raises(Refused):
        await write(bench, claim, {"allocation": given(), "reservedFor": [USER]})
    patch = {"metadata": {"finalizers": None}}
    await bench.cluster.patch(RESOURCE_CLAIMS, target(claim), patch)
    with pytest.raises(NotFound):
        await bench.cluster.get(RESOURCE_CLAIMS, target(claim))


async def test_slices_and_classes_are_whole_objects(bench: Bench) -> None:
    """They have no status of their own, and are replaced by patches of their spec."""
    node = f"{bench.namespace}-n1"
    made = await bench.cluster.create(RESOURCE_SLICES, "", resource_slice(node, ["gpu-0"]))
    assert made["spec"]["devices"][0]["name"] == "gpu-0"
    newer = resource_slice(node, ["gpu-0", "gpu-1"], generation=2)
    patched = await bench.cluster.patch(RESOURCE_SLICES, target(made), {"spec": newer["spec"]})
    assert patched["spec"]["pool"]["generation"] == 2
    await bench.cluster.delete(RESOURCE_SLICES, target(made))
    body = device_class() | {"metadata": {"name": bench.namespace}}
    await bench.cluster.create(DEVICE_CLASSES, "", body)
    found = await bench.cluster.get(DEVICE_CLASSES, Target("", bench.namespace))
    assert found["spec"]["selectors"] == body["spec"]["selectors"]
    await bench.cluster.delete(DEVICE_CLASSES, Target("", bench.namespace))
