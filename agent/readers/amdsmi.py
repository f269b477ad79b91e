"""AMD's devices, through the Python module of AMD SMI."""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from fourleaf.agent import pci
from fourleaf.agent.cgroups import Pods
from fourleaf.agent.node import placeholder
from fourleaf.agent.readings import Fault, Reading
from fourleaf.k8s_bridge.runtime.api_text import clipped
from fourleaf.model.crds.node_status import Gpu, Link, NvlinkFabric, Process

SOURCE = "amdsmi"
MIB = 2**20
_MOST_NAME = 253
_MOST_UUID = 128
_ADVICE = "Check that the driver is loaded; install fourleaf[amd] and the ROCm library"


class Unloadable(Exception):
    """The module, or the ROCm library that it needs, is not there."""


@dataclass(frozen=True, slots=True)
class _Device:
    handle: Any
    address: str
    hip: int | None


def load() -> Any:
    """The module `amdsmi`. Raises `Unloadable`."""
    try:
        # It prints what it misses to where this command prints its answer.
        with contextlib.redirect_stdout(io.StringIO()):
            return importlib.import_module("amdsmi")
    except (ImportError, OSError, KeyError, AttributeError) as error:
        raise Unloadable(f"amdsmi cannot be loaded: {error}") from error


class AmdsmiReader:
    """Reads through `library`, the module `amdsmi` unless another is given.

    Devices have the numbers that HIP gives them, where all have one, else they are in the order
    of their PCI addresses. `pods` and `sysfs` are as for NVML.
    """

    def __init__(
        self, library: Any = None, pods: Pods | None = None, sysfs: Path = pci.DEVICES
    ) -> None:
        self._library = library
        self._pods = pods or Pods()
        self._sysfs = sysfs
        self._open = False

    def read(self) -> Reading:
        """Read all devices; see `DeviceReader.read`."""
        try:
            handles = self._handles()
        except self._errors(Unloadable) as error:
            self.close()
            message = f"AMD SMI does not answer: {_line(error)}. {_ADVICE}"
            return Reading(SOURCE, fault=Fault("DriverUnavailable", clipped(message)))
        found = self._numbered(handles)
        drivers = (self._ask("amdsmi_get_gpu_driver_info", one.handle) for one in found.values())
        versions = (_named((one or {}).get("driver_version")) for one in drivers)
        return Reading(
            SOURCE,
            next(filter(None, versions), ""),
            tuple(self._gpu(index, device) for index, device in found.items()),
            tuple(self._links(found)),
            tuple(p for index, device in found.items() for p in self._processes(index, device)),
        )

    def close(self) -> None:
        """Let go of the driver; the next reading loads it anew."""
        if self._open:
            self._ask("amdsmi_shut_down")
            self._open = False

    def _errors(self, *more: type[Exception]) -> tuple[type[Exception], ...]:
        return more if self._library is None else (*more, self._library.AmdSmiException)

    def _ask(self, function: str, *arguments: Any) -> Any:
        """What `function` gives, None where the device or the driver does not support it."""
        try:
            return getattr(self._library, function)(*arguments)
        except self._errors(ValueError, AttributeError):
            return None

    def _handles(self) -> list[Any]:
        if self._library is None:
            self._library = load()
        if not self._open:
            self._library.amdsmi_init()
            self._open = True
        return list(self._library.amdsmi_get_processor_handles())

    def _numbered(self, handles: list[Any]) -> dict[int, _Device]:
        devices = []
        for handle in handles:
            where = pci.address(str(self._ask("amdsmi_get_gpu_device_bdf", handle) or ""))
            hip = (self._ask("amdsmi_get_gpu_enumeration_info", handle) or {}).get("hip_id")
            devices.append(_Device(handle, where, hip if isinstance(hip, int) else None))
        numbered = {device.hip: device for device in devices if device.hip is not None}
        if len(numbered) == len(devices):
            return dict(sorted(numbered.items()))
        return dict(enumerate(sorted(devices, key=lambda device: device.address)))

    def _gpu(self, index: int, device: _Device) -> Gpu:
        library, handle = self._library, device.handle
        asic = self._ask("amdsmi_get_gpu_asic_info", handle) or {}
        memory = self._ask("amdsmi_get_gpu_memory_total", handle, library.AmdSmiMemoryType.VRAM)
        uuid = self._ask("amdsmi_get_gpu_device_uuid", handle)
        wrong = self._complaints(handle)
        if not uuid:
            wrong.insert(0, "it does not answer")
        return Gpu(
            index=index,
            uuid=clipped(str(uuid or placeholder(index)), _MOST_UUID),
            product=clipped(str(_named(asic.get("market_name"))), _MOST_NAME),
            memory_mib=int(memory or 0) // MIB,
            pci_bus_id=device.address,
            numa_node=pci.numa_node(device.address, self._sysfs) if device.address else None,
            healthy=not wrong,
            message=clipped("; ".join(wrong)),
            fabric=self._island(handle),
        )

    def _complaints(self, handle: Any) -> list[str]:
        wrong = []
        counts = self._ask("amdsmi_get_gpu_total_ecc_count", handle) or {}
        if counts.get("uncorrectable_count"):
            wrong.append("its memory had errors that could not be corrected; reset the device")
        pages = self._ask("amdsmi_get_gpu_bad_page_info", handle)
        pending = self._library.AmdSmiMemoryPageStatus.PENDING
        if isinstance(pages, list) and any(int(p["status"]) == int(pending) for p in pages):
            wrong.append("a page of its memory is to be retired; reset the device")
        return wrong

    def _island(self, handle: Any) -> NvlinkFabric | None:
        """The XGMI hive, whose devices reach each other without PCI."""
        hive = (self._ask("amdsmi_get_xgmi_info", handle) or {}).get("xgmi_hive_id")
        return NvlinkFabric(cluster_uuid=f"{hive:016x}", state="XGMI") if hive else None

    def _links(self, found: Mapping[int, _Device]) -> list[Link]:
        """Direct XGMI links; of the bandwidths in both directions the lower one counts.

        The driver gives megabytes per second in one direction, as its function
        `amdgpu_amdkfd_get_xgmi_bandwidth_mbytes` works them out.
        """
        links = []
        for a, b in combinations(sorted(found), 2):
            one, other = found[a].handle, found[b].handle
            speed = min(self._speed(one, other), self._speed(other, one))
            if speed > 0:
                links.append(Link(a=a, b=b, kind="XGMI", bandwidth_gbps=speed / 1000))
        return links

    def _speed(self, source: Any, target: Any) -> float:
        joined = self._ask("amdsmi_topo_get_link_type", source, target) or {}
        direct = joined.get("hops") == 1
        if not direct or joined.get("type") != self._library.AmdSmiLinkType.AMDSMI_LINK_TYPE_XGMI:
            return 0.0
        call = "amdsmi_get_minmax_bandwidth_between_processors"
        return float((self._ask(call, source, target) or {}).get("max_bandwidth") or 0.0)

    def _processes(self, index: int, device: _Device) -> list[Process]:
        listed = self._ask("amdsmi_get_gpu_process_list", device.handle) or ()
        found = {
            int(one["pid"]): Process(
                gpu=index,
                pid=int(one["pid"]),
                memory_mib=int(one.get("mem") or 0) // MIB,
                pod_uid=self._pods.uid_of(int(one["pid"])),
            )
            for one in listed
        }
        return [found[pid] for pid in sorted(found)]


def _named(text: Any) -> str:
    """`text`, "" where the library has none and says N/A."""
    return "" if text in (None, "N/A") else str(text)


def _line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")
