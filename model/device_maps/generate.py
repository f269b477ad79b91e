"""A device map made from what nodes offer."""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.model.device_maps.nodes import MapNodes
from fourleaf.model.readers.pods.device_map import Pin


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """So many `pods` (None: as many as there is room for) of `devices` each.

    Only nodes of `pool`, where that is not ""; also devices that are in use, where `busy`.
    """

    devices: int
    pods: int | None = None
    pool: str = ""
    busy: bool = False


class NotEnough(Exception):
    """There is room for fewer pods; `room` says for how many."""

    def __init__(self, room: int, wanted: int) -> None:
        super().__init__(f"there is room for {room} of {wanted} pods")
        self.room = room


def generate_map(ground: MapNodes, demand: DeviceRequest) -> dict[int, Pin]:
    """Pod index -> pin: node after node in natural order, the lowest free devices first.

    Raises `NotEnough`.
    """
    pins: dict[int, Pin] = {}
    for node in ground.nodes.values():
        if not node.usable or demand.pool not in ("", node.pool):
            continue
        free = sorted(node.devices if demand.busy else node.free(""))
        for start in range(0, len(free) - demand.devices + 1, demand.devices):
            if len(pins) == demand.pods:
                return pins
            pins[len(pins)] = Pin(node.name, tuple(free[start : start + demand.devices]))
    if demand.pods is not None and len(pins) < demand.pods:
        raise NotEnough(len(pins), demand.pods)
    return pins
