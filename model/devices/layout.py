"""What devices a node has and how they are linked; nodes of one build share one object."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

Link = tuple[int, int, int]
"""Two devices, the lower number first, and the bandwidth between them in MB/s."""


@dataclass(frozen=True, slots=True)
class Device:
    """One device by its number. `memory` in MiB, 0 where unknown.

    `classes` are the DeviceClasses that it belongs to, where devices are claimed.
    """

    number: int
    product: str = ""
    memory: int = 0
    classes: tuple[str, ...] = ()


class DeviceLayout:
    """Devices in the order of their numbers, and their links.

    Made by `layout_of` alone: equal layouts are one object, also on the other side of a pipe, so
    they compare and hash by identity.
    """

    def __init__(self, devices: tuple[Device, ...], links: tuple[Link, ...]) -> None:
        self.devices = devices
        self.links = links
        self._linked: dict[int, dict[int, int]] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return layout_of, (self.devices, self.links)

    def __repr__(self) -> str:
        return f"DeviceLayout({len(self.devices)} devices, {len(self.links)} links)"

    @cached_property
    def everything(self) -> int:
        """All devices, as a set of bits by number."""
        return bits(device.number for device in self.devices)

    @cached_property
    def bandwidths(self) -> tuple[int, ...]:
        """Every bandwidth that a link has, the greatest first."""
        return tuple(sorted({speed for _, _, speed in self.links}, reverse=True))

    def linked(self, least: int) -> dict[int, int]:
        """Device -> the devices that it has links to of at least `least` MB/s, as bits."""
        found = self._linked.get(least)
        if found is None:
            found = self._linked[least] = {device.number: 0 for device in self.devices}
            for a, b, speed in self.links:
                if speed >= least:
                    found[a] |= 1 << b
                    found[b] |= 1 << a
        return found


_MADE: dict[tuple[tuple[Device, ...], tuple[Link, ...]], DeviceLayout] = {}
_MOST_MADE = 4096
"""Builds of nodes that are kept; a fleet has a handful."""


def layout_of(devices: Sequence[Device], links: Sequence[Link] = ()) -> DeviceLayout:
    """The layout of these devices and links."""
    key = (
        tuple(sorted(devices, key=lambda device: device.number)),
        tuple(sorted(links)),
    )
    found = _MADE.get(key)
    if found is None:
        if len(_MADE) >= _MOST_MADE:
            _MADE.clear()
        found = _MADE[key] = DeviceLayout(*key)
    return found


def unknown_layout(count: int) -> DeviceLayout:
    """Devices 0 to `count` - 1 of which nothing is known."""
    return layout_of([Device(number) for number in range(count)])


def bits(numbers: Iterable[int]) -> int:
    """A set of device numbers as bits."""
    found = 0
    for number in numbers:
        found |= 1 << number
    return found


def numbers(mask: int) -> tuple[int, ...]:
    """The device numbers in a set of bits, ascending."""
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return tuple(found)
