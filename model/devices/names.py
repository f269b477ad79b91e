"""How drivers name devices, and what numbers these have on their node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class DeviceName(NamedTuple):
    """A device as ResourceSlices and allocations name it, the same for as long as it exists."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return "/".join(self)


def numbers_of(names: Iterable[DeviceName], on_node: Sequence[DeviceName]) -> tuple[int, ...]:
    """The numbers that `names` have `on_node`, ascending; those it does not have are left out."""
    known = {name: number for number, name in enumerate(on_node)}
    return tuple(sorted(known[name] for name in names if name in known))
