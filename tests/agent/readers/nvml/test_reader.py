"""Readings: who is there, how they are numbered, and what happens when the driver fails."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pynvml  # type: ignore[import-untyped]
import pytest

import fourleaf.agent.readers.nvml
from fourleaf.agent.cgroups import Pods
from fourleaf.agent.node import own_boot_id, placeholder
from fourleaf.agent.readers.nvml import NvmlReader
from fourleaf.agent.readings import Reading
from tests.agent.readers.nvml.fake import LOST, SWITCH, FakeGpu, FakeNvml

FIRST = "00000000:1B:00.0"
SECOND = "00000000:43:00.0"
THIRD = "00010000:04:00.0"


def reader(nvml: FakeNvml, folder: Path = Path("/nowhere")) -> NvmlReader:
    """A reader of `nvml`; `folder` stands for /proc and the kernel's list of PCI devices."""
    return NvmlReader(nvml, Pods(folder), folder)


def read(nvml: FakeNvml) -> Reading:
    """One reading."""
    return reader(nvml).read()


def test_every_function_is_one_of_the_real_module() -> None:
    """What the reader's files name as functions, `pynvml` has as functions."""
    folder = Path(inspect.getfile(fourleaf.agent.readers.nvml)).parent
    named = {
        name
        for file in folder.glob("*.py")
        for name in re.findall(r'"(nvml[A-Z]\w+)"', file.read_text())
    }
    assert len(named) > 15
    assert [name for name in sorted(named) if not inspect.isfunction(getattr(pynvml, name))] == []


def test_a_machine_with_everything(tmp_path: Path) -> None:
    """Every field of two devices behind switches, as a person would copy it from nvidia-smi."""
    (tmp_path / "0000:1b:00.0").mkdir()
    (tmp_path / "0000:1b:00.0" / "numa_node").write_text("0\n")
    nvml = FakeNvml(
        FakeGpu("GPU-a", FIRST, links=[SWITCH] * 18, processes=[(70, 2**30)]),
        FakeGpu("GPU-b", SECOND, links=[SWITCH] * 18),
    )
    found = reader(nvml, tmp_path).read()
    assert found.fault is None
    assert (found.source, found.driver_version) == ("nvml", "580.65.06")
    first, second = found.gpus
    assert (first.index, first.uuid, first.product) == (0, "GPU-a", "NVIDIA H100 80GB HBM3")
    assert (first.memory_mib, first.pci_bus_id, first.numa_node) == (81559, "0000:1b:00.0", 0)
    assert (first.healthy, first.message) == (True, "")
    assert (second.index, second.pci_bus_id, second.numa_node) == (1, "0000:43:00.0", None)
    assert [(p.gpu, p.pid, p.memory_mib, p.pod_uid) for p in found.processes] == [(0, 70, 1024, "")]


def test_numbers_follow_pci_addresses() -> None:
    """Whatever NVML's order, the lowest address is device 0, and domains count first."""
    nvml = FakeNvml(FakeGpu("GPU-c", THIRD), FakeGpu("GPU-b", SECOND), FakeGpu("GPU-a", FIRST))
    assert [gpu.uuid for gpu in read(nvml).gpus] == ["GPU-a", "GPU-b", "GPU-c"]


def test_a_device_that_supports_nothing_more_than_its_name() -> None:
    """An old device is healthy, and what it does not tell is left out."""
    old = FakeGpu("GPU-a", FIRST)
    old.errors = {"nvmlDeviceGetMemoryInfo": pynvml.NVML_ERROR_NOT_SUPPORTED}
    (gpu,) = read(FakeNvml(old)).gpus
    assert (gpu.healthy, gpu.memory_mib, gpu.fabric, gpu.numa_node) == (True, 0, None, None)


@pytest.mark.parametrize("function", sorted(n for n in vars(FakeNvml) if n.startswith("_nvml")))
@pytest.mark.parametrize("code", [pynvml.NVML_ERROR_NOT_SUPPORTED, LOST, 999])
def test_no_failing_call_is_a_crash(function: str, code: int) -> None:
    """Whichever call fails for a device, however, the other devices are read as ever."""
    bad = FakeGpu("GPU-a", FIRST, links=[SWITCH], processes=[(1, None)])
    nvml = FakeNvml(bad, FakeGpu("GPU-b", SECOND, links=[SWITCH]))
    bad.errors = {function[1:]: code}
    found = read(nvml)
    assert found.fault is None
    assert [gpu.index for gpu in found.gpus] == [0, 1]
    assert found.gpus[1].healthy
    assert found.gpus[1].uuid == "GPU-b"


