"""ResourceSlices as they change: the newest generation of every pool, and where its devices are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fourleaf.model.devices.names import DeviceName
from fourleaf.model.readers.objects.manifest import Body, entries_of, part_of


class Pool(NamedTuple):
    """Devices that a driver describes together, in one slice or several."""

    driver: str
    name: str


@dataclass(frozen=True, slots=True)
class _Slice:
    pool: Pool
    node: str
    generation: int
    count: int
    devices: tuple[Body, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """What a pool says of one node; `fault` where it cannot be trusted as it stands."""

    pool: Pool
    devices: tuple[tuple[DeviceName, Body], ...]
    fault: str = ""


class Pools:
    """All slices whose devices are on one node each; of others, which devices they list."""

    def __init__(self) -> None:
        self.wide: dict[str, _Slice] = {}
        """Slices about several nodes, by name; their `node` is ""."""
        self._slices: dict[str, _Slice] = {}
        self._pools: dict[Pool, dict[str, _Slice]] = {}
        self._on_node: dict[str, dict[Pool, int]] = {}

    @property
    def names(self) -> list[str]:
        """The names of all slices."""
        return [*self._slices, *self.wide]

    @property
    def nodes(self) -> list[str]:
        """The nodes that slices are about."""
        return list(self._on_node)

    def has(self, node: str) -> bool:
        """Whether slices are about a node."""
        return node in self._on_node

    def nodes_of(self, pool: Pool) -> set[str]:
        """The nodes that a pool has devices on, none where several nodes reach its devices."""
        return self._nodes(pool) if pool in self._pools else set()

    def is_wide(self, pool: Pool) -> bool:
        """Whether a pool has devices that several nodes reach."""
        return any(one.pool == pool for one in self.wide.values())

    def put(self, name: str, body: Body) -> set[str]:
        """Take a slice as it is now; the nodes of which it may say something new."""
        new = _read(body)
        if new is not None and self._slices.get(name, self.wide.get(name)) == new:
            return set()
        touched = self.remove(name)
        if new is None:
            return touched
        if not new.node:
            self.wide[name] = new
            return touched
        self._slices[name] = new
        self._pools.setdefault(new.pool, {})[name] = new
        pools = self._on_node.setdefault(new.node, {})
        pools[new.pool] = pools.get(new.pool, 0) + 1
        return touched | self._nodes(new.pool)

    def remove(self, name: str) -> set[str]:
        """Forget a slice; the nodes of which it said something."""
        self.wide.pop(name, None)
        old = self._slices.pop(name, None)
        if old is None:
            return set()
        touched = self._nodes(old.pool)
        del self._pools[old.pool][name]
        if not self._pools[old.pool]:
            del self._pools[old.pool]
        pools = self._on_node[old.node]
        pools[old.pool] -= 1
        if not pools[old.pool]:
            del pools[old.pool]
        if not pools:
            del self._on_node[old.node]
        return touched

    def on(self, node: str) -> Iterator[Listed]:
        """What the pools say of a node."""
        for pool in sorted(self._on_node.get(node, ())):
            yield _listed(pool, node, self._pools[pool].values())

    def _nodes(self, pool: Pool) -> set[str]:
        return {one.node for one in self._pools[pool].values()}


def _listed(pool: Pool, node: str, slices: Iterable[_Slice]) -> Listed:
    every = list(slices)
    newest = max(one.generation for one in every)
    current = [one for one in every if one.generation == newest]
    count = max(one.count for one in current)
    shown = [one for one in current if one.node == node]
    if not shown and len(current) != count:
        # Slices of earlier generations say nothing but what may come back.
        shown = [one for one in every if one.node == node]
    devices = tuple(
        (DeviceName(*pool, str(device.get("name"))), device)
        for one in shown
        for device in one.devices
    )
    title = f"pool {pool.name} of driver {pool.driver}"
    fault = ""
    if len(current) != count:
        fault = f"{title} is incomplete: {len(current)} of {count} ResourceSlices"
    elif len({name for name, _ in devices}) < len(devices):
        fault = f"{title} names a device twice"
    return Listed(pool, devices, fault)


def _read(body: Body) -> _Slice | None:
    """A slice, None where it makes no sense."""
    spec = part_of(body, "spec")
    pool = part_of(spec, "pool")
    driver, name, node = spec.get("driver"), pool.get("name"), spec.get("nodeName")
    if not (isinstance(driver, str) and isinstance(name, str)):
        return None
    generation, count = pool.get("generation"), pool.get("resourceSliceCount")
    return _Slice(
        Pool(driver, name),
        node if isinstance(node, str) else "",
        generation if isinstance(generation, int) else 0,
        count if isinstance(count, int) else 0,
        tuple(entries_of(spec, "devices")),
    )
