"""When a gang may take the place of lower ones: after a while, beside others, not again soon."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass, field, replace

import structlog

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.binding_trials import BindingTrials, StillAsked
from fourleaf.k8s_bridge.ledger.compaction import being_bound
from fourleaf.k8s_bridge.relocation.ages import WaitingAges
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.contention import beyond_quota, crowded_gangs, waiting_now
from fourleaf.k8s_bridge.relocation.evictions.limits import LimitsByPod, eviction_limits
from fourleaf.k8s_bridge.relocation.evictions.trials import EvictionTrials
from fourleaf.k8s_bridge.relocation.from_plan import comers, preempting
from fourleaf.k8s_bridge.relocation.observer import RelocationObserver
from fourleaf.k8s_bridge.relocation.records import (
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
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.async_solver import Planner
from fourleaf.k8s_bridge.scheduling.freed_room import changes
from fourleaf.k8s_bridge.scheduling.gang_kind import in_itself
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.reasons.text import counted
from fourleaf.model.relocation import PreemptionPlan
from fourleaf.model.running_gang import EvictionLimit, PodName, StandingGang
from fourleaf.model.snapshot import RunningPod, Snapshot

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
FORBIDDEN_RETRY_SECONDS = 600.0
"""Seconds after which a gang that limits of evictions keep waiting is tried again under the same
limits."""
SEAT_HOLD_SECONDS = 600.0
"""Seconds for which the places of a gang are kept while its victims end."""


@dataclass(frozen=True, slots=True)
class _Forbidden:
    """Nothing could be done for `gang` `until`, on the monotonic clock, for limits of evictions.

    As long as the same gangs are below it under the same `limits`, and neither nodes nor the pods
    that have `ended` are others, nothing else can be.
    """

    gang: Gang
    lower: frozenset[GangKey]
    limits: tuple[EvictionLimit, ...]
    fabric: Fabric
    ended: int
    until: float


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
    _windows: PreemptionWindows = field(init=False)
    _in_vain: LooksInVain = field(init=False)
    _waited: WaitingAges = field(init=False)
    _tried: dict[GangKey, float] = field(default_factory=dict)
    _looked_at: dict[GangKey, float] = field(default_factory=dict)
    _unanswered: set[GangKey] = field(default_factory=set)
    _refused: Counter[GangKey] = field(default_factory=Counter)
    _asking: dict[GangKey, tuple[str, ...]] = field(default_factory=dict)
    _forbidden: dict[GangKey, _Forbidden] = field(default_factory=dict)
    _running: Sequence[RunningPod] = ()
    """What ran at the last look."""
    _ends: Counter[bool] = field(default_factory=Counter)
    """How many pods were seen to end: all of them, and (True) those with GPUs."""
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def __post_init__(self) -> None:
        self.brief_stays = BriefStays(self.cache, self.clock)
        self._windows = PreemptionWindows(self.clock)
        self._in_vain = LooksInVain(self.clock)
        self._waited = WaitingAges(self.clock)

    async def plan(
        self, view: ClusterView, last: Plan, busy: frozenset[GangKey]
    ) -> PreemptionPlan | None:
        """Make room for the first gang that `last` left waiting and that may; None for none.

        For one that waits for the quota of its namespace, gangs of this alone make way.

        Gangs that are `busy` being bound wait no more, and are no victims: members that are on
        their way cannot be evicted, and would come to their nodes all the same. Raises `Fenced`
        where another leads.
        """
        config = self.cache.config.spec.preemption
        if not config.enabled:
            return None
        self._forget(view)
        self._count_ends(view.reading.snapshot.running)
        self._waited.look(view.gangs.values(), view.now)
        self.brief_stays.look(view, config.window_seconds)
        waiting = self._waiting(view, last, config.after_seconds, busy)
        self._tell_windows(waiting, view)
        gang = self._next(waiting)
        if gang is None:
            return None
        squatters = self.overstays.squatters(gang.key, view)
        if not squatters and (seconds := self.brief_stays.wait(gang.key)):
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
        beyond = beyond_quota(last)
        lower = [
            one
            for one in self.cache.standing(view.dead, everyone=True)
            if (_makes_way(one.gang, gang, gang.key in beyond) or one.gang.key in squatters)
            and not one.hit
            and one.gang.key not in self.store
            and one.gang.key not in busy
            and going.isdisjoint(one.live)
        ]
        limits = eviction_limits(view, lower, self.evictions, self.cache.needed(gang.key))
        own = self.caused.limits(gang.key, lower, squatters, view)
        limits = (*limits, *own)
        if not lower:
            self.caused.waits(gang.key, None, (), view)
        if not lower or self._is_forbidden(gang, lower, limits, view):
            self._in_vain.note(gang.key)
            return None
        charge = charged(view.reading.snapshot, view)
        if going and await self._has_room_soon(charge, going, gang):
            return None
        written = self.cache.once_written(charge)
        if written is not charge and (await self.planner.preempt(written, gang.key)).placement:
            # It waits for a record that is being written, and not for pods.
            return None
        standing = scaled(self.overstays.first(lower))
        snapshot = replace(charge, standing=standing, eviction_limits=limits)
        plan = await self.planner.preempt(snapshot, gang.key)
        if plan.reason is not None and plan.reason.kind is ReasonKind.EVICTIONS_FORBIDDEN:
            self._forbid(gang, lower, limits, plan.reason, view)
        self.caused.waits(gang.key, plan.reason, own, view)
        why = await self._begin(plan, gang, view)
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

    async def end_needless(self, view: ClusterView) -> None:
        """End a preemption whose victims the API keeps, where room has come without them."""
        one = self._to_question(view)
        if one is None:
            return
        self._looked_at[one.gang] = self.clock.monotonic()
        others = replace(view, open=tuple(x for x in view.open if x is not one))
        snapshot = charged(view.reading.snapshot, others)
        if (await self.planner.preempt(snapshot, one.gang)).placement is not None:
            await self.end(one, "room has come without its victims")

    async def _has_room_soon(
        self, snapshot: Snapshot, going: Container[PodName], gang: Gang
    ) -> bool:
        """Whether what makes way for others leaves room for `gang` too, once it has gone."""
        running = (pod for pod in snapshot.running if (pod.namespace, pod.name) not in going)
        later = replace(snapshot, running=tuple(running))
        return (await self.planner.preempt(later, gang.key)).placement is not None

    def ended(self, one: Relocation, why: str, is_untold: bool) -> None:
        """A relocation has ended; `why` it ended early, "" where it has served.

        Where none of its pods has been told to go, its gang has had nothing to wait for.
        """
        self.brief_stays.ended(one)
        self.caused.ended(one, self.clock.wall())
        if why == VICTIMS_STAY:
            self._windows.close(one.gang)
            self._tried.pop(one.gang, None)
        elif why and is_untold and one.gang in self._tried:
            self._windows.close(one.gang)
            again = self.clock.monotonic() + PREEMPTION_RETRY_SECONDS
            self._tried[one.gang] = min(self._tried[one.gang], again)

    async def _begin(self, plan: PreemptionPlan, gang: Gang, view: ClusterView) -> str:
        """Write the relocation that `plan` asks for; why it is given up, "" where it is not."""
        relocation = preempting(plan, gang, view, SEAT_HOLD_SECONDS)
        if relocation is None or not plan.victims:
            return ""
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
            refused = [] if why else await self.evictions.refusals([relocation])
        except StillAsked as error:
            self._asking[gang.key] = tuple(one.pod.uid for one in relocation.leavers)
            return str(error)
        if refused:
            # The next plan is made without these victims; at once, until others have had to wait
            # long enough.
            self._refused[gang.key] += 1
            if self._refused[gang.key] % REFUSALS_IN_A_ROW:
                del self._tried[gang.key]
            return refused[0].why
        self._refused.pop(gang.key, None)
        if not why and self._has_changed(gang):
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

    def _has_changed(self, gang: Gang) -> bool:
        now = self.cache.reading().snapshot.gangs_by_key.get(gang.key)
        is_bound = gang.key in being_bound(self.store.ledger, self.cache)
        return is_bound or now is None or in_itself(now) != in_itself(gang)

    def _is_forbidden(
        self,
        gang: Gang,
        lower: Sequence[StandingGang],
        limits: tuple[EvictionLimit, ...],
        view: ClusterView,
    ) -> bool:
        """Whether it is known that no plan can serve `gang` under these limits."""
        known = self._forbidden.get(gang.key)
        return (
            known is not None
            and known.until > self.clock.monotonic()
            and known.limits == limits
            and known.lower == frozenset(one.gang.key for one in lower)
            and known.gang == in_itself(gang)
            and known.fabric is view.reading.snapshot.fabric
            and known.ended == self._ended_for(gang)
        )

    def _ended_for(self, gang: Gang) -> int:
        """How many pods have ended so far that may have held what the gang asks for."""
        return self._ends[any(role.request.gpus for role in gang.roles)]

    def _count_ends(self, running: Sequence[RunningPod]) -> None:
        """Count the pods that have ended, and those of them that held GPUs."""
        # Who is forbidden from now on compares with what runs now.
        ended = changes(self._running, running)[0] if self._forbidden else ()
        self._ends[False] += len(ended)
        self._ends[True] += sum(pod.request.gpus > 0 for pod in ended)
        self._running = running

    def _forbid(
        self,
        gang: Gang,
        lower: Sequence[StandingGang],
        limits: tuple[EvictionLimit, ...],
        reason: Reason,
        view: ClusterView,
    ) -> None:
        """Remember that limits of evictions alone keep `gang` waiting, and tell it, once for each.

        Their names stand in the log alone: they may be those of another tenant.
        """
        known = self._forbidden.get(gang.key)
        until = self.clock.monotonic() + FORBIDDEN_RETRY_SECONDS
        below = frozenset(one.gang.key for one in lower)
        fabric, ended = view.reading.snapshot.fabric, self._ended_for(gang)
        self._forbidden[gang.key] = _Forbidden(in_itself(gang), below, limits, fabric, ended, until)
        if known is not None and known.limits == limits:
            return
        self._log.info("preemption_forbidden", gang=str(gang.key), limits=reason.detail)
        by_pod = LimitsByPod(limits)
        kept = sum(not by_pod.may_go(victim) for victim in lower)
        self._tell(
            gang,
            view,
            "It would start if pods of lower priority could be evicted, which "
            f"{counted(reason.count('limits'), 'limit')} of disruption budgets, admission, its "
            f"namespace or its own affinity forbid; {kept} of "
            f"{counted(len(lower), 'lower gang')} may not be evicted at all. To unblock: raise "
            "these budgets, which the scheduler's log names (preemption_forbidden), or wait until "
            "a gang ends",
        )

    def _tell(self, gang: Gang, view: ClusterView, why: str) -> None:
        """Tell a gang why none makes way for it, by its first pod that waits."""
        facts = view.reading.gangs.get(gang.key)
        for one in facts.waiting[:1] if facts else ():
            self.observer.unyielding(Target(one.namespace, one.name, one.uid), why)

    async def _refusal(self, relocation: Relocation) -> str:
        """Why the API would not bind the gang once its victims have gone, "" where it would."""
        if self.trials is None:
            return ""
        return await self.trials.refusal(relocation.gang, comers(relocation), ask=True)

    def _forget(self, view: ClusterView) -> None:
        """Forget what is over: gangs that wait no more, trials that the API has answered."""
        now = self.clock.monotonic()
        asked = self.trials.pending() if self.trials else {}
        for gang in self._unanswered - asked.keys():
            self._unanswered.discard(gang)
            self._tried.pop(gang, None)
        self.caused.forget(view)
        self._tried = {gang: at for gang, at in self._tried.items() if at > now}
        self._looked_at = {gang: at for gang, at in self._looked_at.items() if gang in view.gangs}
        self._forbidden = {key: one for key, one in self._forbidden.items() if key in view.gangs}
        self._refused = Counter({key: n for key, n in self._refused.items() if key in view.gangs})
        for gang, uids in list(self._asking.items()):
            if not self.evictions.is_asked(uids):
                # What the API said late is there: the gang is planned for at once.
                del self._asking[gang]
                self._tried.pop(gang, None)

    def _waiting(
        self, view: ClusterView, last: Plan, after: float, busy: frozenset[GangKey]
    ) -> list[Gang]:
        """The gangs that have waited for long enough for what lower ones have: room, or quota."""
        ours = [pod for pod in view.reading.snapshot.running if pod.ours]
        lowest = min((pod.priority for pod in ours), default=UNBOUNDED_PRIORITY)
        crowded, beyond = crowded_gangs(last), beyond_quota(last)
        within: dict[str, int] = {}
        """Namespace -> the lowest priority of its pods with GPUs."""
        for pod in ours if beyond else ():
            if pod.request.gpus:
                least = within.get(pod.namespace, UNBOUNDED_PRIORITY)
                within[pod.namespace] = min(least, pod.priority)

        def has_lower(gang: Gang) -> bool:
            if gang.key in crowded:
                return gang.priority > lowest
            quota = self.cache.config.spec.namespace(gang.key.namespace).gpu_quota
            may_fit = quota is not None and gang.gpus <= quota
            return may_fit and gang.priority > within.get(gang.key.namespace, UNBOUNDED_PRIORITY)

        under_way = {one.gang for one in view.open if one.purpose is not Purpose.RESERVATION}
        return [
            gang
            for gang in waiting_now(crowded | beyond, view, under_way | busy)
            if gang.preempts
            and (has_lower(gang) or self.overstays.squatters(gang.key, view))
            and self._waited.of(gang) >= after
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
                f"({window:g} s). To unblock: wait for {math.ceil(seconds)} s, or lower "
                "preemption.windowSeconds",
            )

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
