"""Numbers of devices as short text: `0-3,6` for 0, 1, 2, 3 and 6."""

from __future__ import annotations

from collections.abc import Iterable

DEVICE_LIMIT = 4096
"""No node has a device of that number; a record that says so makes no sense."""


def ranges(devices: Iterable[int]) -> str:
    """The text for `devices`; neighbours that ascend by one become a range."""
    runs: list[list[int]] = []
    for device in devices:
        if runs and device == runs[-1][-1] + 1:
            runs[-1][1:] = [device]
        else:
            runs.append([device])
    return ",".join("-".join(map(str, run)) for run in runs)


def numbers(text: str) -> tuple[int, ...]:
    """The devices that `text` names. Raises `ValueError` where it names none or too many."""
    found: list[int] = []
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        run = range(int(first), int(last or first) + 1)
        if not run or run[-1] >= DEVICE_LIMIT:
            raise ValueError(f"{part!r} is not a range of devices")
        found += run
    return tuple(found)
