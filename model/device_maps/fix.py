"""A device map mended: nodes that are gone give way to ready ones of the same pool."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from fourleaf.model.device_maps.nodes import MapNode, MapNodes
from fourleaf.model.readers.pods.device_map import Pin


@dataclass(frozen=True, slots=True)
class LineChange:
    """A line that names something else than before."""

    index: int
    before: Pin
    after: Pin


@dataclass(frozen=True, slots=True)
class Left:
    """A line whose node cannot be used, and why it stays as it is."""

    index: int
    pin: Pin
    why: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """The map after all `changes`; `left` are the lines for which there was nothing."""

    pins: dict[int, Pin]
    changes: tuple[LineChange, ...]
    left: tuple[Left, ...]


def fix_map(pins: Mapping[int, Pin], ground: MapNodes, lines: str = "", pool: str = "") -> Fixed:
    """Replace nodes that are gone, not ready or cordoned; every other line stays.

    `lines` is the text of the map, whose own pods do not stand in its way. Replacements come
    from the pool of the node that is gone, or from `pool`. All lines of a node go to one other
    node with the same devices where there is such a node; else each goes where there is room. Where
    nothing says which devices nodes of the pool have, they have those of the node that is gone.
    """
    gone: dict[str, dict[int, Pin]] = {}
    for index, pin in sorted(pins.items()):
        node = ground.nodes.get(pin.node)
        if node is None or not node.open:
            gone.setdefault(pin.node, {})[index] = pin
    new = {index: pin for index, pin in pins.items() if pin.node not in gone}
    left: list[Left] = []
    for name, group in gone.items():
        wanted = pool or _pool(ground, name, new.values())
        why = f"no ready node of pool {wanted} has devices free for it"
        if not wanted:
            why = f"nothing says which pool {name} was of"
        nodes = _candidates(ground, wanted, new.values())
        moved = _together(group, nodes, lines, new.values())
        for index, pin in group.items():
            after = moved.get(index) or next(_fitting(pin, nodes, lines, new.values()), None)
            if after is None:
                left.append(Left(index, pin, why))
            new[index] = after or pin
    changes = [LineChange(i, pins[i], new[i]) for i in sorted(pins) if new[i] != pins[i]]
    return Fixed({i: new[i] for i in sorted(new)}, tuple(changes), tuple(left))


def _pool(ground: MapNodes, name: str, kept: Iterable[Pin]) -> str:
    """The pool of a node that is gone; where nothing tells, that of all the others."""
    known = ground.pool_of(name)
    if known:
        return known
    pools = {ground.pool_of(pin.node) for pin in kept}
    pools = pools or {one.pool for one in ground.nodes.values() if one.usable}
    return pools.pop() if len(pools) == 1 else ""


def _candidates(ground: MapNodes, pool: str, kept: Iterable[Pin]) -> list[MapNode]:
    """Usable nodes of `pool`, those first that no line names yet.

    Where there are none, those of which nothing says which devices they have.
    """
    named = {pin.node for pin in kept}
    there = [one for one in ground.nodes.values() if pool and one.pool == pool and one.open]
    nodes = [one for one in there if one.usable] or [one for one in there if one.silent]
    return sorted(nodes, key=lambda one: one.name in named)


def _together(
    group: Mapping[int, Pin], nodes: Iterable[MapNode], lines: str, kept: Collection[Pin]
) -> dict[int, Pin]:
    wanted = {device for pin in group.values() for device in pin.devices}
    for node in nodes:
        if wanted <= _free(node, lines, kept, wanted):
            return {index: Pin(node.name, pin.devices) for index, pin in group.items()}
    return {}


def _fitting(
    pin: Pin, nodes: Collection[MapNode], lines: str, kept: Collection[Pin]
) -> Iterator[Pin]:
    """Places for a line: first with the same devices, then with others."""
    for node in nodes:
        if set(pin.devices) <= _free(node, lines, kept, pin.devices):
            yield Pin(node.name, pin.devices)
    for node in nodes:
        free = sorted(_free(node, lines, kept, ()))
        if len(free) >= len(pin.devices):
            yield Pin(node.name, tuple(free[: len(pin.devices)]))


def _free(node: MapNode, lines: str, kept: Iterable[Pin], same: Iterable[int]) -> set[int]:
    """The devices of `node` that no one has; it is believed to have the `same` where it is silent.

    `same` are those that the node which is gone had.
    """
    named = {device for pin in kept if pin.node == node.name for device in pin.devices}
    if node.silent:
        return {one for one in same if not node.holder_of(one, lines)} - named
    return set(node.free(lines)) - named
