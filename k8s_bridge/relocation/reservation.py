"""Room kept for gangs that have waited for long, so that small ones cannot starve them.

Once a gang has waited for `backfill.afterSeconds`, the place where it can start first is kept
for it: pods that stand there may end in peace, but no new ones come, save gangs that are expected
to end before. So a gang waits at most for that long, and then for the longest of those who stand
on its place, and never overstay what they have declared.

Nothing is kept before a gang that comes first: while one of a higher priority waits without a
place of its own, no place is kept for lower ones. Nor is it kept for a gang that could not start on
it, or for a namespace that has kept more than its share idle; others come first after that, lower
ones too, as they do before a gang for which there is no place at all.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import structlog

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.relocation.ages import WaitingAges
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.contention import crowded_now
from fourleaf.k8s_bridge.relocation.evictions.ending_pods import MAKES_ROOM
from fourleaf.k8s_bridge.relocation.from_plan import reserving
from fourleaf.k8s_bridge.relocation.next_action import progress
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation
from fourleaf.k8s_bridge.relocation.reserved_seats import charged
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.k8s_bridge.relocation.tenants.kept_room import KeptRoom
from fourleaf.k8s_bridge.relocation.tenants.looks_in_vain import LooksInVain
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.async_solver import Planner
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Placement, Plan
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import Snapshot

RESERVATION_RETRY_SECONDS = 30.0
"""Seconds after which a gang for which there was no place to keep is tried again."""
HIGHEST_PRIORITY = 2**31
"""A priority above every priority: a gang that waits for others to end may wait for any of them."""
RESERVATION_SECONDS = 3600.0
"""Seconds after which a place is looked for anew: others may have become free by then."""


@dataclass(slots=True, eq=False)
class ReservationPlanner:
    """Reservations of one term, one for each priority. `end` ends a relocation early."""

    cache: ClusterCache
    store: RelocationStore
    planner: Planner
    clock: Clock
    end: Callable[[Relocation, str], Awaitable[None]]
    _room: KeptRoom = field(init=False)
    _tried: dict[GangKey, float] = field(default_factory=dict)
    _placeless: set[GangKey] = field(default_factory=set)
    """Those for which there was no place when last looked at, even without those of lower ones."""
    _in_vain: LooksInVain = field(init=False)
    _waited: WaitingAges = field(init=False)
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def __post_init__(self) -> None:
        self._room = KeptRoom(self.cache, self.clock)
        self._in_vain = LooksInVain(self.clock)
        self._waited = WaitingAges(self.clock)

    async def plan(self, view: ClusterView, last: Plan) -> None:
        """Keep a place for the first gang that waits, once it has waited too long.

        Where none is kept for it yet, those of lower ones make way. Raises `Fenced` where another
        leads by now.
        """
        config = self.cache.config.spec.backfill
        self._waited.look(view.gangs.values(), view.now)
        crowded = crowded_now(last, view, ())
        await self._end_unfair(view, crowded, config.after_seconds)
        waiting = [gang for gang in crowded if gang.key not in self.store]
        if not config.enabled or not waiting:
            return
        gang = self._next(waiting, config.after_seconds)
        if gang is None:
            return
        self._tried[gang.key] = self.clock.monotonic() + RESERVATION_RETRY_SECONDS
        lower = self._below(gang)
        others = replace(view, open=tuple(x for x in view.open if x not in lower))
        one = await self._look(gang, others)
        if one is None:
            self._placeless.add(gang.key)
            self._in_vain.note(gang.key)
            return
        self._placeless.discard(gang.key)
        for kept in lower:
            await self.end(kept, "a gang of a higher priority comes first")
        if self._below(gang):
            return
        if not self._may_have_one(gang, config.after_seconds):
            # It was asked for room that was kept for lower ones alone.
            del self._tried[gang.key]
        elif await self.store.put(one):
            self._room.begun(gang.key.namespace, config.after_seconds)

    async def end_unwanted(self) -> None:
        """Keep no place any longer where the config wants none. Raises `Fenced`."""
        if self.cache.config.spec.backfill.enabled:
            return
        for one in [one for one in self.store if one.purpose is Purpose.RESERVATION]:
            await self.end(one, "backfill.enabled is false")

    async def _look(self, gang: Gang, view: ClusterView) -> Relocation | None:
        """What would keep a place for `gang`, None where there is none."""
        standing = tuple(self.cache.standing(view.dead, everyone=True))
        snapshot = replace(charged(view.reading.snapshot, view), standing=standing)
        start = await self.planner.earliest(snapshot, gang.key)
        placement, starts = start.placement, start.at
        if placement is None:
            placement = await self._where_fewest_stand(snapshot, gang, standing)
        one = (
            reserving(placement, gang, starts or 0.0, view, RESERVATION_SECONDS)
            if placement
            else None
        )
        self._log.info("reserved", gang=str(gang.key), starts=starts, place=one is not None)
        return one

    def ended(self, one: Relocation, why: str) -> None:
        """A relocation has ended; `why` it ended early, "" where it has served."""
        if one.purpose is Purpose.RESERVATION:
            self._room.ended(one, why)

    async def _end_unfair(self, view: ClusterView, crowded: Sequence[Gang], seconds: float) -> None:
        """Keep no place any longer that others have waited for too long."""
        kept = [one for one in view.open if one.purpose is Purpose.RESERVATION]
        free = [one.gang for one in kept if progress(one, view).placed is not None]
        self._room.look(view, crowded, free)
        for one in kept:
            if why := self._room.why_over(one, seconds, view.now):
                await self.end(one, why)

    async def _where_fewest_stand(
        self, snapshot: Snapshot, gang: Gang, standing: Iterable[StandingGang]
    ) -> Placement | None:
        """The place on which the fewest gangs stand, where it is not known when they will end."""
        first = replace(gang, priority=HIGHEST_PRIORITY)
        question = replace(snapshot, gangs=(first,), standing=tuple(standing))
        return (await self.planner.preempt(question, gang.key)).placement

    def _kept(self) -> list[Relocation]:
        return [one for one in self.store if one.purpose is Purpose.RESERVATION]

    def _below(self, gang: Gang) -> list[Relocation]:
        """The places that are kept for gangs of a lower priority."""
        return [one for one in self._kept() if one.priority < gang.priority]

    def _next(self, waiting: Sequence[Gang], after: float) -> Gang | None:
        """The gang to look at: the first one of the namespace that had its turn longest ago.

        That was when it left a place unused, or when none could be kept for a gang of it: however
        many of these it has, those of other namespaces wait for one of them alone.
        """
        now = self.clock.monotonic()
        self._tried = {gang: at for gang, at in self._tried.items() if at > now}
        self._placeless &= {gang.key for gang in waiting}
        awake = [gang for gang in waiting if not self._room.rests(gang.key.namespace, after)]
        lowest = next((gang.priority for gang in awake if self._comes_first(gang)), -math.inf)
        least = min((one.priority for one in self._kept()), default=HIGHEST_PRIORITY)
        found = [
            gang
            for gang in awake
            if gang.priority >= lowest
            and gang.key not in self._tried
            and self.store.may_write(gang.key)
            and (gang.priority > least or self._may_have_one(gang, after))
        ]
        return min(found, key=self._turn, default=None)

    def _may_have_one(self, gang: Gang, after: float) -> bool:
        """Whether it has waited for so many seconds, and none of its priority has a place.

        Room of pods that end anyway is kept for moments, for gangs that have their turn by that.
        """
        is_old = self._waited.of(gang) >= after
        others = (one for one in self._kept() if one.why != MAKES_ROOM)
        return is_old and all(one.priority != gang.priority for one in others)

    def _comes_first(self, gang: Gang) -> bool:
        """Whether lower ones wait for it: it may have a place, for all that is known.

        Of a namespace for which there was none just now, gangs that have yet to be looked at keep
        no lower one waiting: it may have any number of these, and more of them all the time.
        """
        just_now = self.clock.monotonic() - RESERVATION_RETRY_SECONDS
        in_vain = self._in_vain.in_namespace(gang.key.namespace)
        return gang.key not in self._placeless and in_vain <= just_now

    def _turn(self, gang: Gang) -> tuple[float, float]:
        """When its namespace had its last turn, and when it had its own that came to nothing."""
        name = gang.key.namespace
        last = max(self._room.left_unused(name), self._in_vain.in_namespace(name))
        return last, self._in_vain.at(gang.key)
