"""The AMD SMI reader, on a stand-in with the documented answers."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

import fourleaf.agent.readers.amdsmi
from fourleaf.agent.cgroups import Pods
from fourleaf.agent.readers.amdsmi import AmdsmiReader, Unloadable, load

POD = "0f2c6a52-7bd1-4d2e-9a43-111111111111"


@dataclass
class FakeGpu:
    """A device, which is its own handle; `links` are bandwidths in MB/s by address."""

    uuid: str
    bdf: str
    hip: int | str = "N/A"
    links: dict[str, int] = field(default_factory=dict)
    hops: int = 1
    hive: int = 0
    uncorrectable: int = 0
    pages: list[int] = field(default_factory=list)
    processes: list[dict[str, Any]] = field(default_factory=list)
    dead: bool = False


class FakeAmdsmi:
    """The module `amdsmi`, as its documentation has it, for a machine with `gpus`."""

    class AmdSmiException(Exception):
        """What the module raises."""

    class AmdSmiMemoryType(IntEnum):
        """Kinds of memory."""

        VRAM = 0

    class AmdSmiMemoryPageStatus(IntEnum):
        """What becomes of a page."""

        RESERVED = 0
        PENDING = 1

    class AmdSmiLinkType(IntEnum):
        """Kinds of links."""

        AMDSMI_LINK_TYPE_PCIE = 1
        AMDSMI_LINK_TYPE_XGMI = 2

    def __init__(self, *gpus: FakeGpu) -> None:
        self.gpus = list(gpus)
        self.opened = 0
        self.there = True

    def _alive(self, *handles: FakeGpu) -> None:
        if any(handle.dead for handle in handles):
            raise self.AmdSmiException("AMDSMI_STATUS_BUSY")

    def amdsmi_init(self) -> None:
        """Open the library."""
        if not self.there:
            raise self.AmdSmiException("AMDSMI_STATUS_DRIVER_NOT_LOADED")
        self.opened += 1

    def amdsmi_shut_down(self) -> None:
        """Close it."""
        self.opened -= 1

    def amdsmi_get_processor_handles(self) -> list[FakeGpu]:
        """All devices."""
        return self.gpus

    def amdsmi_get_gpu_device_bdf(self, processor_handle: FakeGpu) -> str:
        """The address."""
        return processor_handle.bdf

    def amdsmi_get_gpu_device_uuid(self, processor_handle: FakeGpu) -> str:
        """The UUID."""
        self._alive(processor_handle)
        return processor_handle.uuid

    def amdsmi_get_gpu_enumeration_info(self, processor_handle: FakeGpu) -> dict[str, Any]:
        """What runtimes call the device."""
        return {"drm_card": 1, "hip_id": processor_handle.hip}

    def amdsmi_get_gpu_asic_info(self, processor_handle: FakeGpu) -> dict[str, Any]:
        """The product."""
        self._alive(processor_handle)
        return {"market_name": "AMD Instinct MI300X"}

    def amdsmi_get_gpu_memory_total(
        self, processor_handle: FakeGpu, mem_type: AmdSmiMemoryType
    ) -> int:
        """Bytes of memory."""
        assert mem_type is self.AmdSmiMemoryType.VRAM
        return 192 * 2**30

    def amdsmi_get_gpu_driver_info(self, processor_handle: FakeGpu) -> dict[str, Any]:
        """The driver."""
        return {"driver_name": "amdgpu", "driver_version": "6.12.12"}

    def amdsmi_get_gpu_total_ecc_count(self, processor_handle: FakeGpu) -> dict[str, int]:
        """Errors."""
        return {"correctable_count": 5, "uncorrectable_count": processor_handle.uncorrectable}

    def amdsmi_get_gpu_bad_page_info(self, processor_handle: FakeGpu) -> list[dict[str, Any]]:
        """Pages that are no longer used."""
        return [{"value": i, "status": s} for i, s in enumerate(processor_handle.pages)]

    def amdsmi_get_xgmi_info(self, processor_handle: FakeGpu) -> dict[str, int]:
        """The hive."""
        return {"xgmi_lanes": 16, "xgmi_hive_id": processor_handle.hive, "index": 0}

    def amdsmi_topo_get_link_type(
        self, processor_handle_src: FakeGpu, processor_handle_dst: FakeGpu
    ) -> dict[str, int]:
        """What joins two devices."""
        self._alive(processor_handle_src, processor_handle_dst)
        joined = processor_handle_dst.bdf in processor_handle_src.links
        return {"hops": processor_handle_src.hops, "type": 2 if joined else 1}

    def amdsmi_get_minmax_bandwidth_between_processors(
        self, processor_handle_src: FakeGpu, processor_handle_dst: FakeGpu
    ) -> dict[str, int]:
        """How fast they are joined."""
        speed = processor_handle_src.links[processor_handle_dst.bdf]
        return {"min_bandwidth": 50_000, "max_bandwidth": speed}

    def amdsmi_get_gpu_process_list(self, processor_handle: FakeGpu) -> list[dict[str, Any]]:
        """What runs."""
        return processor_handle.processes


def two(**more: Any) -> tuple[FakeGpu, FakeGpu]:
    """Two devices of an MI300X board, one link of 64 GB/s between them."""
    a, b = "0000:05:00.0", "0000:26:00.0"
    first = FakeGpu("ab-1", a, links={b: 64_000}, hive=0xC0FFEE, **more)
    return first, FakeGpu("ab-2", b, links={a: 64_000}, hive=0xC0FFEE)


def reader(library: FakeAmdsmi, folder: Path = Path("/nowhere")) -> AmdsmiReader:
    """A reader; `folder` stands for /proc and the kernel's list of PCI devices."""
    return AmdsmiReader(library, Pods(folder), folder)


