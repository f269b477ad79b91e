"""Readings of NVIDIA's devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fourleaf.agent import pci
from fourleaf.agent.cgroups import Pods
from fourleaf.agent.node import placeholder
from fourleaf.agent.readers.nvml.calls import Nvml, NvmlAnswer
from fourleaf.agent.readers.nvml.devices import Identity, NvmlDevice, devices
from fourleaf.agent.readers.nvml.health import complaints
from fourleaf.agent.readers.nvml.nvlink_fabric import fabric
from fourleaf.agent.readers.nvml.nvlinks import links
from fourleaf.agent.readers.nvml.processes import processes
from fourleaf.agent.readers.nvml.xids import Xids
from fourleaf.agent.readings import Fault, Reading
from fourleaf.k8s_bridge.runtime.api_text import clipped
from fourleaf.model.crds.node_status import Gpu

SOURCE = "nvml"
_MOST_NAME = 253
_MOST_UUID = 128


class NvmlReader:
    """Reads through `library`, the module `pynvml` unless another is given.

    A device that does not answer stays in the inventory as one that is not healthy. `proc` and
    `sysfs` are where the kernel shows processes and PCI devices.
    """

    def __init__(
        self, library: Any = None, pods: Pods | None = None, sysfs: Path = pci.DEVICES
    ) -> None:
        if library is None:
            import pynvml  # type: ignore[import-untyped]

            library = pynvml
        self._nvml = Nvml(library)
        self._pods = pods or Pods()
        self._sysfs = sysfs
        self._xids = Xids(self._nvml)
        self._known: dict[int, Identity] = {}
        self._open = False

    def read(self) -> Reading:
        """Read all devices; see `DeviceReader.read`."""
        # 1. Reach the driver, anew where it was lost.
        count = self._count()
        if not count.given:
            self.close()
            advice = "Check that the driver is loaded and its library is mounted"
            message = f"NVML does not answer: {count.said}. {advice}"
            return Reading(SOURCE, fault=Fault("DriverUnavailable", message))
        # 2. Who is there, numbered as CUDA does.
        listed = devices(self._nvml, int(count.value), self._known)
        self._known = {number: device.identity for number, device in listed}
        found = [device for _, device in listed]
        # 3. What has happened to them since the last time.
        answering = {i: d.handle for i, d in enumerate(found) if d.answers}
        self._xids.listen({found[i].identity.uuid: handle for i, handle in answering.items()})
        self._xids.take()
        # 4. How they are, what joins them, and what runs on them.
        addresses = {i: device.identity.address for i, device in enumerate(found)}
        return Reading(
            SOURCE,
            str(self._nvml.ask("nvmlSystemGetDriverVersion").or_else("")),
            tuple(self._gpu(index, device) for index, device in enumerate(found)),
            tuple(links(self._nvml, answering, addresses)),
            tuple(
                process
                for index, handle in answering.items()
                for process in processes(self._nvml, handle, index, self._pods)
            ),
        )

    def close(self) -> None:
        """Let go of the driver; the next reading loads it anew."""
        if self._open:
            self._xids.close()
            self._nvml.ask("nvmlShutdown")
            self._open = False

    def _count(self) -> NvmlAnswer:
        if not self._open:
            begun = self._nvml.ask("nvmlInit")
            if not begun.given:
                return begun
            self._open = True
        return self._nvml.ask("nvmlDeviceGetCount")

    def _gpu(self, index: int, device: NvmlDevice) -> Gpu:
        identity = device.identity
        belongs, wrong = None, []
        if not device.answers:
            wrong.append(f"it does not answer: {device.silent}")
        else:
            belongs, apart = fabric(self._nvml, device.handle)
            wrong = [*filter(None, [apart]), *complaints(self._nvml, device.handle)]
        wrong += [
            f"the driver has reported XID {number}" for number in self._xids.of(identity.uuid)
        ]
        return Gpu(
            index=index,
            uuid=clipped(identity.uuid, _MOST_UUID) or placeholder(index),
            product=clipped(identity.product, _MOST_NAME),
            memory_mib=identity.memory_mib,
            pci_bus_id=identity.address,
            numa_node=pci.numa_node(identity.address, self._sysfs) if identity.address else None,
            healthy=not wrong,
            message=clipped("; ".join(wrong)),
            fabric=belongs,
        )
