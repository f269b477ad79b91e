"""Policies that obey the leaf rule and place one gang after the other, in some order.

They share the books of the greedy fallback and differ in the order of the gangs and in their
taste in places.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from fourleaf.model.extensions import NO_EXTENSIONS
from fourleaf.model.gang import Gang
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.start import Start
from fourleaf.simulator.policies.earliest_start import Alone
from fourleaf.simulator.policies.plans import plan_of
from fourleaf.solver.batch.greedy import FreeBooks, Rank, least_free
from fourleaf.solver.batch.select_batch import select_batch
from fourleaf.solver.forecast.earliest_start import earliest_start
from fourleaf.solver.forecast.timeline import Timeline
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup, gang_groups_for
from fourleaf.solver.objective.scorer import Scorer

Order = Callable[[Snapshot, Gang], Any]
"""Sorts the gangs of a batch, the smallest first."""


def arrival(_: Snapshot, gang: Gang) -> tuple[int, float, str]:
    """First come, first served, within a priority."""
    return (-gang.priority, gang.created, str(gang.key))


class OneByOne:
    """Places gang after gang; one that finds no place is passed over and waits."""

    scored = False

    def __init__(self, order: Order, rank: Rank = least_free) -> None:
        self._order = order
        self._rank = rank

    def decide(self, snapshot: Snapshot) -> Plan:
        """Place what finds room, in order."""
        factory = gang_groups_for(snapshot, NO_EXTENSIONS)
        state = CycleState(snapshot, factory.fabric)
        books = FreeBooks(state, Scorer(state), self._rank)
        nodes = factory.fabric.nodes
        placed = {}
        hopeless: set[Hashable] = set()
        batch = select_batch(snapshot).batch
        for gang in sorted(batch, key=lambda gang: self._order(snapshot, gang)):
            group = factory.of(gang)
            alike = _alike(group)
            if alike in hopeless:
                continue
            found = books.find(group)
            if found is not None:
                books.take(group, found)
                placed[gang.key] = [nodes[i].name for role in found for i in role]
            elif alike is not None:
                hopeless.add(alike)
        return plan_of(snapshot, placed)

    def start(self, snapshot: Snapshot, gang: Gang) -> Start:
        """When the gang could start, by placing it alone."""
        return earliest_start(Timeline(snapshot), gang, Alone(self.decide))

    def close(self) -> None:
        """Holds nothing."""


def _alike(group: GangGroup) -> Hashable | None:
    """The same for gangs of which none finds a place in a batch once one has found none.

    Room only shrinks while a batch is placed, and pods of one role find nodes wherever these
    have room for them. `None` where that does not hold.
    """
    if group.bound or len(group.kind.sizes) > 1:
        return None
    gang = group.gang
    return group.kind, group.candidates, gang.bandwidth, gang.key.namespace
