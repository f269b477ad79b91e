"""The parent's side of solving: a plan in time, whatever the solver process does.

CP-SAT can crash, hang, overrun its limits and be wrong. So it runs in a process that can be
killed, a greedy plan is made in the meantime, and whatever comes back has to pass the
validator. Nothing here loads OR-tools.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Self

import structlog

from model.extensions import ExtensionError, Extensions
from model.plan import Plan, PlanStatus, Stage
from model.snapshot import Snapshot
from solver.child import Child, Fault, Late
from solver.condense import condensed
from solver.errand import Deadlines, Errand, OverdueError
from solver.keeper import Keeper
from solver.steps import Steps, nothing_placed, own_steps
from solver.wire import READY, Request, Size, dynamic_part, encode_request

LOAD_SECONDS = 30.0
"""How long a new process may take to load OR-tools before it counts as hung."""

OnStage = Callable[[Stage], None]


class SolverClient:
    """Plans in a killable child process. One call at a time; any thread may call.

    `start` early: the child takes most of a second to load. `seconds` is what the last call
    took. A test may bring its own worker module, steps and loading time.
    """

    def __init__(
        self,
        worker_module: str = "solver.worker",
        steps: Steps | None = None,
        load_seconds: float = LOAD_SECONDS,
    ) -> None:
        self.seconds = 0.0
        self._steps = steps or own_steps()
        self._load_seconds = load_seconds
        self._keeper = Keeper(worker_module)
        self._busy = threading.Lock()
        self._calls = READY
        self._checking = 0.0
        self._extensions: Extensions | None = None
        self._log = structlog.get_logger(__name__)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the child without waiting. Raises `RuntimeError` on a closed client."""
        self._keeper.start()

    def wait_until_ready(self, seconds: float = LOAD_SECONDS) -> bool:
        """Wait until the child has loaded, at most `seconds`; whether it has.

        For those who have the time: loading then takes nothing from a call's time limit.
        """
        self.start()
        until = time.monotonic() + seconds
        with self._busy:
            try:
                child = self._keeper.child(until)
                with child.talking:
                    self._await_ready(child, until)
            except Fault:
                # The next call meets the same child, or its successor, and says what is wrong.
                return False
        return True

    def close(self) -> None:
        """Kill the child and wait until it is gone. May be called again."""
        self._keeper.close()

    def plan(
        self,
        snapshot: Snapshot,
        extensions_enabled: bool = True,
        on_stage: OnStage | None = None,
    ) -> Plan:
        """Make the best legal plan to be had within `solver.timeLimitSeconds`.

        Returns at most 200 ms after that limit, whatever the child does; then the status is
        `GREEDY` and `note` says why. `on_stage` is called in this thread, within the time
        limit, as each stage ends; what it raises is raised here. So is `ExtensionError` where
        a rule or term fails, for there is no legal plan without it, and `RuntimeError` on a
        closed client.
        """
        limit = snapshot.config.spec.solver.time_limit_seconds
        deadlines = Deadlines.from_now(limit, self._checking)
        self.start()
        extensions = self._extensions_in_force(extensions_enabled)
        greedy = Errand(lambda: self._steps.legal_greedy(snapshot, extensions))
        try:
            try:
                plan, checking = self._solved(
                    snapshot, extensions, extensions_enabled, greedy, deadlines, on_stage
                )
            except Fault as fault:
                checking = 0.0
                plan = self._greedy_or_nothing(snapshot, greedy, deadlines, str(fault))
        finally:
            greedy.drop()
        explaining = time.monotonic()
        plan = self._explained(snapshot, plan, extensions, deadlines)
        now = time.monotonic()
        # Decays, so that one slow cycle does not shorten the solver's time for good.
        self._checking = max(0.8 * self._checking, checking + now - explaining)
        self.seconds = now - deadlines.began
        return plan

    def _extensions_in_force(self, enabled: bool) -> Extensions:
        if not enabled:
            return Extensions()
        if self._extensions is None:
            self._extensions = self._steps.extensions()
        return self._extensions

    def _solved(
        self,
        snapshot: Snapshot,
        extensions: Extensions,
        enabled: bool,
        greedy: Errand[Plan],
        deadlines: Deadlines,
        on_stage: OnStage | None,
    ) -> tuple[Plan, float]:
        """Get the child's plan, once it has stood up to validator and greedy plan.

        Also the seconds that the validator took. Raises `Fault`.
        """
        if not self._busy.acquire(timeout=max(0.0, deadlines.answer - time.monotonic())):
            busy = Fault("the solver is busy with another call", fatal=False)
            self._warn(busy, None)
            raise busy
        child: Child | None = None
        try:
            child = self._keeper.child(deadlines.answer)
            with child.talking:
                plan = self._ask(child, snapshot, enabled, deadlines, on_stage)
            arrived = time.monotonic()
            self._check(snapshot, plan, extensions, deadlines.done)
            checking = time.monotonic() - arrived
            self._compare(snapshot, plan, greedy, deadlines.answer)
        except BaseException as error:
            if child is not None and (not isinstance(error, Fault) or error.fatal):
                child.kill()
            if isinstance(error, Fault):
                self._warn(error, child)
            raise
        finally:
            self._busy.release()
        self._keeper.praise()
        return plan, checking

    def _ask(
        self,
        child: Child,
        snapshot: Snapshot,
        enabled: bool,
        deadlines: Deadlines,
        on_stage: OnStage | None,
    ) -> Plan:
        self._await_ready(child, deadlines.answer)
        self._calls += 1
        child.send(self._request(child, snapshot, enabled, deadlines), Size.of_plan(snapshot))
        while True:
            reply = child.receive(deadlines.answer)
            if reply.call != self._calls:
                raise Fault("it answered a question that was not asked")
            if reply.plan is not None:
                return reply.plan
            if reply.nothing:
                raise Fault("it found no plan in time", fatal=False)
            if reply.stage is None:
                raise Fault(f"it failed: {reply.failure}")
            if on_stage is not None:
                on_stage(reply.stage)

    def _await_ready(self, child: Child, until: float) -> None:
        while not child.ready:
            try:
                child.receive(until)
            except Late:
                # Killing a process that only loads slowly would keep it from ever being ready.
                if time.monotonic() < child.born + self._load_seconds:
                    raise Fault("it is still loading", fatal=False) from None
                raise Fault(f"it did not load within {self._load_seconds:g} s") from None

    def _request(
        self, child: Child, snapshot: Snapshot, enabled: bool, deadlines: Deadlines
    ) -> bytes:
        """Write the message for this call, with the fabric only where the child has another one."""
        fabric = None if child.fabric is snapshot.fabric else snapshot.fabric
        if fabric is not None:
            child.fabric, child.fabric_id = fabric, child.fabric_id + 1
        try:
            return encode_request(
                Request(
                    self._calls,
                    child.fabric_id,
                    fabric,
                    dynamic_part(replace(snapshot, running=condensed(snapshot.running))),
                    enabled,
                    deadlines.child_seconds(),
                )
            )
        except Exception as error:
            raise Fault(f"the snapshot cannot be sent: {error!r}") from error

    def _check(self, snapshot: Snapshot, plan: Plan, extensions: Extensions, until: float) -> None:
        try:
            breaches = Errand(lambda: self._steps.validate(snapshot, plan, extensions)).result(
                until
            )
        except OverdueError:
            raise Fault("no time was left to check its plan", fatal=False) from None
        except Exception as error:
            raise Fault(f"its plan cannot be checked: {error!r}") from error
        if breaches:
            raise Fault(f"its plan is illegal, {len(breaches)} times: {breaches[0]}")

    def _compare(self, snapshot: Snapshot, plan: Plan, greedy: Errand[Plan], until: float) -> None:
        """Raise `Fault` where the greedy plan places more. A proof is not made to wait for it."""
        proven = plan.status is PlanStatus.OPTIMAL
        if proven and not greedy.done:
            return
        try:
            rival = greedy.result(until)
        except (Exception, OverdueError):  # noqa: BLE001 - logged where the greedy plan is made
            return
        if not self._steps.places_less(snapshot, plan, rival):
            return
        if proven:
            raise Fault("its plan is said to be optimal, but a greedy one places more")
        raise Fault("the greedy plan places more than it found in time", fatal=False)

    def _greedy_or_nothing(
        self, snapshot: Snapshot, greedy: Errand[Plan], deadlines: Deadlines, why: str
    ) -> Plan:
        """Take the greedy plan, or one that places nothing where that is illegal or late."""
        try:
            plan = greedy.result(deadlines.done)
        except ExtensionError:
            raise
        except Exception as error:  # noqa: BLE001 - nothing may keep a cycle from its answer
            trouble = _trouble(error)
            self._log.error("greedy_plan_unusable", why=trouble, gangs=len(snapshot.gangs))
            plan = nothing_placed(snapshot)
            why = f"{why}; no greedy plan: {trouble}"
        return replace(plan, status=PlanStatus.GREEDY, note=f"solver: {why}")

    def _explained(
        self, snapshot: Snapshot, plan: Plan, extensions: Extensions, deadlines: Deadlines
    ) -> Plan:
        """Add the reasons to `plan`; leave it as it is where they fail or take too long."""
        try:
            return Errand(lambda: self._steps.explain(snapshot, plan, extensions)).result(
                deadlines.done
            )
        except Exception as error:  # noqa: BLE001 - a plan without reasons is still a plan
            self._log.error("plan_unexplained", why=_trouble(error), waiting=len(plan.waiting))
            return plan

    def _warn(self, fault: Fault, child: Child | None) -> None:
        self._log.warning(
            "solver_failed",
            why=str(fault),
            killed=fault.fatal and child is not None,
            pid=None if child is None else child.pid,
            output="" if child is None else child.output,
            instead="greedy",
        )


def _trouble(error: Exception) -> str:
    if isinstance(error, OverdueError):
        return "not done in time"
    return f"{type(error).__name__}: {error}"


def plan_batch(snapshot: Snapshot, on_progress: OnStage | None = None) -> Plan:
    """Plan once, with a process of its own; `on_progress` hears of each stage."""
    with SolverClient() as client:
        return client.plan(snapshot, on_stage=on_progress)
