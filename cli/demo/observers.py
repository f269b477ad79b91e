"""What the scheduler does, heard where it reports, and written into the diary."""

from __future__ import annotations

from collections import Counter

from fourleaf.cli.demo.diary import Diary
from fourleaf.cli.render.glyphs import Glyphs
from fourleaf.cli.render.where import Where
from fourleaf.k8s_bridge.ledger.ledger import Commit
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.reporting.reporter import Reporter
from fourleaf.k8s_bridge.reporting.scheduler_state import SchedulerState
from fourleaf.k8s_bridge.scheduling.cycle import CycleReport
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.reasons.text import cause, nearest, steps

PROOFS = {
    PlanStatus.OPTIMAL: "proven best",
    PlanStatus.FEASIBLE: "valid, with a bound",
    PlanStatus.GREEDY: "valid, nothing proven",
}


class DemoObserver(Reporter):
    """Tells the diary what is planned, bound and left waiting."""

    def __init__(self, scheduler: SchedulerState, diary: Diary, glyphs: Glyphs) -> None:
        super().__init__(scheduler, SchedulerMetrics())
        self.plan: Plan | None = None
        self.cycles_by_status: Counter[PlanStatus] = Counter()
        self.waiting: tuple[Waiting, ...] = ()
        self._cache = scheduler.cache
        self._diary = diary
        self._glyphs = glyphs
        self._said: set[tuple[GangKey, ReasonKind]] = set()
        self._standing: Counter[str] = Counter()

    def cycle(self, report: CycleReport) -> None:
        """A cycle has ended."""
        super().cycle(report)
        plan = report.plan
        self.waiting = plan.waiting if plan else ()
        if plan is None:
            return
        self.plan = plan
        self.cycles_by_status[plan.status] += 1
        if plan.placements:
            gangs = f"{len(plan.placements)} gang" + ("s" if len(plan.placements) > 1 else "")
            self._diary.note("planned", f"{gangs}; {proof(plan)}")
        for one in plan.waiting:
            if (one.gang, one.reason.kind) not in self._said:
                self._said.add((one.gang, one.reason.kind))
                self._diary.note("waits", f"{one.gang}: {one.reason.kind.value}", *lines_of(one))

    def why(self, gang: GangKey) -> Waiting | None:
        """What the last cycle has said of a gang that waits."""
        return next((one for one in self.waiting if one.gang == gang), None)

    def bound(self, commit: Commit, member: Member) -> None:
        """A member stands on its node."""
        super().bound(commit, member)
        self._standing[commit.name] += 1
        if self._standing[commit.name] == len(commit.members):
            where = Where(self._cache.reading().snapshot.fabric, self._glyphs)
            pods = f"{len(commit.members)} pod" + ("s" if len(commit.members) > 1 else "")
            leaves = where.leaves(member.node for member in commit.members)
            self._diary.note("bound", f"{commit.gang}: {pods} on {leaves}")


def proof(plan: Plan) -> str:
    """How good a plan is, and how long it took."""
    seconds = plan.seconds_build + plan.seconds_solve
    return f"{plan.status.value}, {PROOFS[plan.status]}, {1000 * seconds:.0f} ms"


def lines_of(waiting: Waiting) -> list[str]:
    """What would unblock a gang, why it waits, and what comes nearest: a line each."""
    reason = waiting.reason
    near = nearest(reason)
    lines = [*(f"unblock: {step}" for step in steps(reason)), cause(reason)]
    return [*lines, f"nearest: {near}"] if near else lines
