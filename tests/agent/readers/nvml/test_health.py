"""Health: what takes a device out, and what does not."""

from __future__ import annotations

from typing import Any

import pynvml  # type: ignore[import-untyped]
import pytest

from tests.agent.readers.nvml.fake import FakeGpu, FakeNvml
from tests.agent.readers.nvml.test_reader import FIRST, SECOND, read, reader

XID = pynvml.nvmlEventTypeXidCriticalError
CLUSTER = bytes(range(16))
DONE = pynvml.NVML_GPU_FABRIC_STATE_COMPLETED


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ({"rows": (3, 0, 1, 0)}, "a row of its memory is to be remapped; reset the device"),
        (
            {"rows": (0, 1, 0, 1)},
            "a row of its memory could not be remapped; the device has to be replaced",
        ),
        ({"retiring": 1}, "a page of its memory is to be retired; reset the device"),
        (
            {"uncorrected": 2},
            "its memory had errors that could not be corrected; reset the device",
        ),
        ({"recovery": 2}, "the driver asks for a reboot of the node"),
        ({"recovery": 7}, "the driver asks for recovery action 7"),
        ({"mig": 1}, "MIG is on, and its instances are not given out; turn MIG off"),
        ({"fabric": (CLUSTER, 0, 2, 0)}, "it has not joined its NVLink fabric (InProgress)"),
        (
            {"fabric": (CLUSTER, 0, DONE, 999)},
            "it could not join its NVLink fabric (NVML error 999)",
        ),
    ],
    ids=str,
)
def test_what_takes_a_device_out(state: dict[str, Any], text: str) -> None:
    """The device is not healthy and says why; the one beside it is."""
    nvml = FakeNvml(FakeGpu("GPU-a", FIRST, **state), FakeGpu("GPU-b", SECOND))
    first, second = read(nvml).gpus
    assert (first.healthy, first.message) == (False, text)
    assert (second.healthy, second.message) == (True, "")


@pytest.mark.parametrize(
    "state",
    [
        {"rows": (5, 1, 0, 0)},
        {"retiring": 0},
        {"uncorrected": 0},
        {"recovery": 0},
        {"mig": 0},
        {"fabric": (bytes(16), 0, DONE, 0)},
        {"fabric": (bytes(16), 0, pynvml.NVML_GPU_FABRIC_STATE_NOT_SUPPORTED, 0)},
    ],
    ids=str,
)
def test_what_does_not(state: dict[str, Any]) -> None:
    """Rows that were remapped already, and books that are clean."""
    (gpu,) = read(FakeNvml(FakeGpu("GPU-a", FIRST, **state))).gpus
    assert (gpu.healthy, gpu.message) == (True, "")


def test_all_that_is_wrong_is_told() -> None:
    """Two complaints stand in one message."""
    (gpu,) = read(FakeNvml(FakeGpu("GPU-a", FIRST, retiring=1, mig=1))).gpus
    assert gpu.message == (
        "a page of its memory is to be retired; reset the device; "
        "MIG is on, and its instances are not given out; turn MIG off"
    )


def test_a_fabric_of_many_nodes() -> None:
    """Cluster, clique and state are told; a fabric within one node has no cluster."""
    (gpu,) = read(FakeNvml(FakeGpu("GPU-a", FIRST, fabric=(CLUSTER, 7, DONE, 0)))).gpus
    assert gpu.fabric is not None
    assert gpu.fabric.cluster_uuid == "00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert (gpu.fabric.clique_id, gpu.fabric.state) == (7, "Completed")
    (alone,) = read(FakeNvml(FakeGpu("GPU-a", FIRST, fabric=(bytes(16), 0, DONE, 0)))).gpus
    assert alone.fabric is not None
    assert alone.fabric.cluster_uuid == ""


def test_an_older_driver_tells_of_fabrics_in_another_way() -> None:
    """The call without versions is asked where the other one is missing."""
    nvml = FakeNvml(FakeGpu("GPU-a", FIRST, fabric=(CLUSTER, 7, DONE, 0)))
    nvml.broken["nvmlDeviceGetGpuFabricInfoV"] = pynvml.NVML_ERROR_FUNCTION_NOT_FOUND
    (gpu,) = read(nvml).gpus
    assert gpu.fabric is not None
    assert gpu.fabric.clique_id == 7


def test_xids_stay() -> None:
    """Two XIDs of device a: it is out, for as long as the driver is loaded; b is not."""
    a, b = FakeGpu("GPU-a", FIRST), FakeGpu("GPU-b", SECOND)
    nvml = FakeNvml(a, b)
    it = reader(nvml)
    assert all(gpu.healthy for gpu in it.read().gpus)
    nvml.events += [(a, XID, 79), (a, XID, 48), (a, XID, 79)]
    for _ in range(2):
        first, second = it.read().gpus
        assert first.message == "the driver has reported XID 48; the driver has reported XID 79"
        assert (first.healthy, second.healthy) == (False, True)
    nvml.broken["nvmlDeviceGetCount"] = pynvml.NVML_ERROR_UNINITIALIZED
    assert it.read().fault is not None
    nvml.broken.clear()
    assert all(gpu.healthy for gpu in it.read().gpus)


@pytest.mark.parametrize("xid", [13, 31, 43, 45, 68, 109])
def test_xids_of_applications(xid: int) -> None:
    """A program that faults does not take its device out; nor do other kinds of events."""
    gpu = FakeGpu("GPU-a", FIRST)
    nvml = FakeNvml(gpu)
    it = reader(nvml)
    it.read()
    nvml.events += [(gpu, XID, xid), (gpu, pynvml.nvmlEventTypePState, 79)]
    assert it.read().gpus[0].healthy


def test_an_xid_of_nobody_in_particular() -> None:
    """Where the driver does not say which device it was, all are out."""
    a, b = FakeGpu("GPU-a", FIRST), FakeGpu("GPU-b", SECOND)
    nvml = FakeNvml(a, b)
    it = reader(nvml)
    it.read()
    ghost = FakeGpu("GPU-a", FIRST, errors={"nvmlDeviceGetUUID": 999})
    nvml.events.append((ghost, XID, 79))
    assert [gpu.healthy for gpu in it.read().gpus] == [False, False]


def test_processes_of_both_kinds_once() -> None:
    """A process under MPS is told twice by the driver and once by the reader; sizes in MiB."""
    gpu = FakeGpu("GPU-a", FIRST, processes=[(9, 3 * 2**20), (4, None)], mps=[(9, 3 * 2**20)])
    found = read(FakeNvml(gpu)).processes
    assert [(one.pid, one.memory_mib) for one in found] == [(4, 0), (9, 3)]
