"""The status that is published: conditions, their times, and what is left out."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.agent.grant_check import Mismatch
from fourleaf.agent.inventory import MOST_BYTES, inventory
from fourleaf.agent.inventory_consistency import examined
from fourleaf.agent.node import NodeIdentity
from fourleaf.agent.readings import Reading
from fourleaf.model.crds.api import Condition
from fourleaf.model.crds.node_status import NodeDevices, Process
from tests.agent.made import failure, gpus, reading

NODE = NodeIdentity("n1", "uid-1", "boot-1")
NOON, LATER = 1_767_268_800.0, 1_767_269_100.0


def status(
    what: Reading,
    found: list[Mismatch] | None = None,
    before: NodeDevices | None = None,
    now: float = NOON,
) -> NodeDevices:
    """The status of node n1."""
    return inventory(NODE, examined(what), found, before, now)


def condition(devices: NodeDevices, type_: str) -> Condition:
    """One of its conditions."""
    (found,) = [one for one in devices.conditions if one.type == type_]
    return found


def mismatch(gpu: int) -> Mismatch:
    """A pod of nobody on a device."""
    return Mismatch(gpu, "u-x", None)


def test_a_sound_node() -> None:
    """Who it is, what it has, and that all is well."""
    made = status(reading(), [])
    assert (made.node_uid, made.boot_id, made.format) == ("uid-1", "boot-1", 1)
    assert (made.source, made.driver_version, len(made.gpus)) == ("nvml", "580.65", 2)
    ready, match = condition(made, "Ready"), condition(made, "DevicesMatch")
    assert (ready.status, ready.reason, ready.message) == ("True", "InventoryRead", "2 devices")
    assert (match.status, match.reason) == ("True", "AsGranted")
    assert ready.last_transition_time == "2026-01-01T12:00:00Z"


def test_a_device_that_is_not_healthy_leaves_the_node_ready() -> None:
    """It is counted in the message."""
    ill = (gpus(2)[0], gpus(2, healthy=False)[1])
    ready = condition(status(replace(reading(), gpus=ill)), "Ready")
    assert (ready.status, ready.message) == ("True", "2 devices, 1 not healthy")


def test_faults_are_all_told() -> None:
    """The first gives the reason."""
    bad = replace(failure(), gpus=(gpus(1)[0], gpus(1)[0].model_copy(update={"index": 1})))
    ready = condition(status(bad), "Ready")
    assert (ready.status, ready.reason) == ("False", "DriverUnavailable")
    assert ready.message.startswith("the driver is gone. two devices have the UUID GPU-0")


def test_mismatches_are_told_up_to_five() -> None:
    """Seven mismatches, two of them as a number; and nothing known is Unknown."""
    match = condition(status(reading(), [mismatch(i) for i in range(7)]), "DevicesMatch")
    assert (match.status, match.reason) == ("False", "NotAsGranted")
    assert match.message.count("runs on it") == 5
    assert match.message.endswith("; and 2 more")
    unknown = condition(status(reading(), None), "DevicesMatch")
    assert (unknown.status, unknown.reason) == ("Unknown", "PodsUnknown")


def test_times_change_with_the_status_alone() -> None:
    """Another message keeps the time; another status gets a new one."""
    before = status(reading(), [])
    ill = replace(reading(), gpus=gpus(2, healthy=False))
    after = status(ill, [mismatch(0)], before, LATER)
    assert condition(after, "Ready").last_transition_time == "2026-01-01T12:00:00Z"
    assert condition(after, "DevicesMatch").last_transition_time == "2026-01-01T12:05:00Z"


def test_what_is_too_large() -> None:
    """Without 4096 processes with long names there is room; links are left out only then."""
    crowd = tuple(Process(gpu=0, pid=i, pod_uid="u" * 64) for i in range(4096))
    wordy = replace(reading(count=100), gpus=gpus(300, message="x" * 1024), processes=crowd)
    made = status(wordy, [])
    assert made.processes == []
    assert len(made.links) == 4950
    ready = condition(made, "Ready")
    assert (ready.status, ready.reason) == ("False", "TooLarge")
    assert "processes are left out" in ready.message
    assert len(made.model_dump_json(by_alias=True)) <= MOST_BYTES
    huge = status(replace(wordy, gpus=gpus(900, message="x" * 1024)), [])
    assert huge.links == []
    assert "links are left out" in condition(huge, "Ready").message
