"""What a running scheduler sees of claims as they and the devices change."""

from __future__ import annotations

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.readers.live import LiveReader
from tests.model.readers.claims import (
    DRA,
    NVIDIA,
    bare,
    claim,
    claiming,
    device,
    device_class,
    gpus,
    holding,
    published,
)
from tests.model.readers.made import Body

RESOURCES = "resource.k8s.io"


def told(reader: LiveReader, *bodies: Body) -> None:
    """Tell a reader of objects."""
    for body in bodies:
        group = body["apiVersion"].rpartition("/")[0]
        reader.put(group, body["kind"], body)


def started(*bodies: Body) -> LiveReader:
    """A reader that knows a node of eight GPUs, their class, and `bodies`."""
    reader = LiveReader()
    reader.configure(SchedulerConfig.model_validate(DRA))
    told(reader, bare(), device_class(), published(*gpus()), *bodies)
    return reader


def held(reader: LiveReader) -> dict[str, tuple[int, ...]]:
    """The devices of everybody who holds some, by number."""
    return {pod.name: pod.devices for pod in reader.reading(0.0).snapshot.running}


def why(reader: LiveReader) -> str:
    """What holds the only gang, "" where nothing does."""
    (gang,) = reader.reading(0.0).snapshot.gangs
    return gang.hold.detail if gang.hold else ""


def test_numbers_follow_the_devices_that_there_are() -> None:
    """gpu-0 goes: what was 2 and 3 is 1 and 2, for a pod and for a claim alike."""
    pod = claiming("p", nodeName="n1")
    reader = started(pod, holding(claim(), "gpu-2", "gpu-3"), holding(claim("d"), "gpu-7"))
    assert held(reader) == {"p": (2, 3), "d (claim)": (7,)}
    told(reader, published(*gpus()[1:], generation=2))
    assert held(reader) == {"p": (1, 2), "d (claim)": (6,)}
    reader.remove(RESOURCES, "ResourceSlice", "", f"n1-{NVIDIA}")
    assert held(reader) == {"p": ()}


def test_a_pod_follows_its_claim() -> None:
    """It waits for the claim, then to be placed, then for a claim that is free."""
    reader = started(claiming())
    assert "names no ResourceClaim" in why(reader)
    told(reader, claim())
    assert not why(reader)
    told(reader, holding(claim(), "gpu-0"))
    assert "has devices already" in why(reader)
    told(reader, claim())
    assert not why(reader)
    reader.remove(RESOURCES, "ResourceClaim", "ml", "c")
    assert "names no ResourceClaim" in why(reader)


def test_a_pod_follows_the_class_of_its_claim() -> None:
    """A class that is not understood any more holds those who ask for its devices."""
    reader = started(claiming(), claim())
    assert not why(reader)
    told(reader, device_class(NVIDIA, "device.driver.find('gpu')"))
    assert "calls find" in why(reader)
    told(reader, device_class())
    assert not why(reader)
    reader.remove(RESOURCES, "DeviceClass", "", NVIDIA)
    assert "of which there is no DeviceClass" in why(reader)


def test_a_pod_on_its_way_counts_once() -> None:
    """Assumed with its devices, then with its claim written, then bound: always those two."""
    pod, mine = claiming("p"), claim(count=2)
    pod["metadata"]["uid"] = "uid-of-p"
    reader = started(pod, mine)
    reader.assume("uid-of-p", "n1", (4, 5))
    assert held(reader) == {"p": (4, 5)}
    told(reader, holding(mine, "gpu-4", "gpu-5"))
    assert held(reader) == {"p": (4, 5)}
    bound = claiming("p", nodeName="n1")
    bound["metadata"]["uid"] = "uid-of-p"
    told(reader, bound)
    assert held(reader) == {"p": (4, 5)}
    reader.remove("", "Pod", "ml", "p")
    assert held(reader) == {"c (claim)": (4, 5)}


def test_devices_that_a_driver_is_about_to_list_are_not_lacking() -> None:
    """Only a pool that is complete says that a device has gone."""
    reader = started()
    name = DeviceName(NVIDIA, "n1", "gpu-0")
    assert reader.lacks("n1", [name], False) == ""
    told(reader, published(*gpus()[1:], generation=2, count=2))
    assert reader.lacks("n1", [name], False) == ""
    told(reader, published(*gpus()[1:], generation=2))
    assert reader.lacks("n1", [name], False) == f"{NVIDIA}/n1/gpu-0"


def test_modes_change_what_a_node_has() -> None:
    """The same node, read by another config, has what its allocatable says, and claims nothing."""
    reader = started(holding(claim(), "gpu-0"))
    assert reader.reading(0.0).snapshot.fabric.nodes["n1"].allocatable.gpus == 8
    reader.configure(SchedulerConfig())
    snapshot = reader.reading(0.0).snapshot
    assert snapshot.fabric.nodes["n1"].allocatable.gpus == 0
    assert snapshot.running == ()


def test_a_device_that_several_nodes_reach_is_there_for_the_claim_that_has_it() -> None:
    """It stands on the list of no node, so it is given to no claim; one that is gone is gone."""
    reader = LiveReader()
    wide = published(device("nic-0"), node="net", driver="nic.example.com")
    del wide["spec"]["nodeName"]
    wide["spec"]["allNodes"] = True
    reader.put("resource.k8s.io", "ResourceSlice", wide)
    name = DeviceName("nic.example.com", "net", "nic-0")
    assert reader.lacks("n1", [name], True) == ""
    assert reader.lacks("n1", [name], False) == "nic.example.com/net/nic-0"
    reader.remove("resource.k8s.io", "ResourceSlice", "", wide["metadata"]["name"])
    assert reader.lacks("n1", [name], True) == "nic.example.com/net/nic-0"
