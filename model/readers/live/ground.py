"""Nodes as they change, and the fabric, which stays one object while nothing of it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from model.config import SchedulerConfig
from model.fabric import Fabric
from model.node import Node
from model.problems import Problem
from model.readers.config import in_force
from model.readers.device_nodes import STATUS
from model.readers.live.bodies import SOURCE
from model.readers.manifest import Body, Manifest
from model.readers.nodes import NodeRead, mixed_gpu_names, read_fabric, read_node
from model.readers.report import Report


@dataclass(slots=True, eq=False)
class _Known:
    read: NodeRead
    problems: tuple[Problem, ...]

    def says_the_same_as(self, other: _Known) -> bool:
        return (
            self.read.node == other.read.node
            and self.read.gpu_name == other.read.gpu_name
            and self.read.devices.free == other.read.devices.free
            and self.read.devices.uuids == other.read.devices.uuids
            and self.problems == other.problems
        )


class Ground:
    """All nodes. `fabric`, `mixed` and `problems` are as of the last `settle`."""

    def __init__(self, config: SchedulerConfig) -> None:
        self.fabric = Fabric(())
        self.mixed = False
        self.problems: tuple[Problem, ...] = ()
        self._config = config
        self._nodes: dict[str, _Known] = {}
        self._inventories: dict[str, Body] = {}
        self._withheld: frozenset[str] = frozenset()
        self._failures: Mapping[str, int] = {}
        self._stale = True

    @property
    def names(self) -> list[str]:
        """The names of all nodes."""
        return list(self._nodes)

    def put(self, name: str, body: Body) -> bool:
        """Take a node as it is now; whether that says anything new."""
        known, new = self._nodes.get(name), self._read(name, body)
        self._nodes[name] = new
        changed = known is None or not new.says_the_same_as(known)
        self._stale = self._stale or changed
        return changed

    def remove(self, name: str) -> bool:
        """Forget a node; whether it was known."""
        known = self._nodes.pop(name, None) is not None
        self._stale = self._stale or known
        return known

    @property
    def inventories(self) -> list[str]:
        """The names of all inventories."""
        return list(self._inventories)

    def put_inventory(self, name: str, body: Body) -> bool:
        """Take the inventory of a node as it is now; whether that says anything new."""
        self._inventories[name] = body
        return self._read_again(name)

    def remove_inventory(self, name: str) -> bool:
        """Forget the inventory of a node; whether that says anything new."""
        return self._inventories.pop(name, None) is not None and self._read_again(name)

    def _read_again(self, name: str) -> bool:
        known = self._nodes.get(name)
        return known is not None and self.put(name, known.read.manifest.body)

    def configure(self, config: SchedulerConfig) -> None:
        """Read all nodes by another config."""
        self._config, self._stale = config, True
        self._nodes = {
            name: self._read(name, one.read.manifest.body) for name, one in self._nodes.items()
        }

    def judge(self, withheld: frozenset[str], failures: Mapping[str, int]) -> bool:
        """Let nobody use the nodes `withheld`, whatever they say; whether that says anything new.

        `failures` are thousandths by node, and count where a node says less of itself.
        """
        changed = withheld != self._withheld or failures != self._failures
        self._withheld, self._failures = withheld, dict(failures)
        self._stale = self._stale or changed
        return changed

    def settle(self) -> bool:
        """Bring the fabric up to date; whether something changed."""
        if not self._stale:
            return False
        self._stale = False
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
        # Whoever solves knows the fabric by its identity.
        if fabric != self.fabric:
            self.fabric = fabric
        self.mixed = mixed_gpu_names(sound)
        self.problems = report.problems
        return True

    def _judged(self, node: Node) -> Node:
        failures = max(node.failure_permille, self._failures.get(node.name, 0))
        ready = node.ready and node.name not in self._withheld
        if (ready, failures) == (node.ready, node.failure_permille):
            return node
        return replace(node, ready=ready, failure_permille=failures)

    def _read(self, name: str, body: Body) -> _Known:
        report = Report()
        manifest = Manifest(report, SOURCE, "", "Node", "", name, body)
        status = self._inventories.get(name)
        inventory = status and Manifest(report, SOURCE, *STATUS, "", name, status)
        read = read_node(manifest, self._config.spec, inventory or None)
        return _Known(read, report.problems)