@pytest.mark.parametrize("function", sorted(n for n in vars(FakeNvml) if n.startswith("_nvml")))
def test_no_missing_function_is_a_crash(function: str) -> None:
    """A library without one of the functions gives a reading, or a fault that says why."""
    nvml = FakeNvml(FakeGpu("GPU-a", FIRST, links=[SWITCH]), FakeGpu("GPU-b", SECOND))
    nvml.broken[function[1:]] = pynvml.NVML_ERROR_FUNCTION_NOT_FOUND
    found = read(nvml)
    assert found.fault is not None or len(found.gpus) == 2


@pytest.mark.parametrize(
    "error",
    [
        pynvml.NVMLLibraryMismatchError("Unversioned function called"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "function", ["nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetName", "nvmlDeviceGetUUID"]
)
def test_errors_that_are_not_nvmls_own(function: str, error: Exception) -> None:
    """A library of another age, and names that are no text, cost no more than the answer."""
    nvml = FakeNvml(FakeGpu("GPU-a", FIRST, links=[SWITCH]), FakeGpu("GPU-b", SECOND))
    nvml.broken[function] = error
    found = read(nvml)
    assert found.fault is None
    assert [gpu.pci_bus_id for gpu in found.gpus] == ["0000:1b:00.0", "0000:43:00.0"]


def test_a_lost_device_keeps_its_place_and_name() -> None:
    """It was device 0 before; now it is device 0 that does not answer, and links to it are gone."""
    lost = FakeGpu("GPU-a", FIRST, links=[SWITCH])
    nvml = FakeNvml(lost, FakeGpu("GPU-b", SECOND, links=[SWITCH]))
    it = reader(nvml)
    assert [link.bandwidth_gbps for link in it.read().links] == [25.0]
    lost.errors = {"": LOST, "nvmlDeviceGetHandleByIndex": LOST}
    found = it.read()
    assert [(gpu.uuid, gpu.healthy) for gpu in found.gpus] == [("GPU-a", False), ("GPU-b", True)]
    assert found.gpus[0].message == "it does not answer: GPU is lost"
    assert (found.gpus[0].pci_bus_id, found.gpus[0].memory_mib) == ("0000:1b:00.0", 81559)
    assert found.links == ()
    lost.errors = {}
    assert it.read().gpus[0].healthy


@pytest.mark.parametrize(
    "function", ["nvmlDeviceGetUUID", "nvmlDeviceGetPciInfo", "nvmlDeviceGetMemoryInfo"]
)
def test_a_device_that_answers_in_part(function: str) -> None:
    """One that no longer tells who it is keeps its name, and is asked for nothing more."""
    sick = FakeGpu("GPU-a", FIRST, links=[SWITCH], processes=[(1, None)], mig=1)
    nvml = FakeNvml(sick, FakeGpu("GPU-b", SECOND, links=[SWITCH]))
    it = reader(nvml)
    it.read()
    sick.errors = {function: pynvml.NVML_ERROR_UNKNOWN}
    found = it.read()
    assert (found.gpus[0].uuid, found.gpus[0].pci_bus_id) == ("GPU-a", "0000:1b:00.0")
    assert found.gpus[0].message == "it does not answer: Unknown Error"
    assert (found.links, found.processes) == ((), ())


def test_a_device_that_was_never_known() -> None:
    """A device that has not answered even once has a place, and a name of this node alone."""
    lost = FakeGpu("GPU-a", FIRST, errors={"nvmlDeviceGetHandleByIndex": LOST})
    first, second = read(FakeNvml(FakeGpu("GPU-b", SECOND), lost)).gpus
    assert (first.uuid, first.healthy) == ("GPU-b", True)
    assert (second.uuid, second.healthy) == (placeholder(1), False)
    assert own_boot_id() in placeholder(1)


@pytest.mark.parametrize("function", ["nvmlInit", "nvmlDeviceGetCount"])
def test_a_driver_that_is_not_there(function: str) -> None:
    """A fault says why; when the driver is back, so are the devices."""
    nvml = FakeNvml(FakeGpu("GPU-a", FIRST))
    it = reader(nvml)
    nvml.broken[function] = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
    found = it.read()
    assert found.fault is not None
    assert found.fault.reason == "DriverUnavailable"
    assert "Driver Not Loaded" in found.fault.message
    assert nvml.opened == 0
    nvml.broken.clear()
    assert [gpu.uuid for gpu in it.read().gpus] == ["GPU-a"]


def test_the_real_module_without_a_driver() -> None:
    """Where there is no driver, `pynvml` itself gives a fault and no error."""
    found = NvmlReader().read()
    if found.fault is None:
        pytest.skip("this machine has a driver")
    assert found.fault.reason == "DriverUnavailable"
    assert found.gpus == ()


def test_what_is_opened_is_closed() -> None:
    """The library is opened once for many readings, and closed once."""
    nvml = FakeNvml(FakeGpu("GPU-a", FIRST))
    it = reader(nvml)
    it.read()
    it.read()
    assert nvml.opened == 1
    it.close()
    it.close()
    assert nvml.opened == 0
