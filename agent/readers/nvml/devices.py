"""The devices that NVML lists, in the order in which CUDA numbers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fourleaf.agent.readers.nvml.calls import Nvml
from fourleaf.agent.readers.nvml.nvlinks import bus_id


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a device is. `uuid` and `address` are "" where it never said."""

    uuid: str = ""
    address: str = ""
    product: str = ""
    memory_mib: int = 0


@dataclass(frozen=True, slots=True)
class NvmlDevice:
    """A device: its handle, None where there is none, and why it does not answer, or ""."""

    identity: Identity
    handle: Any = None
    silent: str = ""

    @property
    def answers(self) -> bool:
        """Whether it can be asked for more."""
        return self.handle is not None and not self.silent


def devices(nvml: Nvml, count: int, known: Mapping[int, Identity]) -> list[tuple[int, NvmlDevice]]:
    """The devices by NVML's number, in the order of their PCI addresses.

    That is how CUDA numbers them where CUDA_DEVICE_ORDER is PCI_BUS_ID; of its own numbers NVML
    promises nothing. A device that does not answer is what it was `known` as; where its address
    was never known, NVML's order has to do.
    """
    found = [(number, _device(nvml, number, known.get(number))) for number in range(count)]
    if all(device.identity.address for _, device in found):
        found.sort(key=lambda one: _place(one[1].identity.address))
    return found


def _device(nvml: Nvml, number: int, known: Identity | None) -> NvmlDevice:
    known = known or Identity()
    handle = nvml.ask("nvmlDeviceGetHandleByIndex", number)
    if not handle.given:
        return NvmlDevice(known, None, handle.said)
    uuid = nvml.ask("nvmlDeviceGetUUID", handle.value)
    pci = nvml.ask("nvmlDeviceGetPciInfo", handle.value)
    memory = nvml.ask("nvmlDeviceGetMemoryInfo", handle.value)
    name = nvml.ask("nvmlDeviceGetName", handle.value)
    mute = next((one.said for one in (uuid, pci, memory) if nvml.silent(one)), "")
    identity = Identity(
        str(uuid.or_else(known.uuid)),
        bus_id(pci.value) if pci.given else known.address,
        str(name.or_else(known.product)),
        int(memory.value.total) // 2**20 if memory.given else known.memory_mib,
    )
    return NvmlDevice(identity, handle.value, mute)


def _place(address: str) -> tuple[int, ...]:
    return tuple(int(part, 16) for part in address.replace(".", ":").split(":"))
