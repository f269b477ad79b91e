"""PCI addresses, and what the kernel says of them."""

from __future__ import annotations

import re
from pathlib import Path

DEVICES = Path("/sys/bus/pci/devices")
GPU_VENDORS = ("0x10de", "0x1002")
"""NVIDIA and AMD."""
GPU_CLASSES = ("0x03", "0x12")
"""Display controllers, headless ones among them, and processing accelerators."""

_ADDRESS = re.compile(r"([0-9a-f]{1,8}):([0-9a-f]{1,2}):([0-9a-f]{1,2})(?:\.([0-7]))?", re.I)


def address(text: str) -> str:
    """`text` as the kernel writes an address, `0000:1b:00.0`; "" where it is none.

    Drivers write domains of eight digits and capitals.
    """
    found = _ADDRESS.fullmatch(text.strip())
    if found is None:
        return ""
    domain, bus, device = (int(part, 16) for part in found.groups()[:3])
    return f"{domain:04x}:{bus:02x}:{device:02x}.{found.group(4) or 0}"


def has_gpu(devices: Path = DEVICES) -> bool:
    """Whether the kernel sees a GPU of NVIDIA or AMD, with a driver or without one."""
    return any(
        _said(one / "vendor") in GPU_VENDORS and _said(one / "class").startswith(GPU_CLASSES)
        for one in (devices.iterdir() if devices.is_dir() else ())
    )


def _said(file: Path) -> str:
    try:
        return file.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def numa_node(bus_id: str, devices: Path = DEVICES) -> int | None:
    """The NUMA node of the device at `bus_id`, None where the kernel knows none.

    NVML's own call speaks only of devices whose memory is a NUMA node of its own.
    """
    try:
        number = int((devices / bus_id / "numa_node").read_text("ascii"))
    except (OSError, ValueError):
        return None
    return number if 0 <= number <= 65535 else None
