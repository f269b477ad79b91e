"""The `gpu-scheduling-map` annotation: pod index to node and devices."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from fourleaf.model.config.spec import Devices
from fourleaf.model.crds.claim import MOST_DEVICES
from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.layout import bits
from fourleaf.model.readers.objects.annotations import field_of, stated
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.pods.limited_gpus import refuse_beyond_limits
from fourleaf.model.readers.pods.pods import Pod

DEVICE_MAP = "gpu-scheduling-map"
_LINE = re.compile(
    r"([0-9]{1,9})\s*=\s*([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)\s*:\s*"
    r"([0-9]{1,4}(?:\s*,\s*[0-9]{1,4})*)",
    re.ASCII,
)
MOST_BAD_LINES = 16
"""Bad lines of a map after which the rest is not read: each of its pods is told of all of them."""

_ADVICE = 'Write one line per pod like "0=node-a:0,1": pod index, node, devices.'


@dataclass(frozen=True, slots=True)
class Pin:
    """The node and the devices on it that a pod is to have."""

    node: str
    devices: tuple[int, ...]

    @property
    def mask(self) -> int:
        """The devices as bits."""
        return bits(self.devices)

    def __str__(self) -> str:
        return f"{self.node}:{','.join(map(str, self.devices))}"


@dataclass(frozen=True, slots=True)
class Claimant:
    """A pod that wants a line of a map: its own index, if any, and what it has already.

    `node` is "" while it waits; `devices` are those that it was given, None where nothing
    knows.
    """

    name: str
    index: int | None = None
    node: str = ""
    devices: tuple[int, ...] | None = None
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of a map that cannot be used, why not, and advice."""

    line: str
    message: str
    advice: str


# All pods of a StatefulSet have one text, which may be as long as it has pods.
@lru_cache(maxsize=16)
def parse_map(text: str) -> tuple[Mapping[int, Pin], tuple[BadLine, ...]]:
    """Pod index -> pin for every good line of the annotation, and the lines that are not.

    After `MOST_BAD_LINES` of these, the last one says that reading has ended.
    """
    pins: dict[int, Pin] = {}
    bad: list[BadLine] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if len(bad) == MOST_BAD_LINES:
            message = f"is not read, nor what follows: {MOST_BAD_LINES} lines before it are wrong"
            bad.append(BadLine(line, message, "Correct those first."))
            break
        match = _LINE.fullmatch(line)
        if match is None:
            bad.append(BadLine(line, "is no line of a device map", _ADVICE))
            continue
        index = int(match[1])
        devices = tuple(int(one) for one in match[3].split(","))
        if index in pins:
            bad.append(BadLine(line, f"names pod {index} twice", "Keep one line per pod."))
        elif len(set(devices)) != len(devices):
            bad.append(BadLine(line, "names a device twice", "Name every device once."))
        elif max(devices) >= MOST_DEVICES:
            message = f"names device {max(devices)}"
            bad.append(BadLine(line, message, f"Devices are numbered 0 to {MOST_DEVICES - 1}."))
        else:
            pins[index] = Pin(match[2], devices)
    return MappingProxyType(pins), tuple(bad)


def read_map(manifest: Manifest, text: str) -> Mapping[int, Pin]:
    """Pod index -> pin, for every good line; `manifest` is told of the others."""
    pins, bad = parse_map(text)
    for one in bad:
        manifest.error(field_of(DEVICE_MAP), one.line, one.message, one.advice)
    return pins


def map_text(pins: Mapping[int, Pin]) -> str:
    """The annotation that says `pins`, one line per pod."""
    return "".join(f"{index}={pin}\n" for index, pin in sorted(pins.items()))


HeldOn = Callable[[str], int]
"""Node -> the devices that pods hold there, as bits."""


def none_held(_node: str) -> int:
    """Where nothing is known of what pods hold."""
    return 0


