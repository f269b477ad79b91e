"""The `gpu-scheduling-map` annotation: pod index to node and devices."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from model.devices.demand import DeviceDemand
from model.readers.manifest import Manifest
from model.readers.pods import Pod
from model.readers.wishes import field_of, stated

DEVICE_MAP = "gpu-scheduling-map"
_LINE = re.compile(
    r"([0-9]{1,9})\s*=\s*([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)\s*:\s*"
    r"([0-9]{1,4}(?:\s*,\s*[0-9]{1,4})*)",
    re.ASCII,
)
_ADVICE = 'Write one line per pod like "0=node-a:0,1": pod index, node, devices.'


@dataclass(frozen=True, slots=True)
class Pin:
    """The node and the devices on it that a pod is to have."""

    node: str
    devices: tuple[int, ...]


def read_map(manifest: Manifest, text: str) -> dict[int, Pin]:
    """Pod index -> pin, for every line of the annotation."""
    pins: dict[int, Pin] = {}
    field = field_of(DEVICE_MAP)
    for line in filter(None, map(str.strip, text.splitlines())):
        match = _LINE.fullmatch(line)
        if match is None:
            manifest.error(field, line, "is no line of a device map", _ADVICE)
            continue
        index = int(match[1])
        devices = tuple(int(one) for one in match[3].split(","))
        if index in pins:
            manifest.error(field, line, f"names pod {index} twice", "Keep one line per pod.")
        elif len(set(devices)) != len(devices):
            manifest.error(field, line, "names a device twice", "Name every device once.")
        else:
            pins[index] = Pin(match[2], devices)
    return pins


def apply_map(pod: Pod, chooses: bool) -> None:
    """Pin `pod` to the node and the devices of its line.

    `chooses` says whether the scheduler picks devices; else only their number counts.
    """
    found = stated(pod.layers, DEVICE_MAP)
    if found is None:
        return
    manifest, text = found
    pins = read_map(manifest, text)
    index = pod.rank[2]
    pin = pins.get(index)
    if pin is None:
        if not manifest.broken:
            some = ", ".join(map(str, sorted(pins)[:8])) or "no pod"
            manifest.error(
                field_of(DEVICE_MAP),
                None,
                f"has no line for {pod.name}; it names {some}",
                "Add a line for the pod's index (the number at the end of its name).",
            )
        return
    stated_gpus = pod.request.gpus
    if stated_gpus and stated_gpus != len(pin.devices):
        manifest.error(
            field_of(DEVICE_MAP),
            f"{index}={pin.node}",
            f"names {len(pin.devices)} devices, but {pod.name} asks for {stated_gpus} GPUs",
            "Name as many devices as the pod asks for.",
        )
        return
    pod.pinned = pin.node
    wants = DeviceDemand(exact=tuple(sorted(pin.devices))) if chooses else None
    pod.request = replace(pod.request, gpus=len(pin.devices), wants=wants)
