"""When a gang may take the place of lower ones: after a while, beside others, not again soon."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.binding_trials import BindingTrials, StillAsked
from fourleaf.k8s_bridge.ledger.compaction import being_bound
from fourleaf.k8s_bridge.relocation.ages import WaitingAges
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.contention import beyond_quota, crowded_gangs, waiting_now
from fourleaf.k8s_bridge.relocation.evictions.ending_pods import EndingPods, RoomToCome
from fourleaf.k8s_bridge.relocation.evictions.forbidden_gangs import ForbiddenGangs
from fourleaf.k8s_bridge.relocation.evictions.limits import eviction_limits
from fourleaf.k8s_bridge.relocation.evictions.trials import EvictionTrials
from fourleaf.k8s_bridge.relocation.evictions.whole_gangs import WholeGangs, as_whole, whole
from fourleaf.k8s_bridge.relocation.from_plan import comers, making_room, preempting
from fourleaf.k8s_bridge.relocation.observer import RelocationObserver
from fourleaf.k8s_bridge.relocation.records import (
    SEAT_CLOSED,
    UNUSED,
    VICTIMS_STAY,
    Purpose,
    Relocation,
)
from fourleaf.k8s_bridge.relocation.reserved_seats import charged
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.k8s_bridge.relocation.tenants.brief_stays import BriefStays
from fourleaf.k8s_bridge.relocation.tenants.caused_evictions import CausedEvictions
from fourleaf.k8s_bridge.relocation.tenants.looks_in_vain import LooksInVain
from fourleaf.k8s_bridge.relocation.tenants.move_costs import scaled
from fourleaf.k8s_bridge.relocation.tenants.overstays import Overstays
from fourleaf.k8s_bridge.relocation.tenants.preemption_windows import PreemptionWindows
from fourleaf.k8s_bridge.runtime.api_text import reason_text, second
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.async_solver import Planner
from fourleaf.k8s_bridge.scheduling.gang_kind import in_itself
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.relocation import PreemptionPlan
from fourleaf.model.running_gang import PodName, StandingGang
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.instance.gang_classes import gang_order

UNTOLD_CHECK_SECONDS = 5.0
"""Seconds from one look to the next whether victims that the API keeps are needed still."""
UNBOUNDED_PRIORITY = 2**31
"""A priority above every priority."""
PREEMPTION_RETRY_SECONDS = 10.0
"""Seconds after which a gang is tried again for which no pod had to go, or could."""
REFUSED_RETRY_SECONDS = 60.0
"""Seconds after which a gang is tried again whose bindings the API would refuse."""
REFUSALS_IN_A_ROW = 3
"""Plans of one gang whose victims may not go, after which it is the next gang's turn."""
_FORBIDDEN = ReasonKind.EVICTIONS_FORBIDDEN
SEAT_HOLD_SECONDS = 600.0
"""Seconds for which the places of a gang are kept while its victims end."""


