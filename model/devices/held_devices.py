"""How a pod says which devices of its node it has."""

from __future__ import annotations

DEVICES = "alloc.gpu.scheduling/devices"
"""Annotation of a bound pod: the numbers of its devices on its node, as CUDA takes them."""


def devices_in(text: str) -> tuple[int, ...]:
    """The numbers in the annotation; none where it makes no sense."""
    parts = text.split(",") if text else []
    sound = all(part.isascii() and part.isdecimal() and len(part) <= 4 for part in parts)
    return tuple(map(int, parts)) if sound else ()


def devices_text(devices: tuple[int, ...]) -> str:
    """The annotation for these devices."""
    return ",".join(map(str, devices))
