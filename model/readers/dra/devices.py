"""The devices of a node by what drivers publish: which are there, and which may be given away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fourleaf.model.crds.claim import MOST_DEVICES
from fourleaf.model.devices.free import FreeDevices
from fourleaf.model.devices.layout import Device, bits, layout_of
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.quantity import BadQuantity, in_bytes
from fourleaf.model.readers.dra.classes import DeviceClasses
from fourleaf.model.readers.dra.pools import Listed
from fourleaf.model.readers.objects.manifest import EMPTY, Body
from fourleaf.model.topology import natural_key

MEMORY = "memory"
"""The capacity by which drivers tell the memory of a GPU."""
PRODUCT = "productName"
"""The attribute by which drivers tell what a GPU is."""
_NOT_HONOURED = (
    "consumesCounters",
    "bindingConditions",
    "bindingFailureConditions",
    "allowMultipleAllocations",
    "nodeAllocatableResourceMappings",
)
"""What a device says where giving it away takes more than its name. It is left alone."""


@dataclass(frozen=True, slots=True)
class Claimable:
    """The devices of a node that can be claimed, in the order of their numbers.

    `fault` says why they are not known for sure, "" where they are.
    """

    names: tuple[DeviceName, ...] = ()
    free: FreeDevices | None = None
    fault: str = ""


def claimable(pools: Iterable[Listed], classes: DeviceClasses) -> Claimable:
    """The devices that belong to any of `classes`.

    A pool that cannot be trusted makes all of them doubtful, if it has any of such a class.
    """
    found: dict[DeviceName, tuple[Body, tuple[str, ...]]] = {}
    fault = ""
    for pool in pools:
        ours = {
            name: (device, belongs)
            for name, device in pool.devices
            if (belongs := classes.of(name.driver, device))
        }
        found |= ours
        fault = fault or (pool.fault if ours else "")
    names = tuple(sorted(found, key=lambda n: (n.driver, n.pool, natural_key(n.device))))
    if len(names) > MOST_DEVICES:
        fault = fault or f"its drivers list {len(names)} devices, above {MOST_DEVICES}"
        names = names[:MOST_DEVICES]
    devices = [_device(number, name, *found[name]) for number, name in enumerate(names)]
    usable = bits(n for n, name in enumerate(names) if not unfit(found[name][0]))
    return Claimable(names, FreeDevices(layout_of(devices), usable), fault)


def _device(number: int, name: DeviceName, body: Body, classes: tuple[str, ...]) -> Device:
    product = _said(body.get("attributes"), name.driver, PRODUCT).get("string")
    try:
        memory = in_bytes(_said(body.get("capacity"), name.driver, MEMORY).get("value")) // 2**20
    except BadQuantity:
        memory = 0
    return Device(number, product if isinstance(product, str) else "", memory, classes)


def _said(held: object, driver: str, name: str) -> Mapping[str, object]:
    if not isinstance(held, dict):
        return EMPTY
    found = held.get(name, held.get(f"{driver}/{name}"))
    return found if isinstance(found, dict) else EMPTY


def unfit(device: Body) -> str:
    """Why a device is given to no pod, by the field that says so; "" where it can be."""
    taints = device.get("taints")
    listed = taints if isinstance(taints, list) else ()
    kept_off = any(
        not isinstance(one, dict) or one.get("effect") in ("NoSchedule", "NoExecute")
        for one in listed
    )
    return "taints" if kept_off else next((key for key in _NOT_HONOURED if device.get(key)), "")
