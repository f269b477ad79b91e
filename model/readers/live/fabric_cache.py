"""Nodes as they change, and the fabric, which stays one object while nothing of it changes.

Where only who may use nodes has changed, the fabric need not be built anew. For what agents and
device maps say it is, but not as often as they like: with thousands of nodes that takes a while,
here and in the solver process, and a map may name another device twenty times a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.fabric import Fabric
from fourleaf.model.node import Node
from fourleaf.model.problems import Problem
from fourleaf.model.readers.config import in_force
from fourleaf.model.readers.dra.asks import KeptAsks
from fourleaf.model.readers.dra.holders import Places
from fourleaf.model.readers.dra.offers import NOTHING, Kinds, Offer
from fourleaf.model.readers.dra.pools import Pool
from fourleaf.model.readers.dra.published import Published
from fourleaf.model.readers.live.object_cache import SOURCE
from fourleaf.model.readers.live.read_allowance import ReadAllowance
from fourleaf.model.readers.nodes.attach_limits import AttachLimits
from fourleaf.model.readers.nodes.fabric import read_fabric
from fourleaf.model.readers.nodes.node_status import STATUS
from fourleaf.model.readers.nodes.nodes import NodeRead, mixed_gpu_sources, read_node
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.claiming_pods import Claimables

_MAPS = "device maps"
"""Who says what device maps say; no node has this name."""
LEAST_OF_MAPS = 2_500
"""Nodes, at least, that a fabric costs which device maps have changed.

