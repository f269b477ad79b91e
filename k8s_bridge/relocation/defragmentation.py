"""When running gangs are moved together so that others may start, and how much of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import structlog

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.ledger.binding_trials import BindingTrials, StillAsked
from fourleaf.k8s_bridge.ledger.compaction import being_bound
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.entangled import entangled
from fourleaf.k8s_bridge.relocation.evictions.limits import eviction_limits
from fourleaf.k8s_bridge.relocation.evictions.trials import EvictionTrials
from fourleaf.k8s_bridge.relocation.from_plan import comers, moved, starting
from fourleaf.k8s_bridge.relocation.move_budget import MoveBudget
from fourleaf.k8s_bridge.relocation.pod_makers import is_any_bare
from fourleaf.k8s_bridge.relocation.record_room import RecordRoom
from fourleaf.k8s_bridge.relocation.records import UNWRITTEN, Purpose, Relocation
from fourleaf.k8s_bridge.relocation.reserved_seats import charged
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.k8s_bridge.relocation.tenants.caused_evictions import CausedEvictions
from fourleaf.k8s_bridge.relocation.tenants.move_costs import scaled
from fourleaf.k8s_bridge.relocation.tenants.moved_for import moved_for
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.async_solver import Planner
from fourleaf.k8s_bridge.scheduling.gang_kind import in_itself
from fourleaf.model.config.relocation import Defragmentation
from fourleaf.model.gang import GangKey
from fourleaf.model.relocation import Budget, DefragPlan
from fourleaf.model.running_gang import StandingGang

REQUEST_VALID_SECONDS = 60.0
"""Seconds for which a request counts: a later leader must not heed it once more."""

MOST_LEFT_OUT = 3
"""Plans of one defragmentation at most, each without namespaces that gain too much by the last."""

UNBINDABLE_SECONDS = 600.0
"""Seconds for which no pod moves so that a gang starts that the API would not bind."""

REFUSED_PLANS = 10
"""Plans of one defragmentation at most, where pods of each may not go."""


@dataclass(slots=True, eq=False)
class DefragmentationPlanner:
    """Defragmentation in one term, within budgets that outlast it.

    `end` ends a relocation early, `asked_at` returns when moves were asked for, or "".
    """

    cache: ClusterCache
    store: RelocationStore
    planner: Planner
    clock: Clock
    end: Callable[[Relocation, str], Awaitable[None]]
    evictions: EvictionTrials
    moves: MoveBudget
    caused: CausedEvictions
    asked_at: Callable[[], str] | None = None
    trials: BindingTrials | None = None
    _unbindable: dict[GangKey, float] = field(default_factory=dict)
    """Until when nothing moves for a gang, on the monotonic clock."""
    _unanswered: frozenset[GangKey] = frozenset()
    _heeded: str = ""
    _is_asked: bool = False
    _asking: tuple[str, ...] = ()
    _refused_plans: int = 0
    _again: bool = False
    _last: float = field(init=False)
    _room: RecordRoom = field(init=False)
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def __post_init__(self) -> None:
        self._last = self.clock.monotonic()
        self._room = RecordRoom(self.store)

    async def plan(self, view: ClusterView) -> DefragPlan | None:
        """Move what is worth it within the budgets; None where there is nothing to decide.

        What `view` has open are reservations alone, which end for the gangs that the moves help.
        `moves` have been loaded.
        Raises `Fenced` where another leads by now.
        """
        config = self.cache.config.spec.defragmentation
        left = config.moves_per_hour - self.moves.pods_in_an_hour(view.now)
        standing = tuple(
            one
            for one in self.cache.standing(view.dead)
            if one.movable
            and not one.hit
            and not is_any_bare(one.live, self.cache)
            and not self._room.forbids(one)
            and self._may_move(one, config, view.now)
        )
        if left <= 0 or not standing:
            return None
        found = await self._within_limits(view, standing, Budget(left))
        if found is None:
            return None
        plan, drafts = found
        if self._room.lacking(drafts, standing):
            return plan
        others = tuple(one for one in view.open if one.gang not in _started(plan))
        if waiting := entangled(drafts, replace(view, open=others)):
            # Moves serve only together, and these would wait for each other.
            self._log.info("relocations_entangled", gangs=[str(one) for one in sorted(waiting)])
            return plan
        if not await self._may_start(plan, view):
            return plan
        try:
            refused = await self.evictions.refusals(drafts)
        except StillAsked:
            self._asking = tuple(leaver.pod.uid for one in drafts for leaver in one.leavers)
            return plan
        if refused or self._have_changed(plan, view):
            # Moves serve only together, so others are looked for: among the pods that may go, and
            # for gangs as they are by now.
            self._plan_again()
            return plan
        self._refused_plans = 0
        if drafts and await self._begin(plan, drafts, view):
            await self.moves.note({one.gang: len(one.leavers) for one in drafts}, view.now)
            self.caused.begun(self._caused_by(plan, drafts, view), view.now)
        self._log.info("defragmentation_planned", moves=len(plan.moves), status=plan.status.value)
        return plan

    async def _begin(
        self, plan: DefragPlan, drafts: Sequence[Relocation], view: ClusterView
    ) -> bool:
        """Write moves down, and the places of gangs that start by them; whether all of it stands.

        Moves serve only together, so none has a pod evicted where one of them is not written.
        """
        held = await self.store.put_all(drafts)
        is_whole = self._are_written(held, len(drafts))
        if is_whole:
            for one in view.open:
                if one.gang in _started(plan):
                    await self.end(one, "others move, so that it starts sooner")
            seconds = self.cache.config.spec.repair.places_seconds
            starts = tuple(starting(plan, view.gangs, view, seconds))
            held += await self.store.put_all(starts)
            is_whole = self._are_written(held, len(drafts) + len(starts))
        for one in () if is_whole else held:
            await self.end(one, UNWRITTEN)
        return is_whole

    def _are_written(self, held: Sequence[Relocation], number: int) -> bool:
        """Whether so many hold, and none of them is only on its way."""
        return len(held) == number and all(self.store.is_written(one.gang) for one in held)

    async def _may_start(self, plan: DefragPlan, view: ClusterView) -> bool:
        """Whether the API would bind the gangs that start by the moves; else others are planned."""
        refused = []
        for one in starting(plan, view.gangs, view, 0.0) if self.trials else ():
            try:
                if self.trials and await self.trials.refusal(one.gang, comers(one), ask=True):
                    refused.append(one.gang)
            except StillAsked:
                self._unanswered = frozenset([one.gang])
                self._plan_again()
                return False
        until = self.clock.monotonic() + UNBINDABLE_SECONDS
        self._unbindable |= dict.fromkeys(refused, until)
        if refused:
            self._plan_again()
        return not refused

    def _plan_again(self) -> None:
        """Look for other moves at once, so many times."""
        self._refused_plans += 1
        self._again = self._refused_plans < REFUSED_PLANS

    def _have_changed(self, plan: DefragPlan, view: ClusterView) -> bool:
        """Whether a gang that is to start does so by now, is gone, or another than was planned."""
        now = self.cache.reading().snapshot.gangs_by_key
        bound = being_bound(self.store.ledger, self.cache)
        return any(
            gang in bound or gang not in now or in_itself(now[gang]) != in_itself(view.gangs[gang])
            for gang in _started(plan)
        )

    async def _within_limits(
        self, view: ClusterView, standing: tuple[StandingGang, ...], budget: Budget
    ) -> tuple[DefragPlan, list[Relocation]] | None:
        """Moves by which no namespace gains more than it may cause; None where there are none.

        A namespace that would is left out of the next plan, and the others gain without it.
        """
        seconds = self.cache.config.spec.repair.places_seconds
        why = "it moves so that others find room together"
        gangs = view.reading.snapshot.gangs
        spaces = {gang.key.namespace for gang in gangs}
        out: set[str] = set()
        for _ in range(MOST_LEFT_OUT):
            if gangs and spaces <= out:
                return None
            plan = await self._solved(view, standing, budget, out)
            drafts = list(moved(plan.moves, standing, Purpose.DEFRAGMENTATION, why, view, seconds))
            caused = self._caused_by(plan, drafts, view)
            left = {space: self.caused.left(space, view) for space in caused}
            over = {
                space for space, most in left.items() if most is not None and most < caused[space]
            }
            if not over:
                return plan, drafts
            out |= over
        return None

    def _caused_by(
        self, plan: DefragPlan, drafts: Sequence[Relocation], view: ClusterView
    ) -> Counter[str]:
        """Pods of others that move for the gangs of each namespace that start."""
        starts = list(starting(plan, view.gangs, view, 0.0))
        movers = frozenset(one.gang for one in drafts)
        return moved_for([*drafts, *starts], _started(plan), movers)

    async def _solved(
        self,
        view: ClusterView,
        standing: tuple[StandingGang, ...],
        budget: Budget,
        out: Container[str],
    ) -> DefragPlan:
        """Moves that let all gangs with reserved places start, else none onto these.

        Gangs of the namespaces `out`, and those that the API would not bind, gain nothing.
        """
        at = self.clock.monotonic()
        self._unbindable = {gang: until for gang, until in self._unbindable.items() if until > at}
        limits = eviction_limits(view, standing, self.evictions)
        now = view.reading.snapshot
        gangs = tuple(
            gang
            for gang in now.gangs
            if gang.key.namespace not in out and gang.key not in self._unbindable
        )
        snapshot = replace(now, standing=scaled(standing), eviction_limits=limits, gangs=gangs)
        plan = await self.planner.defragment(snapshot, budget)
        if {one.gang for one in view.open} <= _started(plan):
            return plan
        return await self.planner.defragment(charged(snapshot, view), budget)

    def hear(self) -> None:
        """Take note of a request: what is under way when it comes may outlast it."""
        asked = self.asked_at() if self.asked_at else ""
        if asked and asked != self._heeded:
            self._heeded = asked
            self._is_asked |= _age(asked, self.clock.wall()) < REQUEST_VALID_SECONDS

    def is_time(self) -> bool:
        """Whether a defragmentation is due, or was asked for; says so once."""
        config = self.cache.config.spec.defragmentation
        if self._asking:
            if self.evictions.is_asked(self._asking):
                return False
            # What the API said late is there: it is planned once more.
            self._asking = ()
            return True
        if self._again:
            if self.trials and not self._unanswered.isdisjoint(self.trials.pending()):
                return False
            self._unanswered = frozenset()
            self._again = False
            return True
        self._refused_plans = 0
        now = self.clock.monotonic()
        if self._is_asked:
            self._is_asked = False
            return True
        if not config.every_seconds or now < self._last + config.every_seconds:
            return False
        self._last = now
        return True

    def _may_move(self, one: StandingGang, config: Defragmentation, now: float) -> bool:
        times = self.moves.times_in_a_day(one.gang.key, now)
        ran = now - one.started
        return times < config.per_gang_per_day and ran >= config.minimum_runtime_seconds


def _started(plan: DefragPlan) -> set[GangKey]:
    return {placement.gang for placement in plan.placements}


def _age(asked: str, now: float) -> float:
    """Seconds since `asked`, in RFC 3339; for ever where it makes no sense."""
    try:
        moment = datetime.fromisoformat(asked)
    except ValueError:
        return float("inf")
    return abs(now - moment.astimezone(UTC).timestamp())
