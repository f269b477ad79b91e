"""When a gang may take the place of lower ones: after a while, one at a time, not again soon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import structlog

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.binding_trials import BindingTrials, StillAsked
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.contention import crowded_now
from fourleaf.k8s_bridge.relocation.disruption_budgets import DisruptionBudgets
from fourleaf.k8s_bridge.relocation.eviction_trials import EvictionTrials
from fourleaf.k8s_bridge.relocation.from_plan import preempting
from fourleaf.k8s_bridge.relocation.observer import RelocationObserver
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation
from fourleaf.k8s_bridge.relocation.reserved_seats import charged
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.async_solver import Planner
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.relocation import PreemptionPlan
from fourleaf.model.running_gang import StandingGang

UNBOUNDED_PRIORITY = 2**31
"""A priority above every priority."""
PREEMPTION_RETRY_SECONDS = 10.0
"""Seconds after which a gang is tried again for which no pod had to go, or could."""
SEAT_HOLD_SECONDS = 600.0
"""Seconds for which the places of a gang are kept while its victims end."""


@dataclass(slots=True, eq=False)
class PreemptionPlanner:
    """Preemptions of one term."""

    cache: ClusterCache
    store: RelocationStore
    planner: Planner
    clock: Clock
    observer: RelocationObserver
    evictions: EvictionTrials
    trials: BindingTrials | None = None
    _tried: dict[GangKey, float] = field(default_factory=dict)
    _told: dict[GangKey, frozenset[GangKey]] = field(default_factory=dict)
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    async def plan(self, view: ClusterView, last: Plan) -> PreemptionPlan | None:
        """Make room for the first gang that `last` left waiting and that may; None for none.

        Raises `Fenced` where another leads by now.
        """
        config = self.cache.config.spec.preemption
        under_way = any(_evicts(one, view) for one in self.store)
        if not config.enabled or under_way:
            return None
        gang = self._next(view, last, config.after_seconds)
        if gang is None:
            return None
        retry = min(PREEMPTION_RETRY_SECONDS, config.window_seconds)
        self._tried[gang.key] = self.clock.monotonic() + retry
        lower = [
            one
            for one in self.cache.standing(view.dead, everyone=True)
            if one.gang.priority < gang.priority and one.gang.key not in self.store and not one.hit
        ]
        budgets = DisruptionBudgets(self.cache)
        protected = {one.gang.key: why for one in lower if (why := self._forbids(one, budgets))}
        self._tell(gang, protected, view)
        standing = tuple(
            replace(one, preemptible=False) if one.gang.key in protected else one for one in lower
        )
        if not any(one.preemptible for one in standing):
            return None
        snapshot = replace(charged(view.reading.snapshot, view), standing=standing)
        plan = await self.planner.preempt(snapshot, gang.key)
        why = await self._begin(plan, gang, budgets, view)
        self._log.info(
            "preemption_planned",
            gang=str(gang.key),
            victims=[str(one.gang) for one in plan.victims],
            given_up=why,
            status=plan.status.value,
            seconds=round(plan.seconds, 3),
        )
        return plan

    async def _begin(
        self, plan: PreemptionPlan, gang: Gang, budgets: DisruptionBudgets, view: ClusterView
    ) -> str:
        """Write the relocation that `plan` asks for; why it is given up, "" where it is not."""
        relocation = preempting(plan, gang, view, SEAT_HOLD_SECONDS)
        if relocation is None or not plan.victims:
            return ""
        try:
            why = _forbidden(plan, budgets) or await self._refusal(relocation)
        except StillAsked as error:
            return str(error)
        refused = [] if why else await self.evictions.refusals([relocation])
        if refused:
            # The next plan is made without these victims, and at once.
            del self._tried[gang.key]
            return refused[0].why
        if why or await self.store.put(relocation):
            window = self.cache.config.spec.preemption.window_seconds
            self._tried[gang.key] = self.clock.monotonic() + window
        return why

    def _forbids(self, one: StandingGang, budgets: DisruptionBudgets) -> str:
        """Why not all members of a gang may go, "" where they may."""
        members = [pod for role in one.gang.roles for pod, _ in role.bound]
        return budgets.forbids(one.gang.key.namespace, members) or self.evictions.forbids_gang(one)

    def _tell(self, gang: Gang, protected: Mapping[GangKey, str], view: ClusterView) -> None:
        """Tell `gang` how many do not give way to it, once until they are others.

        Their names stand in the log alone: they may be those of another tenant.
        """
        self._told = {key: them for key, them in self._told.items() if key in view.gangs}
        if protected.keys() == self._told.get(gang.key, frozenset()):
            return
        self._told[gang.key] = frozenset(protected)
        reasons = {str(key): why for key, why in protected.items()}
        self._log.info("preemption_forbidden", gang=str(gang.key), protected=reasons)
        facts = view.reading.gangs.get(gang.key)
        for one in facts.waiting[:1] if facts and protected else ():
            pod = Target(one.namespace, one.name, one.uid)
            keep = "Gangs of lower priority that disruption budgets or admission keep here"
            self.observer.unyielding(pod, f"{keep}: {len(protected)}")

    async def _refusal(self, relocation: Relocation) -> str:
        """Why the API would not bind the gang once its victims have gone, "" where it would."""
        if self.trials is None:
            return ""
        members = tuple(Member(seat.pod, seat.node) for seat in relocation.seats if seat.waits)
        return await self.trials.refusal(relocation.gang, members, ask=True)

    def _next(self, view: ClusterView, last: Plan, after: float) -> Gang | None:
        ours = (pod.priority for pod in view.reading.snapshot.running if pod.ours)
        lowest = min(ours, default=UNBOUNDED_PRIORITY)
        now = self.clock.monotonic()
        self._tried = {gang: at for gang, at in self._tried.items() if at > now}
        return next(
            (
                gang
                for gang in crowded_now(last, view, self.store)
                if gang.preempts
                and gang.priority > lowest
                and gang.key not in self._tried
                and view.now - gang.created >= after
            ),
            None,
        )


def _evicts(one: Relocation, view: ClusterView) -> bool:
    """Whether a preemption has victims yet that were not told to go.

    One that is told may take its time, and keeps no other gang waiting for room elsewhere.
    """
    leaving = (view.stands(leaver.pod.uid, leaver.node) for leaver in one.leavers)
    return one.purpose is Purpose.PREEMPTION and any(leaving)


def _forbidden(plan: PreemptionPlan, budgets: DisruptionBudgets) -> str:
    """Why not all victims may go together, "" where they may; each may by itself."""
    pods: dict[str, list[str]] = {}
    for victim in plan.victims:
        pods.setdefault(victim.gang.namespace, []).extend(name for name, _ in victim.pods)
    return next(filter(None, (budgets.forbids(*one) for one in pods.items())), "")
