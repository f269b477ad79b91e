"""Who holds the room on each node once the plan is carried out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.instance.fabric_index import FabricIndex


@dataclass(frozen=True, slots=True)
class Holder:
    """What one pod holds on a node; `ends` is the gang, or lone pod, that ends with it."""

    ends: str
    request: Resources
    devices: tuple[int, ...] = ()


class Holders:
    """Running pods and pods that the plan places, by node."""

    def __init__(self, snapshot: Snapshot, plan: Plan, fabric: FabricIndex) -> None:
        self.snapshot = snapshot
        self.plan = plan
        self.fabric = fabric
        self._gangs = {gang.key: gang for gang in snapshot.gangs}
        self._on: dict[int, list[Holder]] = {}

    def on(self, node: int) -> list[Holder]:
        """The pods on a node: running ones first, then those that the plan places."""
        known = self._on.get(node)
        if known is None:
            known = [
                Holder(str(pod.gang or pod), pod.request, pod.devices)
                for pod in self._running.get(node, ())
            ]
            for key, member in self._placed.get(node, ()):
                known.append(Holder(str(key), self._gangs[key].requests[member]))
            self._on[node] = known
        return known

    @cached_property
    def _running(self) -> dict[int, list[RunningPod]]:
        found: dict[int, list[RunningPod]] = {}
        for pod in self.snapshot.running:
            node = self.fabric.index.get(pod.node)
            if node is not None:
                found.setdefault(node, []).append(pod)
        return found

    @cached_property
    def _placed(self) -> dict[int, list[tuple[GangKey, str]]]:
        found: dict[int, list[tuple[GangKey, str]]] = {}
        for placement in self.plan.placements:
            for member, host in placement.pods:
                found.setdefault(self.fabric.index[host], []).append((placement.gang, member))
        return found

    @cached_property
    def placed_in(self) -> list[frozenset[GangKey]]:
        """Leaf -> the gangs that the plan places there."""
        found: list[set[GangKey]] = [set() for _ in self.fabric.leaves]
        for placement in self.plan.placements:
            for _, host in placement.pods:
                found[self.fabric.leaf_of[self.fabric.index[host]]].add(placement.gang)
        return [frozenset(gangs) for gangs in found]

    def priority(self, gang: GangKey) -> int:
        """The priority of a gang of the plan."""
        return self._gangs[gang].priority
