"""Gangs that have lost members, and live on as a whole alone, where lower ones stand.

Lower ones make room as for a gang that waits, and their places are kept; the repair of the gang
moves it once all of these are free. None goes where that repair would not follow.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.evictions.drain_marks import draining
from fourleaf.k8s_bridge.relocation.evictions.lasting_jobs import lasting_jobs
from fourleaf.k8s_bridge.relocation.evictions.limits import eviction_limits
from fourleaf.k8s_bridge.relocation.evictions.trials import EvictionTrials
from fourleaf.k8s_bridge.relocation.from_plan import repairs
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.async_solver import Planner
from fourleaf.k8s_bridge.scheduling.gang_kind import in_itself
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.reasons.kinds import Reason
from fourleaf.model.relocation import PreemptionPlan
from fourleaf.model.running_gang import RepairPolicy, StandingGang
from fourleaf.model.snapshot import Snapshot

FORGOTTEN_SECONDS = 10.0
"""Seconds without a look after which it is not known any more since when gangs are so."""
UNREPAIRED_SECONDS = 60.0
"""Seconds for which room that is free is kept for a gang that nothing can be moved to it for."""


@dataclass(slots=True, eq=False)
class WholeGangs:
    """Which gangs are so, and since when, in one term."""

    cache: ClusterCache
    store: RelocationStore
    planner: Planner
    clock: Clock
    evictions: EvictionTrials
    _since: dict[GangKey, float] = field(default_factory=dict)
    """When a gang was first seen so, on the monotonic clock."""
    _moving: set[GangKey] = field(default_factory=set)
    """Those for which room was made, and whose repair is under way."""
    _looked: float = -math.inf
    _unrepaired: dict[GangKey, float] = field(default_factory=dict)
    """When their room was first seen free and they beyond repair, on the monotonic clock."""

    def look(
        self, view: ClusterView, stranded: Container[GangKey], busy: Container[GangKey]
    ) -> Mapping[GangKey, StandingGang]:
        """Those of the gangs `stranded` that may go anywhere as a whole, as they stand now.

        Not those that are `busy` being bound, or that have a relocation which is under way.
        """
        found = {key: one for key, one in self._standing(view).items() if key in stranded}
        may = {
            key: one
            for key, one in found.items()
            if key not in busy and one.policy is RepairPolicy.MOVE and self._is_free(key, view)
        }
        now, looked, self._looked = self.clock.monotonic(), self._looked, self.clock.monotonic()
        # There is no look where no gang lacks members.
        since = self._since if now - looked < FORGOTTEN_SECONDS else {}
        self._since = {key: since.get(key, now) for key in may}
        return may

    def waited(self, gang: GangKey) -> float:
        """Seconds for which a gang has been so."""
        now = self.clock.monotonic()
        return now - self._since.get(gang, math.inf)

    def was_in_vain(self, one: Relocation, why: str, is_untold: bool) -> bool:
        """Whether pods went for a gang that has not moved to their places, as `one` has ended.

        `why` it ended early, "" where it served; `is_untold`: no pod has gone for it.
        """
        if one.makes_room_to_move and not why:
            self._moving.add(one.gang)
            return False
        is_repair = one.purpose is Purpose.REPAIR and one.gang in self._moving
        if is_repair:
            self._moving.discard(one.gang)
        return bool(why) and (is_repair or (one.makes_room_to_move and not is_untold))

    def in_vain(
        self, view: ClusterView, lost: Mapping[GangKey, Reason]
    ) -> Sequence[tuple[Relocation, Reason]]:
        """Whose room others could have, and why: for a while no repair has been possible there.

        `lost` are all gangs that have none now, and why.
        """
        now = self.clock.monotonic()
        made = [one for one in view.open if one.gang in lost and view.room_is_made(one)]
        self._unrepaired = {one.gang: self._unrepaired.get(one.gang, now) for one in made}
        return [
            (one, lost[one.gang])
            for one in made
            if now - self._unrepaired[one.gang] >= UNREPAIRED_SECONDS
        ]

    def is_unchanged(self, one: StandingGang, view: ClusterView) -> bool:
        """Whether the same members of a gang live and are lost now."""
        now = self._standing(view).get(one.gang.key)
        return now is not None and in_itself(now.gang) == in_itself(one.gang)

    async def repair(
        self, plan: PreemptionPlan, one: StandingGang, asked: Snapshot, view: ClusterView
    ) -> Relocation | None:
        """The repair of a gang once the victims of `plan` have gone; None where there is none.

        What forbids to evict members of its own forbids it then as now.
        """
        gone = {(victim.gang.namespace, pod) for victim in plan.victims for pod, _ in victim.pods}
        jobs = list(lasting_jobs(view, one.members))
        limits = eviction_limits(view, [one], self.evictions, jobs, unanswered=True)
        running = (pod for pod in asked.running if (pod.namespace, pod.name) not in gone)
        later = replace(asked, running=tuple(running), standing=(one,), eviction_limits=limits)
        found = await self.planner.repair(later)
        return next(repairs(found, [one], view, 0.0), None)

    def _standing(self, view: ClusterView) -> dict[GangKey, StandingGang]:
        found = self.cache.standing(view.dead | draining(self.cache))
        return {one.gang.key: one for one in found if one.hit}

    def _is_free(self, gang: GangKey, view: ClusterView) -> bool:
        """Whether it has no relocation under way, nor waits for other things than room."""
        kept, waiting = self.store.of(gang), view.gangs.get(gang)
        is_reserved = kept is not None and kept.purpose is Purpose.RESERVATION
        return (kept is None or is_reserved) and (waiting is None or waiting.hold is None)


def as_whole(snapshot: Snapshot, one: StandingGang) -> Snapshot:
    """`snapshot`, in which all members of a gang that stands wait, and hold nothing."""
    members = frozenset(one.members)
    others = (gang for gang in snapshot.gangs if gang.key != one.gang.key)
    running = (pod for pod in snapshot.running if (pod.namespace, pod.name) not in members)
    return replace(snapshot, gangs=(*others, whole(one.gang)), running=tuple(running))


def whole(gang: Gang) -> Gang:
    """The gang as if no member were placed."""
    roles = tuple(
        replace(role, pods=(*(pod for pod, _ in role.bound), *role.pods), bound=())
        for role in gang.roles
    )
    return replace(gang, roles=roles, hold=None)