def lines_of(
    pins: Mapping[int, Pin], members: Sequence[Claimant], held_on: HeldOn = none_held
) -> dict[str, int]:
    """Pod -> index of its line, for the members that get one.

    A member with an index of its own has that line. A bound one without keeps the line that
    names what it has. Those that wait take the lowest lines that are left, the oldest first; lines
    whose devices are held come last.
    """
    found = {one.name: one.index for one in members if one.index is not None}
    rest = sorted(
        (one for one in members if one.index is None), key=lambda one: (one.created, one.name)
    )
    if not rest:
        return found
    taken = set(found.values())
    left = {index: pin for index, pin in sorted(pins.items()) if index not in taken}
    for one in [one for one in rest if one.node]:
        # What a bound pod was given may not be known yet; then its node has to do.
        known = None if one.devices is None else set(one.devices)
        mine = [
            index
            for index, pin in left.items()
            if pin.node == one.node and (known is None or known == set(pin.devices))
        ]
        if mine:
            found[one.name] = mine[0]
            del left[mine[0]]
    waiting = [one for one in rest if not one.node]
    order = sorted(left, key=lambda index: bool(held_on(left[index].node) & left[index].mask))
    found.update(zip((one.name for one in waiting), order, strict=False))
    return found


def apply_map(pod: Pod, devices: Devices) -> None:
    """Pin a pod that has its map for itself; see `apply_maps`."""
    apply_maps([pod], devices)


def apply_maps(pods: Sequence[Pod], devices: Devices, held_on: HeldOn = none_held) -> None:
    """Pin each of `pods` to the node and the devices of its line.

    Where the scheduler does not pick the devices, only their number counts.
    `pods` are the members of one gang, or of one owner, that are ours and have not ended.
    """
    members = [_claimant(pod) for pod in pods]
    maps: dict[str, tuple[Mapping[int, Pin], tuple[BadLine, ...]]] = {}
    rows: dict[str, dict[str, int]] = {}
    holders: dict[tuple[str, int], Pod] = {}
    for pod in pods:
        found = stated(pod.layers, DEVICE_MAP)
        if found is None:
            continue
        manifest, text = found
        if text not in maps:
            maps[text] = parse_map(text)
            rows[text] = lines_of(maps[text][0], members, held_on)
        pins, bad = maps[text]
        for one in bad:
            manifest.error(field_of(DEVICE_MAP), one.line, one.message, one.advice)
        if bad:
            continue
        index = rows[text].get(pod.name)
        other = pod
        if index is not None and not pod.terminating:
            other = holders.setdefault((text, index), pod)
        if other is not pod:
            _refuse_same(pod, other, index)
        elif index is None:
            if not pod.node:
                _refuse_surplus(pod, pins)
        elif index not in pins:
            _refuse_unknown(pod, pins)
        else:
            _apply(pod, manifest, index, pins[index], devices)


def _claimant(pod: Pod) -> Claimant:
    return Claimant(pod.name, pod.index, pod.node, pod.devices or None, pod.created or 0.0)


def _apply(pod: Pod, manifest: Manifest, index: int, pin: Pin, devices: Devices) -> None:
    stated_gpus = pod.request.gpus
    if stated_gpus and stated_gpus != len(pin.devices):
        manifest.error(
            field_of(DEVICE_MAP),
            f"{index}={pin.node}",
            f"names {len(pin.devices)} devices, but {pod.name} asks for {stated_gpus} GPUs",
            "Name as many devices as the pod asks for.",
        )
        return
    gpus = len(pin.devices)
    field, line = field_of(DEVICE_MAP), f"{index}={pin.node}"
    if refuse_beyond_limits(pod, gpus, devices, manifest, field, line):
        return
    pod.pinned = pin.node
    wants = DeviceDemand(exact=tuple(sorted(pin.devices))) if devices.mode != "count" else None
    pod.request = replace(pod.request, gpus=gpus, wants=wants)


def _refuse_unknown(pod: Pod, pins: Mapping[int, Pin]) -> None:
    some = ", ".join(map(str, sorted(pins)[:8])) or "no pod"
    pod.manifest.error(
        field_of(DEVICE_MAP),
        None,
        f"has no line for {pod.name}; it names {some}",
        "Add a line for the pod's index (the number in its name).",
    )


def _refuse_surplus(pod: Pod, pins: Mapping[int, Pin]) -> None:
    pod.manifest.error(
        field_of(DEVICE_MAP),
        None,
        f"has no line left for {pod.name}: others have all {len(pins)} of them",
        "Add a line, or run fewer pods.",
    )


def _refuse_same(pod: Pod, other: Pod, index: int | None) -> None:
    pod.manifest.error(
        field_of(DEVICE_MAP),
        index,
        f"has one line for {pod.name} and {other.name}, which both have that index",
        "Give every member of a gang that has a device map an index of its own.",
    )