All gangs that wait may be planned anew for it: so five times at once, then once in 2.5 s."""
UNMAPPED_SECONDS = 60.0
"""Seconds for which a node keeps, at most, a device that a map or a pod there has named."""


@dataclass(slots=True, eq=False)
class _Known:
    read: NodeRead
    problems: tuple[Problem, ...]

    @property
    def device_names(self) -> tuple[DeviceName, ...]:
        return () if self.read.manifest.broken else self.read.node.device_names

    def says_the_same_as(self, other: _Known) -> bool:
        return self.read.node == other.read.node and self._is_found_like(other)

    def stands_like(self, other: _Known) -> bool:
        """Whether the fabric looks the same with either, but for who may use the node."""
        return same_but_for_use(self.read.node, other.read.node) and self._is_found_like(other)

    def _is_found_like(self, other: _Known) -> bool:
        mine, theirs = (
            (one.gpu_name, one.announced, one.discovered) for one in (self.read, other.read)
        )
        return (
            mine == theirs
            and self.read.devices.says_the_same_as(other.read.devices)
            and self.problems == other.problems
        )


class FabricCache:
    """All nodes. `fabric`, `mixed` and `problems` are as of the last `settle`.

    `renewed` is set where devices that can be claimed have come, gone or got other numbers, or
    belong to other classes, or where volumes can run out that could not: what pods hold and ask for
    is to be read again. `relimited` are the nodes whose `limits` of volumes have changed.
    """

    def __init__(self, config: SchedulerConfig) -> None:
        self.fabric = Fabric(())
        self.mixed = False
        self.renewed = False
        self.problems: tuple[Problem, ...] = ()
        self.limits = AttachLimits()
        self.relimited: set[str] = set()
        self._config = config
        self._nodes: dict[str, _Known] = {}
        self._all: dict[str, Node] | None = None
        self._inventories: dict[str, Body] = {}
        self._mapped: dict[str, int] = {}
        """Node -> the devices, as bits, that are named there, or were a short while ago."""
        self._named: dict[str, tuple[int, float]] = {}
        """Nodes that have devices no more named -> those that are, and since when."""
        self._has_forgotten = False
        self.drivers = Published(config.spec)
        self.asks = KeptAsks()
        self._kinds = Kinds()
        self._offers: dict[str, Offer] = {}
        self._device_names: dict[str, tuple[DeviceName, ...]] = {}
        self._places: Places | None = None
        self._withheld: frozenset[str] = frozenset()
        self._sealed: frozenset[str] = frozenset()
        self._failures: Mapping[str, int] = {}
        self._stale = True
        self._touched: set[str] = set()
        """Nodes of which only who may use them has changed, where the rest is not stale."""
        self._allowance = ReadAllowance()
        self._unheard: set[str] = set()
        """Agents, by their nodes, and `_MAPS`: who said something that is not in the fabric yet."""

    @property
    def names(self) -> list[str]:
        """The names of all nodes."""
        return list(self._nodes)

    @property
    def nodes(self) -> Mapping[str, Node]:
        """All nodes that can be read, by name, in the fabric or not."""
        if self._all is None:
            sound = (one.read.node for one in self._nodes.values() if not one.read.manifest.broken)
            self._all = {node.name: node for node in sound}
        return self._all

    @property
    def is_behind(self) -> bool:
        """Whether something that was said is to come into the fabric later.

        So it is once devices have gone for no other reason than that time has passed: nothing that
        is told has a cycle look at that.
        """
        return bool(self._unheard) or self._has_forgotten

    def put(self, name: str, body: Body, said_by: str = "") -> bool:
        """Take a node as it is now; whether that says anything new.

        Where only what `said_by` says of it is new, the fabric may have that later.
        """
        known, new = self._nodes.get(name), self._read(name, body)
        self._nodes[name] = new
        self._all = None
        self._name_devices(name, new.device_names)
        self._note_offer(name)
        if known is not None and new.says_the_same_as(known):
            return False
        if known is not None and new.stands_like(known):
            self._touched.add(name)
        elif said_by:
            self._unheard.add(said_by)
        else:
            self._stale = True
        return True

    def remove(self, name: str) -> bool:
        """Forget a node; whether it was known."""
        known = self._nodes.pop(name, None) is not None
        if name in self._named:
            self._map(name, self._named.pop(name)[0])
        self._all = None
        self._name_devices(name, ())
        self._offers.pop(name, None)
        self._stale = self._stale or known
        return known

    @property
    def inventories(self) -> list[str]:
        """The names of all inventories."""
        return list(self._inventories)

    def put_inventory(self, name: str, body: Body) -> bool:
        """Take the inventory of a node as it is now; whether that says anything new."""
        self._inventories[name] = body
        return self._read_again(name, name)

    def remove_inventory(self, name: str) -> bool:
        """Forget the inventory of a node; whether that says anything new."""
        return self._inventories.pop(name, None) is not None and self._read_again(name, name)

    def put_mapped(self, name: str, devices: int, now: float) -> None:
        """Take the devices, as bits, that device maps name on a node from `now` on.

        What is named no more counts for `UNMAPPED_SECONDS` yet: a pod with a map may come and go
        many times a second, or one follow another.
        """
        before = self._mapped.get(name, 0)
        known = self._nodes.get(name)
        if known is None or known.read.announced:
            # There is nothing to keep, and maps may name any number of nodes that are none.
            self._named.pop(name, None)
            self._map(name, devices)
            return
        if before & ~devices:
            since = self._named[name][1] if name in self._named else now
            self._named[name] = devices, since
        else:
            self._named.pop(name, None)
        if devices & ~before:
            self._map(name, devices | before)

    def _map(self, name: str, devices: int) -> None:
        if devices:
            self._mapped[name] = devices
        else:
            self._mapped.pop(name, None)
        known = self._nodes.get(name)
        if known is not None and not known.read.announced:
            known.read = replace(known.read, mapped=devices)
            self._unheard.add(_MAPS)

    def _forget_unnamed(self, now: float) -> None:
        """Take devices from nodes that have been named no more for a while."""
        self._has_forgotten = False
        for name, (devices, since) in list(self._named.items()):
            # A clock that was set back is no reason to keep them for longer.
            if not 0 <= now - since < UNMAPPED_SECONDS:
                del self._named[name]
                self._map(name, devices)
                self._has_forgotten = True

    def put_limits(self, name: str, body: Body) -> bool:
        """Take the CSINode of a node as it is now; whether that says anything new."""
        limited = self.limits.limited
        return self.limits.put(name, body) and self._limit(name, limited)

    def remove_limits(self, name: str) -> bool:
        """Forget the CSINode of a node; whether that says anything new."""
        limited = self.limits.limited
        return self.limits.remove(name) and self._limit(name, limited)

    def _limit(self, name: str, limited: frozenset[str]) -> bool:
        """Read a node with other limits; pods too, where amounts are `limited` that were not."""
        self.relimited.add(name)
        self.renewed = self.renewed or self.limits.limited != limited
        self._read_again(name)
        return True

    @property
    def slices(self) -> list[str]:
        """The names of all ResourceSlices."""
        return self.drivers.pools.names

    @property
    def classes(self) -> list[str]:
        """The names of all DeviceClasses."""
        return self.drivers.class_names

    def put_slice(self, name: str, body: Body) -> bool:
        """Take a ResourceSlice as it is now; whether that says anything new."""
        wide = self.drivers.pools.wide.get(name)
        changed = self._publish(self.drivers.put_slice(name, body))
        return changed or self.drivers.pools.wide.get(name) != wide

    def remove_slice(self, name: str) -> bool:
        """Forget a ResourceSlice; whether that says anything new."""
        wide = name in self.drivers.pools.wide
        return self._publish(self.drivers.remove_slice(name)) or wide

    def put_class(self, name: str, body: Body) -> bool:
        """Take a DeviceClass as it is now; whether that says anything new."""
        return self.drivers.put_class(name, body) and self._read_all()

    def remove_class(self, name: str) -> bool:
        """Forget a DeviceClass; whether that says anything new."""
        return self.drivers.remove_class(name) and self._read_all()

    @property
    def claimables(self) -> Claimables:
        """What ResourceClaims are to be read against."""
        honoured, offer = self.drivers.honoured, self.drivers.offer
        return Claimables(honoured, self._device_names, offer, self.asks)

    @property
    def places(self) -> Places:
        """Where devices are that can be claimed."""
        if self._places is None:
            self._places = Places(self._device_names, self.drivers)
        return self._places

    def device_names(self, node: str) -> tuple[DeviceName, ...]:
        """The devices of a node that can be claimed, by their numbers."""
        return self._device_names.get(node, ())

    def lacks(self, node: str, names: Iterable[DeviceName], held: bool) -> str:
        """The first of `names` that is not listed, "" where all are or a list is incomplete.

        A device that several nodes reach is on the list of none, which does not matter where a
        claim has `held` it since it was allocated.
        """
        pools = list(self.drivers.pools.on(node))
        if any(pool.fault for pool in pools):
            return ""
        there = {name for pool in pools for name, _ in pool.devices}
        wide = self.drivers.pools.is_wide
        for name in names:
            if name in there:
                continue
            if held and wide(Pool(name.driver, name.pool)):
                continue
            return str(name)
        return ""

    def _name_devices(self, node: str, names: tuple[DeviceName, ...]) -> None:
        if self._device_names.get(node, ()) == names:
            return
        self._device_names.pop(node, None)
        if names:
            self._device_names[node] = names
        self.renewed, self._places = True, None

    def _note_offer(self, node: str) -> None:
        """Notice other devices beside GPUs: what pods of ours there hold is to be read again."""
        before, now = self._offers.pop(node, NOTHING), self.drivers.offer(node)
        if now is not NOTHING:
            self._offers[node] = now
        self.renewed = self.renewed or before.classes != now.classes

    def _publish(self, nodes: set[str]) -> bool:
        changed = [self._read_again(name) for name in sorted(nodes)]
        return any(changed)

    def _read_all(self) -> bool:
        self.renewed = True
        for name in list(self._nodes):
            self._read_again(name)
        return True

    def _read_again(self, name: str, said_by: str = "") -> bool:
        known = self._nodes.get(name)
        return known is not None and self.put(name, known.read.manifest.body, said_by)

    def take_config(self, config: SchedulerConfig) -> None:
        """Go on with a config under which all nodes read alike."""
        self._config = config

    def configure(self, config: SchedulerConfig) -> None:
        """Read all nodes by another config."""
        self._config, self._stale = config, True
        self.drivers.configure(config.spec)
        self._nodes = {
            name: self._read(name, one.read.manifest.body) for name, one in self._nodes.items()
        }
        self._all = None
        for name, one in self._nodes.items():
            self._name_devices(name, one.device_names)
            self._note_offer(name)

    def judge(
        self,
        withheld: frozenset[str],
        failures: Mapping[str, int],
        sealed: frozenset[str] = frozenset(),
    ) -> bool:
        """Close the nodes `withheld` to all, whatever they say; whether that says anything new.

        So it does those that are `sealed`, which may be ready. `failures` are thousandths by node,
        and count where a node says less of itself.
        """
        changed = (self._withheld ^ withheld) | (self._sealed ^ sealed)
        changed |= {name for name, _ in self._failures.items() ^ failures.items()}
        self._withheld, self._failures, self._sealed = withheld, dict(failures), sealed
        self._touched |= changed
        return bool(changed)

    def settle(self, now: float) -> bool:
        """Bring the fabric up to date at `now`, seconds since the epoch; whether it changed."""
        touched, self._touched = self._touched, set()
        if self.drivers.kinds != self._kinds:
            self._kinds, self.renewed = self.drivers.kinds, True
        self._allowance.settle(now)
        self._forget_unnamed(now)
        if self._stale or any(map(self._allowance.has, self._unheard)):
            self._stale = False
            for one in self._unheard:
                least = LEAST_OF_MAPS if one == _MAPS else 0
                self._allowance.charge(one, max(least, len(self._nodes)))
            self._unheard.clear()
            self._read_fabric()
            return True
        known = [self._nodes[name] for name in touched if name in self._nodes]
        self.fabric = used_like(self.fabric, [self._judged(one.read.node) for one in known])
        return bool(touched)

    def _read_fabric(self) -> None:
        report = Report()
        for one in self._nodes.values():
            for problem in one.problems:
                report.add(problem)
        sound = [
            replace(
                one.read,
                node=self._judged(one.read.node),
                manifest=one.read.manifest.on(report),
                devices=one.read.devices.on(report),
            )
            for one in self._nodes.values()
            if not one.read.manifest.broken
        ]
        fabric = read_fabric(report, sound, in_force(self._config))
        # The solver knows the fabric by its identity.
        if fabric != self.fabric:
            self.fabric = fabric
        self.mixed = mixed_gpu_sources(sound)
        self.problems = report.problems

    def _judged(self, node: Node) -> Node:
        failures = max(node.failure_permille, self._failures.get(node.name, 0))
        ready = node.ready and node.name not in self._withheld
        sealed = node.name in self._sealed
        if (ready, failures, sealed) == (node.ready, node.failure_permille, node.sealed):
            return node
        return replace(node, ready=ready, failure_permille=failures, sealed=sealed)

    def _read(self, name: str, body: Body) -> _Known:
        report = Report()
        manifest = Manifest(report, SOURCE, "", "Node", "", name, body)
        status = self._inventories.get(name)
        inventory = status and Manifest(report, SOURCE, *STATUS, "", name, status)
        on_node = self.drivers.on(name), self.drivers.offer(name), self.limits.on(name)
        read = read_node(manifest, self._config.spec, inventory or None, *on_node)
        if not read.announced:
            read.mapped = self._mapped.get(name, 0)
        return _Known(read, report.problems)


def same_but_for_use(one: Node, other: Node) -> bool:
    """Whether two nodes differ in nothing but who may use them, and how often they failed."""
    return _used_like(one, other) == other


def used_like(fabric: Fabric, nodes: Sequence[Node]) -> Fabric:
    """`fabric` with its nodes as usable as those of the same name in `nodes` say.

    A node that is not in it is left out, and it stays the same object where nothing is different.
    """
    different: dict[int, dict[str, Node]] = {}
    for node in nodes:
        leaf = fabric.leaf_of.get(node.name)
        if leaf is not None and not _same_use(fabric.nodes[node.name], node):
            different.setdefault(leaf, {})[node.name] = node
    if not different:
        return fabric
    leaves = list(fabric.leaves)
    for leaf, some in different.items():
        new = (
            _used_like(old, some[old.name]) if old.name in some else old
            for old in leaves[leaf].nodes
        )
        leaves[leaf] = replace(leaves[leaf], nodes=tuple(new))
    return replace(fabric, leaves=tuple(leaves))


def _same_use(one: Node, other: Node) -> bool:
    """Whether the same may use two nodes, and they failed as often."""
    return _used_like(one, other) == one


def _used_like(node: Node, other: Node) -> Node:
    return replace(
        node,
        ready=other.ready,
        cordoned=other.cordoned,
        sealed=other.sealed,
        taints=other.taints,
        failure_permille=other.failure_permille,
    )
