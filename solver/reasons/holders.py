"""Who holds the room on each node once the plan is carried out."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from model.gang import Gang, GangKey
from model.plan import Plan
from model.resources import Resources
from model.snapshot import Snapshot
from solver.ground import Ground


@dataclass(frozen=True, slots=True)
class Holder:
    """One pod on a node: its name as shown, and the gang (or lone pod) that ends with it."""

    shown: str
    ends: str
    request: Resources


class Holders:
    """Running pods and pods that the plan places, by node."""

    def __init__(self, snapshot: Snapshot, plan: Plan, ground: Ground) -> None:
        self.snapshot = snapshot
        self.plan = plan
        self.ground = ground
        self._gangs = {gang.key: gang for gang in snapshot.gangs}

    @cached_property
    def on(self) -> dict[int, list[Holder]]:
        """Node -> the pods on it."""
        index = self.ground.index
        found: dict[int, list[Holder]] = defaultdict(list)
        for pod in self.snapshot.running:
            node = index.get(pod.node)
            if node is not None:
                ends = str(pod) if pod.gang is None else str(pod.gang)
                found[node].append(Holder(str(pod), ends, pod.request))
        for placement in self.plan.placements:
            gang = self._gangs[placement.gang]
            requests = requests_of(gang)
            name = str(gang.key)
            for member, host in placement.pods:
                found[index[host]].append(Holder(name, name, requests[member]))
        return dict(found)

    @cached_property
    def placed_in(self) -> list[frozenset[GangKey]]:
        """Leaf -> the gangs that the plan places there."""
        found: list[set[GangKey]] = [set() for _ in self.ground.leaves]
        for placement in self.plan.placements:
            for _, host in placement.pods:
                found[self.ground.leaf_of[self.ground.index[host]]].add(placement.gang)
        return [frozenset(gangs) for gangs in found]

    def priority(self, gang: GangKey) -> int:
        """The priority of a gang of the plan."""
        return self._gangs[gang].priority


def requests_of(gang: Gang) -> dict[str, Resources]:
    """Unbound pod -> its request."""
    return {pod: role.request for role in gang.roles for pod in role.pods}
