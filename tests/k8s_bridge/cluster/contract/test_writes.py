"""Creating, replacing and patching."""

from __future__ import annotations

import asyncio
import re

import pytest

from fourleaf.k8s_bridge.cluster.errors import AlreadyExists, Conflict, NotFound, Refused
from fourleaf.k8s_bridge.cluster.kinds import (
    CONFIG_MAPS,
    LEASES,
    MUTATING_WEBHOOKS,
    NODES,
    PODS,
    PRIORITY_CLASSES,
    SECRETS,
    VALIDATING_WEBHOOKS,
    Kind,
)
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from tests.k8s_bridge.cluster.contract.bench import (
    PATIENCE,
    Bench,
    make_pod,
    pod_body,
    target,
    version_of,
)


async def _lease(bench: Bench, annotations: dict[str, str] | None = None) -> Body:
    body = {
        "metadata": {"name": "page", "annotations": annotations or {"x": "1"}},
        "spec": {"holderIdentity": "a", "leaseTransitions": 1},
    }
    return await bench.cluster.create(LEASES, bench.namespace, body)


async def test_created_objects_have_an_identity(bench: Bench) -> None:
    """A created object has a UID, a version and a time in whole seconds."""
    first, second = await make_pod(bench, "a"), await make_pod(bench, "b")
    assert re.fullmatch(r"[0-9a-f-]{36}", first["metadata"]["uid"])
    assert first["metadata"]["uid"] != second["metadata"]["uid"]
    assert int(version_of(second)) > int(version_of(first))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", first["metadata"]["creationTimestamp"])
    assert first["metadata"]["namespace"] == bench.namespace


async def test_name_taken(bench: Bench) -> None:
    """A name that is taken is told apart from other conflicts."""
    await _lease(bench)
    with pytest.raises(AlreadyExists) as caught:
        await _lease(bench)
    assert caught.value.status == 409


async def test_generated_names(bench: Bench) -> None:
    """A name is made from generateName, another each time."""
    body = {"metadata": {"generateName": "m-"}}
    made = [await bench.cluster.create(CONFIG_MAPS, bench.namespace, body) for _ in range(2)]
    names = {one["metadata"]["name"] for one in made}
    assert len(names) == 2
    assert all(re.fullmatch(r"m-[a-z0-9]{5}", name) for name in names)


async def test_no_such_namespace(bench: Bench) -> None:
    """Nothing is created in a namespace that does not exist."""
    with pytest.raises(NotFound):
        await bench.cluster.create(CONFIG_MAPS, "nowhere", {"metadata": {"name": "m"}})


async def test_create_with_a_version(bench: Bench) -> None:
    """A new object cannot say what version it has."""
    body = {"metadata": {"name": "m", "resourceVersion": "1"}}
    with pytest.raises(Refused) as caught:
        await bench.cluster.create(CONFIG_MAPS, bench.namespace, body)
    assert caught.value.status == 400


async def test_new_pods_wait(bench: Bench) -> None:
    """A new pod is pending whatever status it was sent with, and has a priority."""
    body = pod_body("p") | {"status": {"phase": "Running"}}
    made = await bench.cluster.create(PODS, bench.namespace, body)
    assert made["status"]["phase"] == "Pending"
    assert made["spec"]["priority"] == 0


async def test_priority_of_a_class(bench: Bench) -> None:
    """A pod gets the value of its priority class, and is refused where there is none."""
    name = f"{bench.namespace}-high"
    await bench.cluster.create(PRIORITY_CLASSES, "", {"metadata": {"name": name}, "value": 1000})
    # Admission hears of a class a moment after it was made, and refuses its pods until then.
    async with asyncio.timeout(PATIENCE):
        while (made := await _pod_of(bench, name)) is None:
            await asyncio.sleep(0.02)
    assert made["spec"]["priority"] == 1000
    with pytest.raises(Refused) as caught:
        await make_pod(bench, "q", priorityClassName="no-such-class")
    assert caught.value.status == 403


async def _pod_of(bench: Bench, priority_class: str) -> Body | None:
    try:
        return await make_pod(bench, "p", priorityClassName=priority_class)
    except Refused:
        return None


async def test_pod_without_containers(bench: Bench) -> None:
    """A pod without containers is invalid."""
    with pytest.raises(Refused) as caught:
        await make_pod(bench, containers=[])
    assert caught.value.status == 422


async def test_replace_is_compare_and_swap(bench: Bench) -> None:
    """A replacement takes under the current version and conflicts under an old one."""
    lease = await _lease(bench)
    lease["metadata"]["annotations"] = {"x": "2"}
    second = await bench.cluster.replace(LEASES, target(lease, version=True), lease)
    assert int(version_of(second)) > int(version_of(lease))
    lease["metadata"]["annotations"] = {"x": "3"}
    with pytest.raises(Conflict) as caught:
        await bench.cluster.replace(LEASES, target(lease, version=True), lease)
    assert not isinstance(caught.value, AlreadyExists)
    found = await bench.cluster.get(LEASES, target(lease))
    assert found["metadata"]["annotations"] == {"x": "2"}