@dataclass(slots=True, eq=False)
class PreemptionPlanner:
    """Preemptions of one term. `end` ends a relocation early."""

    cache: ClusterCache
    store: RelocationStore
    planner: Planner
    clock: Clock
    observer: RelocationObserver
    evictions: EvictionTrials
    end: Callable[[Relocation, str], Awaitable[None]]
    overstays: Overstays
    caused: CausedEvictions
    trials: BindingTrials | None = None
    brief_stays: BriefStays = field(init=False)
    ending: EndingPods = field(init=False)
    _to_come: RoomToCome = field(init=False)
    _whole: WholeGangs = field(init=False)
    _forbidden: ForbiddenGangs = field(init=False)
    _windows: PreemptionWindows = field(init=False)
    _in_vain: LooksInVain = field(init=False)
    _waited: WaitingAges = field(init=False)
    _tried: dict[GangKey, float] = field(default_factory=dict)
    _looked_at: dict[GangKey, float] = field(default_factory=dict)
    _unanswered: set[GangKey] = field(default_factory=set)
    _refused: Counter[GangKey] = field(default_factory=Counter)
    _asking: dict[GangKey, tuple[str, ...]] = field(default_factory=dict)
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def __post_init__(self) -> None:
        self.brief_stays = BriefStays(self.cache, self.clock)
        self.ending = EndingPods(self.cache, self.clock)
        self._waited = WaitingAges(self.clock)
        self._to_come = RoomToCome(self.cache, self.store, self.planner, self.ending, self.end)
        shared = (self.cache, self.store, self.planner, self.clock)
        self._whole = WholeGangs(*shared, self.evictions)
        self._forbidden = ForbiddenGangs(self.clock)
        self._windows = PreemptionWindows(self.clock)
        self._in_vain = LooksInVain(self.clock)

    async def plan(
        self,
        view: ClusterView,
        last: Plan | None,
        busy: frozenset[GangKey],
        stranded: frozenset[GangKey] = frozenset(),
    ) -> PreemptionPlan | None:
        """Make room for the first gang that `last` left waiting and that may; None for none.

        For one that waits for the quota of its namespace, gangs of this alone make way. Those
        `stranded` have lost members and find no place: for them that is done as a whole.

        Gangs that are `busy` being bound wait no more, and are no victims: members that are on
        their way cannot be evicted, and would come to their nodes all the same. Raises `Fenced`
        where another leads.
        """
        config = self.cache.config.spec.preemption
        if not config.enabled:
            return None
        broken = self._whole.look(view, stranded, busy) if stranded else {}
        self._forget(view, view.gangs.keys() | broken.keys())
        self._waited.look(view.gangs.values(), view.now)
        waiting = self._waiting(view, last, config.after_seconds, busy, broken)
        self._tell_windows(waiting, view)
        gang = self._next(waiting)
        if gang is None:
            return None
        squatters = self.overstays.squatters(gang.key, view)
        if not squatters and (seconds := self.brief_stays.wait(gang.key, config.window_seconds)):
            self._tried[gang.key] = self.clock.monotonic() + seconds
            self._in_vain.note(gang.key)
            self._tell(gang, view, self.brief_stays.why(gang.key, config.window_seconds))
            return None
        # A place that is kept for it waits for pods that it may evict by now.
        view = replace(view, open=tuple(one for one in view.open if one.gang != gang.key))
        retry = min(PREEMPTION_RETRY_SECONDS, config.window_seconds)
        self._looked_at[gang.key] = self.clock.monotonic()
        self._tried[gang.key] = self.clock.monotonic() + retry
        going = _leaving(view)
        ending = self._to_come.pods(gang.key, view.dead) - going
        beyond = beyond_quota(last) if last else ()
        lower = [
            one
            for one in self.cache.standing(view.dead, everyone=True)
            if (_makes_way(one.gang, gang, gang.key in beyond) or one.gang.key in squatters)
            and not one.hit
            and one.gang.key not in self.store
            and one.gang.key not in busy
            and going.isdisjoint(one.live)
        ]
        needed = self.cache.needed(gang.key)
        kept = self.evictions.kept_in_spite(pod for one in lower for pod in one.live)
        limits = eviction_limits(view, lower, self.evictions, (*needed, *kept))
        own = self.caused.limits(gang.key, lower, squatters, view)
        limits = (*limits, *own)
        if not lower:
            self.caused.waits(gang.key, None, (), view)
        now_there = view.reading.snapshot
        places = frozenset((one.gang, one.opened) for one in view.open)
        if not lower or self._forbidden.knows(gang, lower, limits, now_there, places):
            self._in_vain.note(gang.key)
            return None
        charge, one = charged(view.reading.snapshot, view), broken.get(gang.key)
        standing = scaled(self.overstays.first(lower))
        # Where its own places do for the members that come anew, others make way for these alone.
        asked = [charge] if gang.key in view.gangs else []
        asked += [as_whole(charge, one)] if one is not None else []
        for question in asked:
            if await self._to_come.suffices(question, gang, going, ending, view):
                self._in_vain.note(gang.key)
                return None
            snapshot = replace(question, standing=standing, eviction_limits=limits)
            plan = await self.planner.preempt(snapshot, gang.key)
            is_forbidden = plan.reason is not None and plan.reason.kind is _FORBIDDEN
            if plan.placement is not None or is_forbidden:
                break
        if plan.reason is not None and plan.reason.kind is _FORBIDDEN:
            why = self._forbidden.note(gang, lower, limits, now_there, places, plan.reason)
            self._tell(gang, view, why)
        # One of which no pod waits is told nothing by a cycle.
        told = own if gang.key in view.gangs else ()
        self.caused.waits(gang.key, plan.reason, told, view)
        moved = one if question is not charge else None
        why = await self._begin(plan, gang, view, moved, charge)
        if not (gang.key in self.store or gang.key in self._asking or gang.key in self._unanswered):
            self._in_vain.note(gang.key)
        self._log.info(
            "preemption_planned",
            gang=str(gang.key),
            victims=[str(one.gang) for one in plan.victims],
            given_up=why,
            status=plan.status.value,
            seconds=round(plan.seconds, 3),
        )
        return plan

    def _to_question(self, view: ClusterView) -> Relocation | None:
        """A preemption none of whose victims has been told to go; each of them now and then."""
        latest = self.clock.monotonic() - UNTOLD_CHECK_SECONDS
        return next(
            (
                one
                for one in view.open
                if one.purpose is Purpose.PREEMPTION
                and one.gang in view.gangs
                and view.age(one) >= UNTOLD_CHECK_SECONDS
                and self._looked_at.get(one.gang, -math.inf) <= latest
                and view.is_untold(one)
            ),
            None,
        )

    async def end_needless(self, view: ClusterView, lost: Mapping[GangKey, Reason]) -> None:
        """End a preemption whose victims the API keeps, where room has come without them.

        And those whose room is of no use, as nothing repairs their gangs: `lost`, with the reason.
        """
        for vain, reason in self._whole.in_vain(view, lost):
            await self.end(vain, f"its gang cannot move there: {reason_text(reason)}")
        one = self._to_question(view)
        if one is None:
            return
        self._looked_at[one.gang] = self.clock.monotonic()
        others = replace(view, open=tuple(x for x in view.open if x is not one))
        snapshot = charged(view.reading.snapshot, others)
        if (await self.planner.preempt(snapshot, one.gang)).placement is not None:
            await self.end(one, "room has come without its victims")

    def ended(self, one: Relocation, why: str, is_untold: bool) -> None:
        """A relocation has ended; `why` it ended early, "" where it has served.

        Where none of its pods has been told to go, its gang has had nothing to wait for. Nor, once
        a window, where a node was closed for which pods went: the other places idle for nothing.
        """
        self.brief_stays.ended(one, why)
        self.caused.ended(one, self.clock.wall())
        unused = why in UNUSED and one.purpose is Purpose.PREEMPTION and not is_untold
        if self._whole.was_in_vain(one, why, is_untold) or unused:
            window = self.cache.config.spec.preemption.window_seconds
            self.brief_stays.was_in_vain(one.gang, window)
        if why == VICTIMS_STAY:
            self._windows.close(one.gang)
            self._tried.pop(one.gang, None)
        elif one.gang in self._tried and self._may_try_again(one, why, is_untold):
            self._windows.close(one.gang)
            again = self.clock.monotonic() + PREEMPTION_RETRY_SECONDS
            self._tried[one.gang] = min(self._tried[one.gang], again)

    def _may_try_again(self, one: Relocation, why: str, is_untold: bool) -> bool:
        if is_untold:
            return bool(why)
        return why.endswith(SEAT_CLOSED) and self._windows.may_reopen(one.gang)

    async def _begin(
        self,
        plan: PreemptionPlan,
        gang: Gang,
        view: ClusterView,
        moved: StandingGang | None,
        asked: Snapshot,
    ) -> str:
        """Write the relocation that `plan` asks for; why it is given up, "" where it is not.

        The plan for a gang that is to be `moved` as a whole was made of what is `asked`.
        """
        evicting = await self._drafts(plan, gang, view, moved, asked)
        if not plan.victims or not evicting:
            return ""
        relocation = evicting[0]
        if why := self.store.lacks_room(relocation):
            pod = relocation.seats[0].pod
            self.observer.unyielding(
                pod,
                f"{why}: it would have {len(relocation.leavers):,} pods go. To unblock: make the "
                "gang smaller, or wait until a gang ends",
            )
            return why
        try:
            why = await self._refusal(relocation)
        except StillAsked as error:
            self._unanswered.add(gang.key)
            return str(error)
        try:
            refused = [] if why else await self.evictions.refusals(evicting)
        except StillAsked as error:
            leavers = (leaver for one in evicting for leaver in one.leavers)
            self._asking[gang.key] = tuple(leaver.pod.uid for leaver in leavers)
            return str(error)
        if refused:
            # The next plan is made without these victims; at once, until others have had to wait
            # long enough.
            self._refused[gang.key] += 1
            if self._refused[gang.key] % REFUSALS_IN_A_ROW:
                self._tried.pop(gang.key, None)
            return refused[0].why
        self._refused.pop(gang.key, None)
        if not why and self._has_changed(gang, moved, view):
            # While it was planned, or asked about. Seats for another gang would serve none.
            self._tried.pop(gang.key, None)
            return "the gang has changed meanwhile"
        kept = None if why else self.store.of(gang.key)
        if kept is not None:
            await self.end(kept, "pods of lower priority make room for its gang")
        window = self.cache.config.spec.preemption.window_seconds
        if why:
            self._tried[gang.key] = self.clock.monotonic() + min(REFUSED_RETRY_SECONDS, window)
            self._tell(
                gang,
                view,
                f"Pods of lower priority would make way for it, but it would not be bound: {why}. "
                "To unblock: allow it where it is refused; it is tried again within ten minutes",
            )
        elif await self.store.put(relocation):
            self._tried[gang.key] = self.clock.monotonic() + window
            self._windows.open(gang.key, window)
        return why

    async def _drafts(
        self,
        plan: PreemptionPlan,
        gang: Gang,
        view: ClusterView,
        moved: StandingGang | None,
        asked: Snapshot,
    ) -> list[Relocation]:
        """The relocation that `plan` asks for, and the repair that is to follow it; none for none.

        As `_begin` has it.
        """
        if moved is None:
            one = preempting(plan, gang, view, SEAT_HOLD_SECONDS)
            return [one] if one else []
        repair = await self._whole.repair(plan, moved, asked, view) if plan.victims else None
        one = making_room(plan, repair, moved.gang, view, SEAT_HOLD_SECONDS) if repair else None
        if one is None or repair is None:
            self._tried[gang.key] = self.clock.monotonic() + REFUSED_RETRY_SECONDS
            return []
        return [one, repair]

    def _has_changed(self, gang: Gang, moved: StandingGang | None, view: ClusterView) -> bool:
        is_bound = gang.key in being_bound(self.store.ledger, self.cache)
        if moved is not None:
            return is_bound or not self._whole.is_unchanged(moved, view)
        now = self.cache.reading().snapshot.gangs_by_key.get(gang.key)
        return is_bound or now is None or in_itself(now) != in_itself(gang)

    def _tell(self, gang: Gang, view: ClusterView, why: str) -> None:
        """Tell a gang why none makes way for it, "" for nothing, by its first pod that waits."""
        facts = view.reading.gangs.get(gang.key) if why else None
        for one in facts.waiting[:1] if facts else ():
            self.observer.unyielding(Target(one.namespace, one.name, one.uid), why)

    async def _refusal(self, relocation: Relocation) -> str:
        """Why the API would not bind the gang once its victims have gone, "" where it would."""
        if self.trials is None:
            return ""
        return await self.trials.refusal(relocation.gang, comers(relocation), ask=True)

    def _forget(self, view: ClusterView, there: Container[GangKey]) -> None:
        """Forget what is over: gangs that wait no more, trials that the API has answered."""
        now = self.clock.monotonic()
        asked = self.trials.pending() if self.trials else {}
        for gang in self._unanswered - asked.keys():
            self._unanswered.discard(gang)
            self._tried.pop(gang, None)
        self.caused.forget(view)
        self._tried = {gang: at for gang, at in self._tried.items() if at > now}
        self._looked_at = {gang: at for gang, at in self._looked_at.items() if gang in there}
        self._forbidden.look(view.reading.snapshot.running, there)
        self._to_come.forget(there)
        self._refused = Counter({key: n for key, n in self._refused.items() if key in there})
        for gang, uids in list(self._asking.items()):
            if not self.evictions.is_asked(uids):
                # What the API said late is there: the gang is planned for at once.
                del self._asking[gang]
                self._tried.pop(gang, None)

    def _waiting(
        self,
        view: ClusterView,
        last: Plan | None,
        after: float,
        busy: frozenset[GangKey],
        broken: Mapping[GangKey, StandingGang],
    ) -> list[Gang]:
        """The gangs that have waited for long enough for what lower ones have: room, or quota.

        Those that are `broken` wait as a whole.
        """
        ours = [pod for pod in view.reading.snapshot.running if pod.ours]
        lowest = min((pod.priority for pod in ours), default=UNBOUNDED_PRIORITY)
        crowded = crowded_gangs(last) if last else frozenset[GangKey]()
        beyond = beyond_quota(last) if last else frozenset[GangKey]()
        within: dict[str, int] = {}
        """Namespace -> the lowest priority of its pods with GPUs."""
        for pod in ours if beyond else ():
            if pod.request.gpus:
                least = within.get(pod.namespace, UNBOUNDED_PRIORITY)
                within[pod.namespace] = min(least, pod.priority)

        def has_lower(gang: Gang) -> bool:
            if gang.key in crowded or gang.key in broken:
                return gang.priority > lowest
            quota = self.cache.config.spec.namespace(gang.key.namespace).gpu_quota
            may_fit = quota is not None and gang.gpus <= quota
            return may_fit and gang.priority > within.get(gang.key.namespace, UNBOUNDED_PRIORITY)

        under_way = {one.gang for one in view.open if one.purpose is not Purpose.RESERVATION}
        among = waiting_now(crowded | beyond, view, under_way | busy)
        known = {gang.key for gang in among}
        wholes = [whole(one.gang) for key, one in broken.items() if key not in known]
        return [
            gang
            for gang in sorted((*among, *wholes), key=gang_order)
            if gang.preempts
            and (has_lower(gang) or self.overstays.squatters(gang.key, view))
            and max(self._waited.of(gang), self._whole.waited(gang.key)) >= after
        ]

    def _next(self, waiting: Sequence[Gang]) -> Gang | None:
        """The gang to look at: that which was looked at longest ago, the first of those never.

        First a gang of the namespace of which one was looked at in vain longest ago. However many
        can never be served, none of the others waits for them twice, and none of another namespace
        for more than one of them.
        """
        may = (
            gang
            for gang in waiting
            if gang.key not in self._tried
            and gang.key not in self._asking
            and gang.key not in self._unanswered
            and self.store.may_write(gang.key)
        )
        return min(may, key=self._turn, default=None)

    def _tell_windows(self, waiting: Sequence[Gang], view: ClusterView) -> None:
        """Tell gangs why no pod goes for them for now, as some went a while ago."""
        window = self.cache.config.spec.preemption.window_seconds
        for gang, seconds in self._windows.untold(waiting):
            self._tell(
                gang,
                view,
                "Pods were evicted for it already: they go once within preemption.windowSeconds "
                f"({window:g} s). To unblock: wait until {self._moment_in(seconds)}",
            )

    def _moment_in(self, seconds: float) -> str:
        """When so many seconds have passed; an event is read at any time after it was written."""
        return second(math.ceil(self.clock.wall() + seconds))

    def _turn(self, gang: Gang) -> tuple[float, float]:
        vain = self._in_vain.in_namespace(gang.key.namespace)
        return vain, self._looked_at.get(gang.key, -math.inf)


def _makes_way(one: Gang, gang: Gang, is_for_quota: bool) -> bool:
    """Whether `one` may have to for `gang`: it is lower, and shares its quota where that is it."""
    shares = one.key.namespace == gang.key.namespace
    return one.priority < gang.priority and (shares or not is_for_quota)


def _leaving(view: ClusterView) -> frozenset[PodName]:
    """The pods that make way for other gangs, and may be gone soon."""
    return frozenset(
        (leaver.pod.namespace, leaver.pod.name)
        for one in view.open
        if one.purpose is Purpose.PREEMPTION
        for leaver in one.leavers
        if view.seen(leaver.pod.uid) is not None and leaver.pod.uid not in view.overdue
    )
