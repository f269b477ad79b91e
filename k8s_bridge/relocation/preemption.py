"""When a gang may take the place of lower ones: after a while, one at a time, not again soon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import structlog

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.dry_run import DryRun, Unanswered
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.contention import crowded_now
from fourleaf.k8s_bridge.relocation.disruption_budgets import DisruptionBudgets
from fourleaf.k8s_bridge.relocation.executor import RelocationObserver
from fourleaf.k8s_bridge.relocation.from_plan import preempting
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
    dry_run: DryRun | None = None
    _tried: dict[GangKey, float] = field(default_factory=dict)
    _protected: Mapping[str, str] = field(default_factory=dict)
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    async def plan(self, view: ClusterView, last: Plan) -> PreemptionPlan | None:
        """Make room for the first gang that `last` left waiting and that may; None for none.

        Raises `Fenced` where another leads by now.
        """
        config = self.cache.config.spec.preemption
        under_way = any(one.purpose is Purpose.PREEMPTION for one in self.store)
        if not config.enabled or under_way:
            return None
        gang = self._next(view, last, config.after_seconds)
        if gang is None:
            return None
        window = config.window_seconds
        self._tried[gang.key] = self.clock.monotonic() + min(PREEMPTION_RETRY_SECONDS, window)
        lower = [
            one
            for one in self.cache.standing(view.dead, everyone=True)
            if one.gang.priority < gang.priority and one.gang.key not in self.store and not one.hit
        ]
        budgets = DisruptionBudgets(self.cache)
        protected = {one.gang.key: why for one in lower if (why := budgets.forbids(*_members(one)))}
        self._say(gang, protected, view)
        standing = tuple(
            replace(one, preemptible=False) if one.gang.key in protected else one for one in lower
        )
        if not any(one.preemptible for one in standing):
            return None
        snapshot = replace(charged(view.reading.snapshot, view), standing=standing)
        plan = await self.planner.preempt(snapshot, gang.key)
        relocation = preempting(plan, gang, view, SEAT_HOLD_SECONDS)
        why = ""
        if relocation is not None and plan.victims:
            why = _forbidden(plan, budgets) or await self._refusal(relocation)
            if why or await self.store.put(relocation):
                self._tried[gang.key] = self.clock.monotonic() + window
        self._log.info(
            "preemption_planned",
            gang=str(gang.key),
            victims=[str(one.gang) for one in plan.victims],
            given_up=why,
            status=plan.status.value,
            seconds=round(plan.seconds, 3),
        )
        return plan

    def _say(self, gang: Gang, protected: Mapping[GangKey, str], view: ClusterView) -> None:
        """Say which gangs do not give way to `gang`, once until that changes.

        Their names stand in the log alone: they may be those of another tenant.
        """
        reasons = {str(key): why for key, why in protected.items()}
        if reasons and reasons != self._protected:
            self._log.info("preemption_forbidden", gang=str(gang.key), protected=reasons)
            facts = view.reading.gangs.get(gang.key)
            for one in facts.waiting[:1] if facts else ():
                pod = Target(one.namespace, one.name, one.uid)
                why = f"Gangs of lower priority that disruption budgets keep here: {len(reasons)}"
                self.observer.unyielding(pod, why)
        self._protected = reasons

    async def _refusal(self, relocation: Relocation) -> str:
        """Why the API would not bind the gang once its victims have gone, "" where it would."""
        if self.dry_run is None:
            return ""
        members = tuple(Member(seat.pod, seat.node) for seat in relocation.seats if seat.waits)
        try:
            return await self.dry_run.refusal(members, ask=True)
        except Unanswered as error:
            return str(error)

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


def _members(one: StandingGang) -> tuple[str, list[str]]:
    """The namespace of a gang and its members that run."""
    return one.gang.key.namespace, [pod for role in one.gang.roles for pod, _ in role.bound]


def _forbidden(plan: PreemptionPlan, budgets: DisruptionBudgets) -> str:
    """Why not all victims may go together, "" where they may; each may by itself."""
    pods: dict[str, list[str]] = {}
    for victim in plan.victims:
        pods.setdefault(victim.gang.namespace, []).extend(name for name, _ in victim.pods)
    return next(filter(None, (budgets.forbids(*one) for one in pods.items())), "")