async def test_target_decides_about_the_version(bench: Bench) -> None:
    """The version that counts in a replacement is the target's, not the body's."""
    lease = await _lease(bench)
    old = target(lease, version=True)
    second = await bench.cluster.patch(LEASES, target(lease), {"spec": {"holderIdentity": "b"}})
    with pytest.raises(Conflict):
        await bench.cluster.replace(LEASES, old, second)


async def test_replace_needs_a_version(bench: Bench) -> None:
    """A replacement without a version is refused."""
    lease = await _lease(bench)
    with pytest.raises(Refused):
        await bench.cluster.replace(LEASES, target(lease), lease)


async def test_replace_of_another_object(bench: Bench) -> None:
    """A replacement of an object under the UID of another conflicts."""
    lease = await _lease(bench)
    metadata = lease["metadata"]
    other = "00000000-0000-4000-8000-000000000000"
    named = Target(metadata["namespace"], metadata["name"], other, version_of(lease))
    with pytest.raises(Conflict):
        await bench.cluster.replace(LEASES, named, lease)


async def test_replace_of_nothing(bench: Bench) -> None:
    """A replacement of an object that has gone fails and makes nothing."""
    lease = await _lease(bench)
    await bench.cluster.delete(LEASES, target(lease))
    with pytest.raises((Conflict, NotFound)):
        await bench.cluster.replace(LEASES, target(lease, uid=True, version=True), lease)
    with pytest.raises(NotFound):
        await bench.cluster.get(LEASES, target(lease))


async def test_replacing_with_the_same_keeps_the_version(bench: Bench) -> None:
    """A replacement that changes nothing is no write."""
    lease = await _lease(bench)
    again = await bench.cluster.replace(LEASES, target(lease, version=True), lease)
    assert version_of(again) == version_of(lease)


async def test_patch_merges(bench: Bench) -> None:
    """A patch adds, changes, removes by null and leaves the rest."""
    lease = await _lease(bench, {"keep": "1", "change": "1", "remove": "1"})
    patch = {"metadata": {"annotations": {"change": "2", "remove": None, "add": "1"}}}
    patched = await bench.cluster.patch(LEASES, target(lease), patch)
    assert patched["metadata"]["annotations"] == {"keep": "1", "change": "2", "add": "1"}
    assert patched["spec"] == lease["spec"]


async def test_patch_that_changes_nothing_keeps_the_version(bench: Bench) -> None:
    """A patch with what is there already is no write; one with something new is."""
    made = await make_pod(bench)
    fence = {"metadata": {"annotations": {"alloc.gpu.scheduling/epoch": "7"}}}
    first = await bench.cluster.patch(PODS, target(made), fence)
    assert version_of(first) != version_of(made)
    again = await bench.cluster.patch(PODS, target(made), fence)
    assert version_of(again) == version_of(first)


async def test_patch_under_preconditions(bench: Bench) -> None:
    """A patch, of a status too, takes for the UID and version given, and conflicts for others."""
    made = await make_pod(bench)
    patch = {"metadata": {"annotations": {"a": "1"}}}
    first = await bench.cluster.patch(PODS, target(made, uid=True, version=True), patch)
    patch = {"metadata": {"annotations": {"a": "2"}}}
    with pytest.raises(Conflict):
        await bench.cluster.patch(PODS, target(made, version=True), patch)
    other = Target(bench.namespace, "p", uid="00000000-0000-4000-8000-000000000000")
    with pytest.raises(Conflict):
        await bench.cluster.patch(PODS, other, patch)
    with pytest.raises(Conflict):
        await bench.cluster.patch(PODS, other, {"status": {"phase": "Running"}}, "status")
    found = await bench.cluster.get(PODS, target(made))
    assert version_of(found) == version_of(first)


async def test_patch_of_nothing(bench: Bench) -> None:
    """A patch of what does not exist makes nothing."""
    with pytest.raises(NotFound):
        await bench.cluster.patch(PODS, Target(bench.namespace, "nobody"), {"metadata": {}})


async def test_status_has_its_own_door(bench: Bench) -> None:
    """A patch of a pod leaves its status, and one of its status leaves the rest of the pod."""
    made = await make_pod(bench)
    running = {"status": {"phase": "Running"}}
    plain = await bench.cluster.patch(PODS, target(made), running)
    assert plain["status"]["phase"] == "Pending"
    both = running | {"spec": {"schedulerName": "other"}}
    patched = await bench.cluster.patch(PODS, target(made), both, "status")
    assert patched["status"]["phase"] == "Running"
    assert patched["spec"]["schedulerName"] == "topology-aware-scheduler"


