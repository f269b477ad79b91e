"""The parent's end of the line to the solver process: ask, and hear the answer in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import structlog

from fourleaf.model.plan import Stage
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.process.child import Child, Late, WorkerFault
from fourleaf.solver.process.compaction import compacted
from fourleaf.solver.process.deadlines import Deadlines
from fourleaf.solver.process.framing import READY, Size
from fourleaf.solver.process.messages import (
    BatchTask,
    Outcome,
    Request,
    Task,
    dynamic_part,
    encode_request,
)
from fourleaf.solver.process.supervisor import Supervisor

LOAD_SECONDS = 30.0
"""How long a new process may take to load OR-tools before it counts as hung."""

OnStage = Callable[[Stage], None]


class TimedCalls:
    """One child at a time, one call at a time; a child that misbehaves is killed."""

    def __init__(self, supervisor: Supervisor, load_seconds: float) -> None:
        self.supervisor = supervisor
        self._load_seconds = load_seconds
        self._busy = threading.Lock()
        self._calls = READY
        self._log = structlog.get_logger(__name__)

    def wait_until_ready(self, seconds: float) -> bool:
        """Wait until the child has loaded, at most `seconds`; whether it has."""
        until = time.monotonic() + seconds
        with self._busy:
            try:
                child = self.supervisor.child(until)
                with child.talking:
                    self._await_ready(child, until)
            except WorkerFault:
                # The next call meets the same child, or its successor, and says what is wrong.
                return False
        return True

    def call(
        self,
        task: Task,
        snapshot: Snapshot,
        enabled: bool,
        deadlines: Deadlines,
        on_stage: OnStage | None,
        judge: Callable[[Outcome], None],
    ) -> None:
        """Ask the child and let `judge` see its answer. Raises `WorkerFault`, also that of `judge`.

        Whatever else `judge` or `on_stage` raises is raised as well. The child does not live
        on unless the fault says so.
        """
        if not self._busy.acquire(timeout=max(0.0, deadlines.answer - time.monotonic())):
            busy = WorkerFault("the solver is busy with another call", fatal=False)
            self._warn(busy, None)
            raise busy
        child: Child | None = None
        try:
            child = self.supervisor.child(deadlines.answer)
            with child.talking:
                outcome = self._ask(child, task, snapshot, enabled, deadlines, on_stage)
            judge(outcome)
        except BaseException as error:
            if child is not None and (not isinstance(error, WorkerFault) or error.fatal):
                child.kill()
            if isinstance(error, WorkerFault):
                self._warn(error, child)
            raise
        finally:
            self._busy.release()
        self.supervisor.reset_backoff()

    def _ask(
        self,
        child: Child,
        task: Task,
        snapshot: Snapshot,
        enabled: bool,
        deadlines: Deadlines,
        on_stage: OnStage | None,
    ) -> Outcome:
        self._await_ready(child, deadlines.answer)
        self._calls += 1
        message = self._request(child, task, snapshot, enabled, deadlines)
        child.send(message, Size.of_plan(snapshot))
        while True:
            reply = child.receive(deadlines.answer)
            if reply.call != self._calls:
                raise WorkerFault("it answered a question that was not asked")
            if reply.outcome is not None:
                return reply.outcome
            if reply.nothing:
                raise WorkerFault("it found no plan in time", fatal=False)
            if reply.stage is None:
                raise WorkerFault(f"it failed: {reply.failure}")
            if on_stage is not None:
                on_stage(reply.stage)

    def _await_ready(self, child: Child, until: float) -> None:
        while not child.ready:
            try:
                child.receive(until)
            except Late:
                # Killing a process that only loads slowly would keep it from ever being ready.
                if time.monotonic() < child.started_at + self._load_seconds:
                    raise WorkerFault("it is still loading", fatal=False) from None
                raise WorkerFault(f"it did not load within {self._load_seconds:g} s") from None

    def _request(
        self, child: Child, task: Task, snapshot: Snapshot, enabled: bool, deadlines: Deadlines
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
                    dynamic_part(as_needed(task, snapshot)),
                    enabled,
                    deadlines.child_seconds(),
                    task,
                )
            )
        except Exception as error:
            raise WorkerFault(f"the snapshot cannot be sent: {error!r}") from error

    def _warn(self, fault: WorkerFault, child: Child | None) -> None:
        self._log.warning(
            "solver_failed",
            why=str(fault),
            killed=fault.fatal and child is not None,
            pid=None if child is None else child.pid,
            output="" if child is None else child.output,
            instead="greedy",
        )


def as_needed(task: Task, snapshot: Snapshot) -> Snapshot:
    """The snapshot with its pods summed up, those of standing gangs only where these stay put."""
    if isinstance(task, BatchTask):
        return replace(snapshot, running=compacted(snapshot.running), standing=())
    apart = {
        (one.gang.key.namespace, pod)
        for one in snapshot.standing
        for role in one.gang.roles
        for pod, _ in role.bound
    }
    return replace(snapshot, running=compacted(snapshot.running, apart))
