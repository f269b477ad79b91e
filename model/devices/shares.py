"""The devices that pods get on their nodes, all pods of a plan together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fourleaf.model.devices.choice import Ask
from fourleaf.model.devices.free import FreeDevices

Seat = tuple[str, Ask]
"""A node, and what a pod there asks for."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The devices of each seat, in order; `short` are nodes that do not have what is demanded."""

    devices: tuple[tuple[int, ...], ...]
    short: frozenset[str] = frozenset()


def shares(seats: Sequence[Seat], free: Mapping[str, FreeDevices]) -> Shares:
    """Devices for all `seats` out of what is `free` by node.

    A pod gets none where it is not known which are free, unless it demands some: then the node is
    short of them.
    """
    on_node: dict[str, list[int]] = {}
    for position, (node, (count, _)) in enumerate(seats):
        if count:
            on_node.setdefault(node, []).append(position)
    found: list[tuple[int, ...]] = [()] * len(seats)
    short = set()
    for node, positions in on_node.items():
        asks = [seats[position][1] for position in positions]
        dealt = free[node].shared_out(asks) if node in free else None
        if dealt is not None:
            for position, devices in zip(positions, dealt, strict=True):
                found[position] = devices
        elif any(demand is not None for _, demand in asks):
            short.add(node)
    return Shares(tuple(found), frozenset(short))