async def test_status_of_nodes(bench: Bench) -> None:
    """What a node offers is written through its status alone."""
    name = f"{bench.namespace}-n"
    made = await bench.cluster.create(NODES, "", {"metadata": {"name": name}})
    offer = {"status": {"allocatable": {"nvidia.com/gpu": "8"}}}
    plain = await bench.cluster.patch(NODES, target(made), offer)
    assert "allocatable" not in plain.get("status", {})
    patched = await bench.cluster.patch(NODES, target(made), offer, "status")
    assert patched["status"]["allocatable"] == {"nvidia.com/gpu": "8"}
    await bench.cluster.delete(NODES, target(made))


async def test_pods_stay_what_they_are(bench: Bench) -> None:
    """Neither the node nor the resources of a pod change by a patch."""
    made = await make_pod(bench)
    for spec in ({"nodeName": "n1"}, {"schedulerName": "other"}, {"hostNetwork": True}):
        with pytest.raises(Refused) as caught:
            await bench.cluster.patch(PODS, target(made), {"spec": spec})
        assert caught.value.status == 422


async def test_gates_go_and_do_not_come(bench: Bench) -> None:
    """Scheduling gates can be taken from a pod but not added."""
    made = await make_pod(bench, schedulingGates=[{"name": "x/y"}])
    conditions = {c["type"]: c.get("reason") for c in made["status"]["conditions"]}
    assert conditions["PodScheduled"] == "SchedulingGated"
    patched = await bench.cluster.patch(PODS, target(made), {"spec": {"schedulingGates": None}})
    assert "schedulingGates" not in patched["spec"]
    gates = {"spec": {"schedulingGates": [{"name": "x/y"}]}}
    with pytest.raises(Refused):
        await bench.cluster.patch(PODS, target(made), gates)


async def test_identity_is_not_to_be_changed(bench: Bench) -> None:
    """UID, creation time and deletion time survive a replacement that leaves them out."""
    lease = await _lease(bench)
    body = {"metadata": {"name": "page"}, "spec": {"holderIdentity": "b"}}
    replaced = await bench.cluster.replace(LEASES, target(lease, version=True), body)
    for key in ("uid", "creationTimestamp"):
        assert replaced["metadata"][key] == lease["metadata"][key]
    assert "annotations" not in replaced["metadata"]
    assert replaced["spec"] == {"holderIdentity": "b"}


@pytest.mark.parametrize(("size", "fits"), [(256 * 1024, True), (256 * 1024 + 1, False)])
async def test_annotations_end_at_256_kib(bench: Bench, size: int, fits: bool) -> None:
    """All keys and values of an object's annotations fit in 256 KiB, to the byte."""
    annotations = {"plan": "x" * (size - len("plan"))}
    if fits:
        made = await _lease(bench, annotations)
        assert made["metadata"]["annotations"] == annotations
        return
    with pytest.raises(Refused) as caught:
        await _lease(bench, annotations)
    assert caught.value.status == 422


async def test_secrets_are_swapped_like_leases(bench: Bench) -> None:
    """Their content is replaced whole, under the version that was read, and only then."""
    body = {"metadata": {"name": "s"}, "type": "Opaque", "data": {"a": "MQ==", "b": "Mg=="}}
    made = await bench.cluster.create(SECRETS, bench.namespace, body)
    made["data"] = {"a": "Mw=="}
    second = await bench.cluster.replace(SECRETS, target(made, uid=True, version=True), made)
    assert second["data"] == {"a": "Mw=="}
    with pytest.raises(Conflict):
        await bench.cluster.replace(SECRETS, target(made, version=True), made)


@pytest.mark.parametrize(
    "kind", [MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS], ids=lambda kind: str(kind.name)
)
async def test_webhook_configurations_are_swapped_like_leases(bench: Bench, kind: Kind) -> None:
    """A caBundle takes under the version that was read, and a second one under it conflicts."""
    hook = {
        "name": "a.b.example",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Ignore",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [
            {
                "apiGroups": ["a.example"],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["x"],
            }
        ],
    }
    body = {"metadata": {"name": f"hook-{bench.namespace}"}, "webhooks": [hook]}
    made = await bench.cluster.create(kind, "", body)
    made["webhooks"][0]["clientConfig"]["caBundle"] = ""
    made["metadata"]["annotations"] = {"gpu.scheduling/ca-generation": "1"}
    second = await bench.cluster.replace(kind, target(made, uid=True, version=True), made)
    assert second["metadata"]["annotations"] == {"gpu.scheduling/ca-generation": "1"}
    with pytest.raises(Conflict):
        await bench.cluster.replace(kind, target(made, version=True), made)
    await bench.cluster.delete(kind, target(made))
