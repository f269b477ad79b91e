"""What may happen to claims, volumes and what drivers and nodes say of them in a small cluster."""

from __future__ import annotations

from typing import Any

from tests.model.readers.live.live_claims import NODES, World
from tests.model.readers.made import Body, owner

SPACES = ("ml", "ops")
CLAIMS = ("c", "d")
DRIVER = "disk.example.org"
API = "storage.k8s.io/v1"


def use(world: World, body: Body) -> None:
    """Let a pod use a claim or two, perhaps none that there is yet."""
    some = world.pick((["c"], ["d"], ["c", "d"]))
    body["spec"]["volumes"] = [
        {"name": one, "persistentVolumeClaim": {"claimName": one}} for one in some
    ]


def a_claim(world: World) -> None:
    """A PersistentVolumeClaim comes, or is another."""
    pick = world.pick
    spec = {
        "volumeName": pick(("pv", "pv-2", "", "", 7)),
        "storageClassName": pick(("fast", "fast", None)),
        "resources": {"requests": {"storage": pick(("1Gi", "2Gi"))}},
    }
    body = owner("PersistentVolumeClaim", "v1", pick(CLAIMS), **spec)
    body["metadata"]["namespace"] = pick(SPACES)
    body["status"] = {"phase": pick(("Bound", "Bound", "Pending"))}
    world.put("", "PersistentVolumeClaim", body)


def a_volume(world: World) -> None:
    """A PersistentVolume comes, or is another."""
    pick = world.pick
    terms = [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]
    required = pick(({"nodeSelectorTerms": terms}, {"nodeSelectorTerms": []}, None, None))
    source = pick(
        (
            {"csi": {"driver": DRIVER, "volumeHandle": pick(("a", "b"))}},
            {"csi": {"driver": DRIVER}},
            {"awsElasticBlockStore": {"volumeID": "v"}},
            {},
        )
    )
    name, affinity = pick(("pv", "pv-2")), {"required": required}
    _put(world, "PersistentVolume", "v1", name, spec={**source, "nodeAffinity": affinity})


def a_class(world: World) -> None:
    """A StorageClass comes, or is another."""
    pick = world.pick
    mode = pick(("Immediate", "WaitForFirstConsumer", "WaitForFirstConsumer"))
    provisioner = pick((DRIVER, DRIVER, "other"))
    fields = {"volumeBindingMode": mode, "provisioner": provisioner}
    _put(world, "StorageClass", API, "fast", **fields)


def a_driver(world: World) -> None:
    """A CSIDriver comes, or is another."""
    says = world.pick(({"storageCapacity": True}, {"storageCapacity": True}, {}, "none"))
    _put(world, "CSIDriver", API, DRIVER, spec=says)


def a_capacity(world: World) -> None:
    """A driver says how much room there is, in other places or less of it."""
    pick = world.pick
    zones = {"matchLabels": {"zone": pick(("a", "b"))}}
    fields = {
        "storageClassName": pick(("fast", "fast", "slow")),
        "capacity": pick(("1Gi", "3Gi", None, "x")),
        "nodeTopology": pick((zones, zones, {}, None, {"matchExpressions": [{"key": "k"}]})),
    }
    body = _put(world, "CSIStorageCapacity", API, pick(("room-1", "room-2")), send=False, **fields)
    body["metadata"]["namespace"] = pick(SPACES)
    world.put("storage.k8s.io", "CSIStorageCapacity", body)


def a_limit(world: World) -> None:
    """A node says how many volumes it can attach."""
    pick = world.pick
    driver = {"name": pick((DRIVER, DRIVER, "other")), "allocatable": {"count": pick((0, 1, 5))}}
    drivers: Any = pick(([driver], [driver], [], [{"name": DRIVER}], "none"))
    _put(world, "CSINode", API, pick(NODES), spec={"drivers": drivers})


def an_attachment(world: World) -> None:
    """A volume is attached to a node."""
    pick = world.pick
    spec = {
        "attacher": pick((DRIVER, DRIVER, "")),
        "nodeName": pick(NODES),
        "source": {"persistentVolumeName": pick(("pv", "pv-2", None))},
    }
    _put(world, "VolumeAttachment", API, pick(("va-1", "va-2")), spec=spec)


def _put(
    world: World, kind: str, version: str, name: str, send: bool = True, **fields: Any
) -> Body:
    body: Body = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **fields}
    if send:
        world.put(version.rpartition("/")[0], kind, body)
    return body


EVENTS = (
    a_claim,
    a_claim,
    a_volume,
    a_class,
    a_driver,
    a_capacity,
    a_capacity,
    a_limit,
    an_attachment,
)
