"""When gangs are to be repaired, and on what terms: one solve for all that were hit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.ledger.binding_trials import BindingTrials, StillAsked
from fourleaf.k8s_bridge.ledger.compaction import being_bound
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.contention import STUCK_REASONS
from fourleaf.k8s_bridge.relocation.entangled import entangled
from fourleaf.k8s_bridge.relocation.evictions.drain_marks import draining
from fourleaf.k8s_bridge.relocation.evictions.lasting_jobs import lasting_jobs
from fourleaf.k8s_bridge.relocation.evictions.limits import LimitsByPod, eviction_limits
from fourleaf.k8s_bridge.relocation.evictions.trials import EvictionTrials
from fourleaf.k8s_bridge.relocation.evictions.unrepaired import (
    BARE,
    ENTANGLED,
    FOR_ROOM,
    LARGE,
    WAITS,
    with_limits,
)
from fourleaf.k8s_bridge.relocation.from_plan import comers, repairs
from fourleaf.k8s_bridge.relocation.independent import independent
from fourleaf.k8s_bridge.relocation.observer import RelocationObserver
from fourleaf.k8s_bridge.relocation.pod_makers import is_any_bare
from fourleaf.k8s_bridge.relocation.record_room import RecordRoom
from fourleaf.k8s_bridge.relocation.records import UNWRITTEN, Purpose, Relocation
from fourleaf.k8s_bridge.relocation.reserved_seats import charged, placements
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.k8s_bridge.relocation.tenants.caused_evictions import CausedEvictions
from fourleaf.k8s_bridge.relocation.tenants.move_costs import scaled
from fourleaf.k8s_bridge.relocation.tenants.moved_for import moved_for
from fourleaf.k8s_bridge.runtime.api_text import reason_text
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.async_solver import Planner
from fourleaf.k8s_bridge.scheduling.freed_room import changes
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.relocation import RepairPlan
from fourleaf.model.running_gang import RepairPolicy, StandingGang, forbidden_by
from fourleaf.model.snapshot import Snapshot

ENTANGLED_SECONDS = 60.0
"""For which a gang that would wait for those that wait for it stays where it is."""

REPAIR_CHECK_SECONDS = 1.0
"""Seconds between two looks."""

REFUSED_MEMBERS_SECONDS = 60.0
"""Seconds for which no pod moves for lost members that wait and that the API would not bind."""

REPAIR_RETRY_SECONDS = 5.0
"""Seconds after which a gang that could not be repaired is tried again."""


@dataclass(slots=True, eq=False)
class RepairPlanner:
    """Repairs of one term. `end` ends a relocation early.

    `lost` are the gangs that no place was found for, and why.
    """

    cache: ClusterCache
    store: RelocationStore
    planner: Planner
    clock: Clock
    observer: RelocationObserver
    evictions: EvictionTrials
    caused: CausedEvictions
    end: Callable[[Relocation, str], Awaitable[None]]
    over: Callable[[Relocation, str], None]
    trials: BindingTrials | None = None
    lost: dict[GangKey, Reason] = field(default_factory=dict)
    _room: RecordRoom = field(init=False)
    _drained: frozenset[GangKey] = frozenset()
    """Those of them that have all of their members, of which some are to leave their nodes."""
    _tried: dict[GangKey, float] = field(default_factory=dict)
    _stays: dict[GangKey, float] = field(default_factory=dict)
    """Until when a gang is not moved for others, on the monotonic clock."""
    _next: float = 0.0
    _planned_on: Snapshot | None = None
    """What the last plan knew of."""
    _fruitless: Snapshot | None = None
    """What was asked last, where nothing could be done: the same question has the same answer."""
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def __post_init__(self) -> None:
        self._room = RecordRoom(self.store)

    @property
    def unrepaired(self) -> int:
        """How many gangs lack members and have no repair."""
        return len(self.lost.keys() - self._drained)

    @property
    def stranded(self) -> frozenset[GangKey]:
        """Gangs that lack members, and that nothing but others keeps from a repair."""
        return frozenset(
            gang
            for gang, reason in self.lost.items()
            if reason.kind in STUCK_REASONS and reason is not ENTANGLED
        ).difference(self._drained)

    def none_is_hit(self) -> None:
        """No gang lacks a member for a node that is lost or emptied, or waits beside its others."""
        self.lost.clear()

    def is_due(self) -> bool:
        """Whether it is time to look who is hit: to know all who stand takes a while."""
        return self.clock.monotonic() >= self._next

    def hasten(self, snapshot: Snapshot) -> bool:
        """Try those again at once that found no place, where room has come; whether it has."""
        before = self._planned_on
        kinds = {reason.kind for reason in self.lost.values()}
        if before is None or not kinds & FOR_ROOM:
            return False
        ended, _ = changes(before.running, snapshot.running)
        if not ended and snapshot.fabric is before.fabric:
            return False
        # Once for what has come, whatever becomes of it.
        self._planned_on = snapshot
        self._next = self.clock.monotonic()
        for gang in self.lost:
            self._tried.pop(gang, None)
        return True

    async def plan(
        self, view: ClusterView, busy: frozenset[GangKey], stuck: frozenset[GangKey]
    ) -> RepairPlan | None:
        """Plan for all gangs that were hit and write the relocations; None where there is none.

        Gangs that are `busy` being bound are left alone. Those whose lost members have all come
        back are hit only where they are `stuck`: where no cycle finds them a place beside the
        others. Raises `Fenced` where another leads.
        """
        self._next = self.clock.monotonic() + REPAIR_CHECK_SECONDS
        config = self.cache.config.spec.repair
        leaving = view.dead | draining(self.cache)
        made = frozenset(one.gang for one in view.open if view.room_is_made(one))
        stuck |= made
        free = placements(view).keys() | made
        standing = [
            one
            for one in self.cache.standing(leaving)
            if one.gang.key not in busy and not self._is_served(one.gang.key, free)
        ]
        self._drained = frozenset(
            one.gang.key
            for one in standing
            if one.hit and one.gang.key not in view.gangs and not self._loses(one, view.dead)
        )
        jobs = list(lasting_jobs(view, (pod for one in standing for pod in one.members)))
        limits = eviction_limits(view, standing, self.evictions, jobs, unanswered=True)
        by_pod = LimitsByPod(limits)
        hit = [
            one
            for one in standing
            if one.hit
            and self._tried.get(one.gang.key, 0.0) <= self.clock.monotonic()
            and ((one.gang.key in stuck and are_back(one, view.gangs)) or self._loses(one, leaving))
            and not self._ends_bare_pods(one, view.dead)
            and not self._may_not_restart(one, by_pod)
            and not self._room.forbids(one)
        ]
        self._forget(standing)
        self.caused.forget(view)
        if not hit or not config.enabled:
            return None
        self._note_room(hit, view.reading.snapshot)
        at_fault = frozenset(one.gang.key for one in hit if not self._loses(one, leaving))
        hit = self._in_turn(hit, at_fault, view)
        now = {one.gang.key for one in hit}
        # What is reserved for it is its own to take.
        view = replace(view, open=tuple(one for one in view.open if one.gang not in now))
        planned = [
            replace(one, movable=False) if self._may_not_move(one) else one
            for one in standing
            if not one.hit or one.gang.key in now
        ]
        others = [one for one in planned if not one.hit]
        first = hit[0].gang.key
        own = self.caused.limits(first, others, (), view) if first in at_fault else ()
        charge = charged(view.reading.snapshot, view)
        snapshot = replace(charge, standing=scaled(planned), eviction_limits=(*limits, *own))
        if self._is_fruitless(snapshot, hit):
            due = self.clock.monotonic() + REPAIR_RETRY_SECONDS
            self._tried |= {one.gang.key: due for one in hit}
            return None
        plan = with_limits(await self.planner.repair(snapshot), own)
        whys = {one.gang: one.reason for one in plan.lost}
        for one in hit:
            if one.gang.key in at_fault:
                self.caused.waits(one.gang.key, whys.get(one.gang.key), own, view)
        drafts = list(repairs(plan, planned, view, config.places_seconds))
        self._fruitless = snapshot if plan.proven and not drafts else None
        lacking = self._room.lacking(drafts, planned)
        for one in planned:
            if one.hit and one.gang.key in lacking:
                why = f"{LARGE}: {lacking[one.gang.key]}"
                self._lose(one.gang, Reason(ReasonKind.TOO_LARGE, why))
        if lacking:
            return plan
        drafts = await self._without_needless(plan, snapshot, drafts, planned)
        if self._stay_for_a_while(entangled(drafts, view), hit):
            return plan
        if not await self._may_start(drafts, at_fault, hit):
            return plan
        # The next plan leaves pods where they are that may not go, or about which the API has not
        # answered yet: a webhook that hangs keeps no other gang from its repair.
        try:
            refused = await self.evictions.refusals(drafts)
        except StillAsked:
            self._next = self.clock.monotonic()
            return plan
        movers = frozenset(one.gang.key for one in others)
        taken = self._taken(drafts, view)
        if not refused and not taken:
            await self._begin(drafts, at_fault, movers, planned)
            self._note(plan, hit)
            return plan
        # What needs nothing of those that may not go is not kept waiting; the rest is planned anew.
        apart = independent(drafts, taken | {one.of.gang for one in refused}, planned)
        passed = [one for one in apart if not refused or self.evictions.passed(one)]
        await self._begin(passed, at_fault, movers, planned)
        self._next = self.clock.monotonic() if refused else self._next
        return plan

    def _note_room(self, hit: Sequence[StandingGang], now: Snapshot) -> None:
        """Room counts as come from `now` on, where all that wait for some are planned for."""
        for_room = {gang for gang, reason in self.lost.items() if reason.kind in FOR_ROOM}
        if for_room <= {one.gang.key for one in hit}:
            self._planned_on = now

    def _is_fruitless(self, asked: Snapshot, hit: Sequence[StandingGang]) -> bool:
        """Whether nothing can be done, as nothing has changed since it was so for all of `hit`."""
        last = self._fruitless
        return (
            last is not None
            and all(one.gang.key in self.lost for one in hit)
            and last.fabric is asked.fabric
            and last.config is asked.config
            and last.eviction_limits == asked.eviction_limits
            and not any(changes(last.running, asked.running))
            and last.standing == asked.standing
        )

    def _taken(self, drafts: Sequence[Relocation], view: ClusterView) -> frozenset[GangKey]:
        """The gangs of `drafts` that others have taken places of since, or that are being bound."""
        gangs = {one.gang for one in drafts}
        others = (one for one in self.store if one.gang not in gangs)
        now = replace(view, reading=self.cache.reading(), open=(*others, *drafts))
        bound = being_bound(self.store.ledger, self.cache)
        return frozenset(
            one.gang for one in drafts if one.gang in bound or not now.fits_in_the_end(one)
        )

    async def _without_needless(
        self,
        plan: RepairPlan,
        snapshot: Snapshot,
        drafts: list[Relocation],
        planned: Sequence[StandingGang],
    ) -> list[Relocation]:
        """`drafts` without those whose members may stay once pages that hang are written."""
        moving = {one.gang for one in drafts if any(not leaver.lost for leaver in one.leavers)}
        written = self.cache.once_written(snapshot) if moving else snapshot
        if written is snapshot:
            return drafts
        then = await self.planner.repair(written)
        spares = then.cost < plan.cost and len(then.lost) <= len(plan.lost)
        return independent(drafts, moving, planned) if spares else drafts

    def _is_served(self, gang: GangKey, free: Container[GangKey]) -> bool:
        """Whether a relocation is for it: a place that others have yet to leave is no repair.

        `free` are gangs whose places are so by now.
        """
        kept = self.store.of(gang)
        waits = kept is not None and kept.purpose is Purpose.RESERVATION and gang not in free
        is_made = kept is not None and kept.makes_room_to_move and gang in free
        return gang in self.store and not waits and not is_made

    def _stay_for_a_while(self, waiting: frozenset[GangKey], hit: list[StandingGang]) -> bool:
        """Let those that would wait for each other stay; whether another plan is to be made.

        It goes without moving those that may stay, and where none of these is among them, without
        those that have to go.
        """
        if not waiting:
            return False
        now = self.clock.monotonic()
        of_hit = {one.gang.key: one.gang for one in hit if one.gang.key in waiting}
        self._stays |= dict.fromkeys(waiting - of_hit.keys(), now + ENTANGLED_SECONDS)
        if of_hit.keys() == waiting:
            for key, gang in of_hit.items():
                self._tried[key] = now + REPAIR_RETRY_SECONDS
                self._lose(gang, ENTANGLED)
        self._next = now
        self._log.info("relocations_entangled", gangs=[str(one) for one in sorted(waiting)])
        return True

    async def _may_start(
        self, drafts: Sequence[Relocation], at_fault: frozenset[GangKey], hit: list[StandingGang]
    ) -> bool:
        """Whether the API would bind the members that wait, where pods that live move for them.

        Where not, the next plan is made at once, without their gangs.
        """
        if not any(not leaver.lost for one in drafts for leaver in one.leavers):
            return True
        gangs, now = {one.gang.key: one.gang for one in hit}, self.clock.monotonic()
        tried = dict[GangKey, float]()
        for one in drafts:
            if self.trials is None or one.gang not in at_fault or not comers(one):
                continue
            try:
                why = await self.trials.refusal(one.gang, comers(one), ask=True)
            except StillAsked:
                tried[one.gang] = now + REPAIR_RETRY_SECONDS
                continue
            if why:
                tried[one.gang] = now + REFUSED_MEMBERS_SECONDS
                self._lose(gangs[one.gang], Reason(ReasonKind.REFUSED, why))
        if tried:
            self._tried |= tried
            self._next = now
        return not tried

    async def _begin(
        self,
        drafts: Sequence[Relocation],
        at_fault: frozenset[GangKey],
        movers: frozenset[GangKey],
        planned: Sequence[StandingGang],
    ) -> None:
        """Write relocations down; the pods of others that go for gangs `at_fault` are charged.

        Those that need what could not be written, or is not yet, end before any pod of them has
        gone; what is not written yet stands where it needs no other.
        """
        made = list[Relocation]()
        for one in drafts:
            kept = self.store.of(one.gang)
            if kept is not None and kept.makes_room_to_move:
                made.append(kept)
            elif kept is not None:
                await self.end(kept, "its gang is repaired")
        # In place of the record that made its room, which is free at no moment.
        versions = {kept.gang: kept.version for kept in made}
        drafts = [replace(one, version=versions.get(one.gang, "")) for one in drafts]
        held = await self.store.put_all(drafts)
        for kept in made:
            if any(one.gang == kept.gang for one in held):
                self.over(kept, "")
        gangs = {one.gang for one in drafts}
        off = gangs - {one.gang for one in held if self.store.is_written(one.gang)}
        apart = {one.gang for one in independent(drafts, off, planned)}
        for one in held:
            if one.gang in off and independent(drafts, gangs - {one.gang}, planned):
                apart.add(one.gang)
            if one.gang not in apart:
                await self.end(one, UNWRITTEN)
        begun = [one for one in held if one.gang in apart]
        self.caused.begun(moved_for(begun, at_fault, movers), self.clock.wall())

    def _in_turn(
        self, hit: list[StandingGang], at_fault: frozenset[GangKey], view: ClusterView
    ) -> list[StandingGang]:
        """Those to plan for now: all that may have moved what they need, else one namespace.

        One that a place is reserved for comes after them and alone: no other is to take that place.
        """
        reserved = [one for one in hit if one.gang.key in self.store]
        if reserved and len(hit) > 1:
            self._next = self.clock.monotonic()
            hit = [one for one in hit if one.gang.key not in self.store] or reserved[:1]
        limited = {
            one.gang.key: one
            for one in hit
            if one.gang.key in at_fault
            and self.caused.left(one.gang.key.namespace, view) is not None
        }
        if not limited:
            return hit
        self._next = self.clock.monotonic()
        spaces = {gang.namespace for gang in list(limited)[:1]}
        free = [one for one in hit if one.gang.key not in limited]
        return free or [one for gang, one in limited.items() if gang.namespace in spaces]

    def _ends_bare_pods(self, one: StandingGang, dead: frozenset[str]) -> bool:
        """Whether a member that lives would have to go that no controller makes anew; says so."""
        namespace = one.gang.key.namespace
        go = ((namespace, pod) for role in one.gang.roles for pod in role.pods)
        if not is_any_bare(go, self.cache, dead):
            return False
        self._lose(one.gang, BARE)
        return True

    def _may_not_move(self, one: StandingGang) -> bool:
        """Whether a gang that was not hit has to stay where it is, although it may be moved."""
        bare = one.movable and not one.hit and is_any_bare(one.live, self.cache)
        stays = self._stays.get(one.gang.key, 0.0) > self.clock.monotonic()
        return bare or (stays and not one.hit) or self._room.forbids(one)

    def _may_not_restart(self, one: StandingGang, limits: LimitsByPod) -> bool:
        """Whether a gang that is to start over has pods that may not be evicted now; says so."""
        if one.policy is not RepairPolicy.RESTART or limits.may_go(one):
            return False
        self._lose(one.gang, forbidden_by(limits.of(one), must_go=True))
        return True

    def _loses(self, one: StandingGang, leaving: frozenset[str]) -> bool:
        """Whether a member stands on a node that is dead or to be emptied."""
        named = (
            self.cache.named(one.gang.key.namespace, pod)
            for role in one.gang.roles
            for pod in role.pods
        )
        return any(seen is not None and seen.node in leaving for seen in named)

    def _note(self, plan: RepairPlan, hit: list[StandingGang]) -> None:
        """Remember who was tried, and who cannot be helped for now."""
        due = self.clock.monotonic() + REPAIR_RETRY_SECONDS
        self._tried |= {one.gang.key: due for one in hit}
        gangs = {one.gang.key: one.gang for one in hit}
        for one in plan.lost:
            self._lose(gangs[one.gang], one.reason)
        for key in plan.waits:
            self._lose(gangs[key], WAITS)
        self._log.info(
            "repair_planned",
            hit=len(hit),
            placed=len(plan.placements),
            moves=len(plan.moves),
            lost=[str(one.gang) for one in plan.lost],
            status=plan.status.value,
            seconds=round(plan.seconds, 3),
        )

    def _lose(self, gang: Gang, reason: Reason) -> None:
        """Remember why a gang cannot be helped for now; report it where that is news."""
        if self.lost.get(gang.key) == reason:
            return
        self.lost[gang.key] = reason
        why = reason_text(reason)
        for role in gang.roles:
            for pod in role.pods:
                seen = self.cache.named(gang.key.namespace, pod)
                if seen is not None:
                    self.observer.stranded(gang.key, seen.pod, why)
                    return

    def _forget(self, standing: list[StandingGang]) -> None:
        still = {one.gang.key for one in standing if one.hit}
        self._tried = {gang: at for gang, at in self._tried.items() if gang in still}
        self.lost = {gang: why for gang, why in self.lost.items() if gang in still}
        now = self.clock.monotonic()
        self._stays = {gang: at for gang, at in self._stays.items() if at > now}


def are_back(one: StandingGang, waiting: Mapping[GangKey, Gang]) -> bool:
    """Whether a pod waits for each lost member: an owner may want fewer of them by now."""
    gang = waiting.get(one.gang.key)
    lost = sum(len(role.pods) for role in one.gang.roles)
    return gang is not None and sum(len(role.pods) for role in gang.roles) == lost
