"""Whether a gang could stand elsewhere, beside all the others of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.cross_gang_laws import room_breaches, taken_by, uplink_breaches
from fourleaf.model.validator.devices import device_breaches
from fourleaf.model.validator.facts import facts_of
from fourleaf.model.validator.member_tally import Placed, stand
from fourleaf.model.validator.phantoms import phantom_breaches
from fourleaf.model.validator.recompute import NOTHING
from fourleaf.model.validator.seats import seat_breaches


class OtherPlaces:
    """All gangs of a plan on their places."""

    def __init__(self, snapshot: Snapshot, plan: Plan, extensions: Extensions = NOTHING) -> None:
        self._snapshot = snapshot
        self._plan = plan
        self._extensions = extensions
        gangs = {gang.key: gang for gang in snapshot.gangs}
        self._placed = [self._at(gangs[p.gang], p.pods) for p in plan.placements if p.gang in gangs]

    def _at(self, gang: Gang, pods: Sequence[tuple[str, str]]) -> Placed:
        snapshot = self._snapshot
        locations = facts_of(snapshot.fabric).of_gang(snapshot.config.spec, gang, self._extensions)
        return Placed(gang, stand(snapshot.fabric, gang, pods), locations)

    def takers(self, gang: Gang, pods: Sequence[tuple[str, str]]) -> tuple[GangKey, ...]:
        """Who of the plan leaves `gang` no room on the nodes of `pods`, sorted; none: it fits.

        `pods` are (pod, node) of its unbound members. Room, devices and uplinks count.
        """
        snapshot = self._snapshot
        here = self._at(gang, pods)
        others = [one for one in self._placed if one.gang.key != gang.key]
        near = [one for one in others if here.standing.leaves.keys() & one.standing.leaves.keys()]
        both = [*near, here]
        short = {breach.subject for breach in room_breaches(snapshot, taken_by(both))}
        short |= {breach.subject for breach in device_breaches(snapshot, both)}
        short &= here.standing.hosts.keys()
        crowded = {breach.subject for breach in uplink_breaches(snapshot, [*others, here])}
        leaves = snapshot.fabric.leaves
        full = {leaf for leaf in here.standing.leaves if leaves[leaf].name in crowded}
        found = [
            one.gang.key
            for one in near
            if short & one.standing.hosts.keys()
            or (one.standing.spans() and full & one.standing.leaves.keys())
        ]
        return tuple(sorted(found))

    def forbids(self, gang: Gang, pods: Sequence[tuple[str, str]]) -> bool:
        """Whether the leaf rule or the eligibility of nodes keep `gang` off the nodes of `pods`."""
        return any(seat_breaches(self._snapshot.fabric, self._at(gang, pods)))

    def spoils_room(self, gang: Gang, pods: Sequence[tuple[str, str]]) -> bool:
        """Whether `gang` on the nodes of `pods` leaves some likely gang of the plan no room."""
        snapshot, plan = self._snapshot, self._plan
        touched = {node for _, node in pods}
        phantoms = tuple(one for one in plan.phantoms if touched & set(one.hosts))
        others = [one for one in self._placed if one.gang.key != gang.key]
        taken = taken_by([*others, self._at(gang, pods)])
        facts = facts_of(snapshot.fabric)
        return any(phantom_breaches(snapshot, replace(plan, phantoms=phantoms), facts, taken))
