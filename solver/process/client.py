"""The parent's side of solving: a plan in time, whatever the solver process does.

CP-SAT can crash, hang, overrun its limits and be wrong. So it runs in a process that can be
killed, an answer of our own is made in the meantime, for many gangs only where that process is long
in answering, and whatever comes back has to pass the validator. Nothing here loads OR-tools.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Self, TypeVar, cast

import structlog

from fourleaf.model.extensions import ExtensionError, Extensions
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan, PlanStatus
from fourleaf.model.relocation import Budget, DefragPlan, PreemptionPlan, RepairPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.explain.not_in_batch import NotInBatch
from fourleaf.solver.process.call_or_kill import LOAD_SECONDS, OnStage, TimedCalls
from fourleaf.solver.process.deadlines import BackgroundTask, Deadlines, OverdueError
from fourleaf.solver.process.guarded_call import Fallback, GuardedCall, batch_call, own_steps
from fourleaf.solver.process.messages import Outcome
from fourleaf.solver.process.names_that_count import with_names_that_count
from fourleaf.solver.process.relocation_calls import (
    defragmentation_call,
    preemption_call,
    repair_call,
)
from fourleaf.solver.process.worker_process import WorkerFault
from fourleaf.solver.process.worker_restarts import WORKER, Supervisor

P = TypeVar("P", bound=Outcome)


class SolverClient:
    """Plans in a killable process. One call at a time; any thread may call.

    `start` early: the worker takes most of a second to load. `seconds` is what the last call
    took. A test may bring its own worker module, steps and loading time. The worker is `niceness`
    nicer than this process, for programs that have something more urgent to do. A `supervisor` that
    has started its worker before this module was loaded is taken over.

    Every call returns at most 200 ms after `solver.timeLimitSeconds`, whatever the worker does;
    where it fails, the status is `GREEDY` and `note` says why. `on_stage` is called in the
    calling thread, within the time limit, as each stage ends; what it raises is raised. So is
    `ExtensionError` where a rule or term fails, for there is no legal plan without it, and
    `RuntimeError` on a closed client.
    """

    def __init__(
        self,
        worker_module: str = WORKER,
        steps: Fallback | None = None,
        load_seconds: float = LOAD_SECONDS,
        niceness: int = 0,
        supervisor: Supervisor | None = None,
    ) -> None:
        self.seconds = 0.0
        self._steps = steps or own_steps()
        self._line = TimedCalls(supervisor or Supervisor(worker_module, niceness), load_seconds)
        self._checking = 0.0
        self._extensions: Extensions | None = None
        self._log = structlog.get_logger(__name__)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the worker without waiting. Raises `RuntimeError` on a closed client."""
        self._line.supervisor.start()

    def wait_until_ready(self, seconds: float = LOAD_SECONDS) -> bool:
        """Wait until the worker has loaded, at most `seconds`; whether it has.

        For those who have the time: loading then takes nothing from a call's time limit.
        """
        self.start()
        return self._line.wait_until_ready(seconds)

    def close(self) -> None:
        """Kill the worker and wait until it is gone. May be called again."""
        self._line.supervisor.close()

    def plan(
        self,
        snapshot: Snapshot,
        extensions_enabled: bool = True,
        on_stage: OnStage | None = None,
    ) -> Plan:
        """Make the best legal plan to be had for the waiting gangs; no running gang moves.

        Gangs that are not in the batch neither travel to the worker nor take any of its time.
        """
        deadlines = self._deadlines(snapshot)
        others = NotInBatch(snapshot)
        call = batch_call(self._steps, with_names_that_count(others.batch_alone()))
        plan = self._answered(call, extensions_enabled, on_stage, deadlines)
        return others.completed(plan, deadlines.told)

    def repair(
        self,
        snapshot: Snapshot,
        extensions_enabled: bool = True,
        on_stage: OnStage | None = None,
    ) -> RepairPlan:
        """Keep alive what can live of `snapshot.standing`, with the fewest moves.

        Where the solver fails, lost members are placed anew where that is possible without
        moving any other.
        """
        call = repair_call(with_names_that_count(snapshot))
        return self._answered(call, extensions_enabled, on_stage)

    def preempt(
        self,
        snapshot: Snapshot,
        gang: GangKey,
        extensions_enabled: bool = True,
        on_stage: OnStage | None = None,
    ) -> PreemptionPlan:
        """Find the fewest victims for the waiting gang `gang`; none where that is unknown.

        Raises `KeyError` where no such gang waits.
        """
        call = preemption_call(with_names_that_count(snapshot), gang)
        return self._answered(call, extensions_enabled, on_stage)

    def defragment(
        self,
        snapshot: Snapshot,
        budget: Budget,
        extensions_enabled: bool = True,
        on_stage: OnStage | None = None,
    ) -> DefragPlan:
        """Find the moves that win most within `budget`; none where that is unknown."""
        call = defragmentation_call(with_names_that_count(snapshot), budget)
        return self._answered(call, extensions_enabled, on_stage)

    def _deadlines(self, snapshot: Snapshot) -> Deadlines:
        limit = snapshot.config.spec.solver.time_limit_seconds
        return Deadlines.from_now(limit, self._checking)

    def _answered(
        self,
        question: GuardedCall[P],
        enabled: bool,
        on_stage: OnStage | None,
        deadlines: Deadlines | None = None,
    ) -> P:
        deadlines = deadlines or self._deadlines(question.snapshot)
        self.start()
        extensions = self.extensions_in_force(enabled)
        begin = deadlines.begin(question.looks)
        own = BackgroundTask(lambda: question.own(extensions, deadlines.own), begin)
        try:
            try:
                plan, checking = self._solved(
                    question, extensions, enabled, own, deadlines, on_stage
                )
            except WorkerFault as fault:
                checking = 0.0
                plan = self._own_or_nothing(question, own, deadlines, str(fault))
        finally:
            own.drop()
        explaining = time.monotonic()
        plan = self._explained(question, plan, extensions, deadlines)
        now = time.monotonic()
        # Decays, so that one slow cycle does not shorten the solver's time for good.
        self._checking = max(0.8 * self._checking, checking + now - explaining)
        self.seconds = now - deadlines.began
        return plan

    def extensions_in_force(self, enabled: bool = True) -> Extensions:
        """The extensions that take part, none where not `enabled`. Raises `ExtensionError`."""
        if not enabled:
            return Extensions()
        if self._extensions is None:
            self._extensions = self._steps.extensions()
        return self._extensions

    def _solved(
        self,
        question: GuardedCall[P],
        extensions: Extensions,
        enabled: bool,
        own: BackgroundTask[P],
        deadlines: Deadlines,
        on_stage: OnStage | None,
    ) -> tuple[P, float]:
        """Get the worker's plan, once it has stood up to validator and our own plan.

        Also the seconds that the validator took. Raises `WorkerFault`.
        """
        found: list[P] = []
        checking = 0.0

        def judge(outcome: Outcome) -> None:
            nonlocal checking
            if not isinstance(outcome, question.kind):
                raise WorkerFault("it answered with a plan of another kind")
            plan = cast(P, outcome)
            arrived = time.monotonic()
            self._check(question, plan, extensions, deadlines.done)
            checking = time.monotonic() - arrived
            self._compare(question, plan, own, deadlines.answer)
            found.append(plan)

        self._line.call(question.task, question.snapshot, enabled, deadlines, on_stage, judge)
        return found[0], checking

    def _check(
        self, question: GuardedCall[P], plan: P, extensions: Extensions, until: float
    ) -> None:
        try:
            breaches = BackgroundTask(lambda: question.breaches(plan, extensions)).result(until)
        except OverdueError:
            raise WorkerFault("no time was left to check its plan", fatal=False) from None
        except Exception as error:
            raise WorkerFault(f"its plan cannot be checked: {error!r}") from error
        if breaches:
            raise WorkerFault(f"its plan is illegal, {len(breaches)} times: {breaches[0]}")

    def _compare(
        self, question: GuardedCall[P], plan: P, own: BackgroundTask[P], until: float
    ) -> None:
        """Raise `WorkerFault` where our own plan is worth more. A proof does not wait for it."""
        proven = plan.status is PlanStatus.OPTIMAL
        if proven and not own.done:
            return
        try:
            rival = own.result(until)
        except (Exception, OverdueError):  # noqa: BLE001 - logged where our own plan is made
            return
        if not question.worse(plan, rival):
            return
        if proven:
            raise WorkerFault("its plan is said to be optimal, but a greedy one places more")
        raise WorkerFault("the greedy plan places more than it found in time", fatal=False)

    def _own_or_nothing(
        self, question: GuardedCall[P], own: BackgroundTask[P], deadlines: Deadlines, why: str
    ) -> P:
        """Take our own plan, or one that changes nothing where that is illegal or late."""
        try:
            plan = own.result(deadlines.done)
        except ExtensionError:
            raise
        except Exception as error:  # noqa: BLE001 - nothing may keep a cycle from its answer
            trouble = _trouble(error)
            self._log.error("greedy_plan_unusable", why=trouble, gangs=len(question.snapshot.gangs))
            plan = question.nothing()
            why = f"{why}; no greedy plan: {trouble}"
        return replace(plan, status=PlanStatus.GREEDY, note=f"solver: {why}")

    def _explained(
        self, question: GuardedCall[P], plan: P, extensions: Extensions, deadlines: Deadlines
    ) -> P:
        """Add the reasons to `plan`; leave it as it is where they fail or take too long."""
        try:
            explaining = BackgroundTask(lambda: question.explain(plan, extensions, deadlines.told))
            return explaining.result(deadlines.done)
        except Exception as error:  # noqa: BLE001 - a plan without reasons is still a plan
            self._log.error("plan_unexplained", why=_trouble(error), kind=question.kind.__name__)
            return plan


def _trouble(error: Exception) -> str:
    if isinstance(error, OverdueError):
        return "not done in time"
    return f"{type(error).__name__}: {error}"
