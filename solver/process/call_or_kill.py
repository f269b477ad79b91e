"""The parent's end of the line to the solver process: ask, and hear the answer in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import structlog

from fourleaf.model.plan import Stage
from fourleaf.model.snapshot import Snapshot
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
from fourleaf.solver.process.worker_process import Late, WorkerFault, WorkerProcess
from fourleaf.solver.process.worker_restarts import Supervisor

LOAD_SECONDS = 30.0
"""How long a new process may take to load OR-tools before it counts as hung."""

OnStage = Callable[[Stage], None]


class TimedCalls:
    """One worker at a time, one call at a time; a worker that misbehaves is killed."""

    def __init__(self, supervisor: Supervisor, load_seconds: float) -> None:
        self.supervisor = supervisor
        self._load_seconds = load_seconds
        self._busy = threading.Lock()
        self._calls = READY
        self._log = structlog.get_logger(__name__)

    def wait_until_ready(self, seconds: float) -> bool:
        """Wait until the worker has loaded, at most `seconds`; whether it has."""
        until = time.monotonic() + seconds
        with self._busy:
            try:
                worker = self.supervisor.worker(until)
                with worker.talking:
                    self._await_ready(worker, until)
            except WorkerFault:
                # The next call meets the same worker, or its successor, and says what is wrong.
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
        """Ask it and let `judge` see its answer. Raises `WorkerFault`, also that of `judge`.

        Whatever else `judge` or `on_stage` raises is raised as well. The worker does not live
        on unless the fault says so.
        """
        if not self._busy.acquire(timeout=max(0.0, deadlines.answer - time.monotonic())):
            busy = WorkerFault("the solver is busy with another call", fatal=False)
            self._warn(busy, None)
            raise busy
        worker: WorkerProcess | None = None
        try:
            worker = self.supervisor.worker(deadlines.answer)
            with worker.talking:
                outcome = self._ask(worker, task, snapshot, enabled, deadlines, on_stage)
            judge(outcome)
        except BaseException as error:
            if worker is not None and (not isinstance(error, WorkerFault) or error.fatal):
                worker.kill()
            if isinstance(error, WorkerFault):
                self._warn(error, worker)
            raise
        finally:
            self._busy.release()
        self.supervisor.reset_backoff()

    def _ask(
        self,
        worker: WorkerProcess,
        task: Task,
        snapshot: Snapshot,
        enabled: bool,
        deadlines: Deadlines,
        on_stage: OnStage | None,
    ) -> Outcome:
        self._await_ready(worker, deadlines.answer)
        self._calls += 1
        message = self._request(worker, task, snapshot, enabled, deadlines)
        worker.send(message, Size.of_plan(snapshot))
        while True:
            reply = worker.receive(deadlines.answer)
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

    def _await_ready(self, worker: WorkerProcess, until: float) -> None:
        while not worker.ready:
            try:
                worker.receive(until)
            except Late:
                # Killing a process that only loads slowly would keep it from ever being ready.
                if time.monotonic() < worker.started_at + self._load_seconds:
                    raise WorkerFault("it is still loading", fatal=False) from None
                raise WorkerFault(f"it did not load within {self._load_seconds:g} s") from None

    def _request(
        self,
        worker: WorkerProcess,
        task: Task,
        snapshot: Snapshot,
        enabled: bool,
        deadlines: Deadlines,
    ) -> bytes:
        """Write the message for this call, with the fabric where the worker has another one."""
        fabric = None if worker.fabric is snapshot.fabric else snapshot.fabric
        if fabric is not None:
            worker.fabric, worker.fabric_id = fabric, worker.fabric_id + 1
        try:
            return encode_request(
                Request(
                    self._calls,
                    worker.fabric_id,
                    fabric,
                    dynamic_part(as_needed(task, snapshot)),
                    enabled,
                    deadlines.child_seconds(),
                    task,
                )
            )
        except Exception as error:
            raise WorkerFault(f"the snapshot cannot be sent: {error!r}") from error

    def _warn(self, fault: WorkerFault, worker: WorkerProcess | None) -> None:
        self._log.warning(
            "solver_failed",
            why=str(fault),
            killed=fault.fatal and worker is not None,
            pid=None if worker is None else worker.pid,
            output="" if worker is None else worker.output,
            instead="greedy",
        )


def as_needed(task: Task, snapshot: Snapshot) -> Snapshot:
    """The snapshot with its pods summed up, those of standing gangs only where these stay put.

    Replicas of what waits stay apart as well: a batch counts them on every node.
    """
    if isinstance(task, BatchTask):
        owners = snapshot.replicas
        replicas = {
            (pod.namespace, pod.name)
            for pod in (snapshot.running if owners else ())
            if pod.owner and (pod.namespace, pod.owner) in owners
        }
        return replace(snapshot, running=compacted(snapshot.running, replicas), standing=())
    apart = {pod for one in snapshot.standing for pod in one.live}
    return replace(snapshot, running=compacted(snapshot.running, apart))