def test_a_machine_with_everything(tmp_path: Path) -> None:
    """Devices, their link, their hive and a process of a pod."""
    (tmp_path / "70").mkdir()
    (tmp_path / "70" / "cgroup").write_text(f"0::/kubepods/pod{POD}/x\n")
    first, second = two(processes=[{"name": "train", "pid": 70, "mem": 2**30}])
    found = reader(FakeAmdsmi(first, second), tmp_path).read()
    assert (found.source, found.driver_version, found.fault) == ("amdsmi", "6.12.12", None)
    (gpu, _) = found.gpus
    assert (gpu.index, gpu.uuid, gpu.product) == (0, "ab-1", "AMD Instinct MI300X")
    assert (gpu.memory_mib, gpu.pci_bus_id, gpu.healthy) == (196608, "0000:05:00.0", True)
    assert gpu.fabric is not None
    assert gpu.fabric.cluster_uuid == "0000000000c0ffee"
    (link,) = found.links
    assert (link.a, link.b, link.kind, link.bandwidth_gbps) == (0, 1, "XGMI", 64.0)
    (process,) = found.processes
    assert (process.gpu, process.pid, process.memory_mib, process.pod_uid) == (0, 70, 1024, POD)


def test_numbers_are_those_of_hip() -> None:
    """HIP's numbers count where all have one, else the order of the addresses."""
    first, second = two()
    first.hip, second.hip = 1, 0
    assert [gpu.uuid for gpu in reader(FakeAmdsmi(first, second)).read().gpus] == ["ab-2", "ab-1"]
    first.hip = "N/A"
    assert [gpu.uuid for gpu in reader(FakeAmdsmi(second, first)).read().gpus] == ["ab-1", "ab-2"]


def test_what_is_no_direct_link() -> None:
    """Two hops, or PCI, or a direction without bandwidth."""
    changes: list[dict[str, Any]] = [{"hops": 2}, {"links": {}}, {"links": {"0000:26:00.0": 0}}]
    for change in changes:
        first, second = two()
        for name, value in change.items():
            setattr(first, name, value)
        assert reader(FakeAmdsmi(first, second)).read().links == ()


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ({"uncorrectable": 1}, "its memory had errors that could not be corrected"),
        ({"pages": [0, 1]}, "a page of its memory is to be retired"),
        ({"dead": True}, "it does not answer"),
    ],
    ids=str,
)
def test_what_takes_a_device_out(state: dict[str, Any], text: str) -> None:
    """The device is not healthy and says why; the one beside it is."""
    first, second = reader(FakeAmdsmi(*two(**state))).read().gpus
    assert not first.healthy
    assert first.message.startswith(text)
    assert second.healthy


def test_pages_that_were_retired_do_not() -> None:
    """What is over is over."""
    first, _ = reader(FakeAmdsmi(*two(pages=[0, 0]))).read().gpus
    assert first.healthy


def test_a_driver_that_is_not_there() -> None:
    """A fault says why; when the driver is back, so are the devices."""
    library = FakeAmdsmi(*two())
    library.there = False
    it = reader(library)
    found = it.read()
    assert found.fault is not None
    assert found.fault.reason == "DriverUnavailable"
    assert "AMDSMI_STATUS_DRIVER_NOT_LOADED" in found.fault.message
    library.there = True
    assert len(it.read().gpus) == 2
    it.close()
    assert library.opened == 0


def test_a_library_without_the_newer_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a library does not have yet is left out."""
    for name in ("amdsmi_get_gpu_enumeration_info", "amdsmi_get_xgmi_info"):
        monkeypatch.delattr(FakeAmdsmi, name)
    first, _ = reader(FakeAmdsmi(*two())).read().gpus
    assert (first.uuid, first.fabric) == ("ab-1", None)


def test_a_machine_without_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without ROCm the module prints to standard output and raises KeyError: neither gets out."""
    text = "print('Unable to find libamd_smi.so')\nraise KeyError('libamd_smi.so')\n"
    (tmp_path / "amdsmi.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(Unloadable, match=r"libamd_smi\.so"):
        load()
    found = AmdsmiReader().read()
    assert found.fault is not None
    assert "libamd_smi.so" in found.fault.message
    assert capsys.readouterr().out == ""


def test_the_stand_in_is_like_the_module() -> None:
    """The functions that the reader calls take the same arguments in the installed module."""
    named = set(re.findall(r'"(amdsmi_\w+)"', inspect.getsource(fourleaf.agent.readers.amdsmi)))
    named |= {"amdsmi_init", "amdsmi_get_processor_handles"}
    assert named <= set(dir(FakeAmdsmi))
    spec = importlib.util.find_spec("amdsmi")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the extra `amd` is not installed")
    source = Path(spec.submodule_search_locations[0]) / "amdsmi_interface.py"
    real = {
        node.name: [argument.arg for argument in node.args.args]
        for node in ast.parse(source.read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    for name in sorted(named - {"amdsmi_init"}):
        ours = list(inspect.signature(getattr(FakeAmdsmi, name)).parameters)[1:]
        assert ours == real[name], name
