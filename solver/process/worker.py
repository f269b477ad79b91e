"""The solver process: loads OR-tools, solves what comes in on stdin, answers on its own pipe.

Started by the parent as `python -m fourleaf.solver.process.worker ANSWERS PARENT`: the descriptor
to answer on and the parent's process id. Stdout and stderr stay free for whatever libraries print.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from fourleaf.model.extensions import ExtensionError
from fourleaf.model.fabric import Fabric
from fourleaf.model.plan import Stage
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.process.framing import READY, read_frame, write_all
from fourleaf.solver.process.memory_limit import (
    container_limit_mib,
    limit_memory,
    mapped_beyond_resident,
    peak_memory_mib,
    resident_mib,
    within_container,
)
from fourleaf.solver.process.messages import (
    BatchTask,
    DefragmentationTask,
    Outcome,
    PreemptionTask,
    RepairTask,
    Reply,
    Request,
    Task,
    decode_request,
    encode_reply,
)

Solve = Callable[[Task, Snapshot, bool, Callable[[Stage], None]], Outcome | None]
"""Task, snapshot, whether extensions take part, what to call after each stage.

`None`: the time was up before there was any plan.
"""

PR_SET_PDEATHSIG = 1


def tie_to_parent(parent: int) -> None:
    """Die with the parent, leave no core files, and be the first to go when memory is short.

    On Linux the kernel sends the signal. Elsewhere the end of stdin has to do.
    """
    faulthandler.enable()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    if os.getppid() != parent:
        os._exit(0)
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read_requests(requests: queue.SimpleQueue[Request]) -> None:
    """Feed `requests` from stdin, and end the process with it: the answer would not be read."""
    try:
        while True:
            requests.put(decode_request(read_frame(sys.stdin.fileno())))
    except EOFError:
        os._exit(0)
    except BaseException:  # noqa: BLE001 - this thread must not end without the process
        traceback.print_exc()
        os._exit(1)


class WorkerServer:
    """Answers requests one by one, and keeps the fabric from one to the next."""

    def __init__(self, solve: Solve, answers: int) -> None:
        self._solve = solve
        self._answers = answers
        self._fabric: Fabric | None = None
        self._fabric_id = 0
        self._reserved = mapped_beyond_resident()
        self._container = container_limit_mib()

    def reply(self, reply: Reply) -> None:
        """Send `reply` to the parent."""
        write_all(self._answers, encode_reply(reply))

    def snapshot(self, request: Request) -> Snapshot:
        """Build the snapshot of `request`, with its time limit, on the fabric that it names."""
        if request.fabric is not None:
            self._fabric, self._fabric_id = request.fabric, request.fabric_id
        if self._fabric is None or self._fabric_id != request.fabric_id:
            raise LookupError(f"fabric {request.fabric_id} was never sent")
        snapshot = Snapshot(fabric=self._fabric, **request.rest)
        spec = snapshot.config.spec
        solver = spec.solver.model_copy(update={"time_limit_seconds": request.seconds})
        spec = spec.model_copy(update={"solver": solver})
        return replace(snapshot, config=snapshot.config.model_copy(update={"spec": spec}))

    def answer(self, request: Request) -> None:
        """Solve `request`, sending each stage as it ends, then the plan."""
        snapshot = self.snapshot(request)
        wanted = snapshot.config.spec.solver.memory_limit_mib
        others = resident_mib(os.getppid())
        limit_memory(within_container(wanted, self._container, others), self._reserved)
        outcome = self._solve(
            request.task,
            snapshot,
            request.extensions_enabled,
            lambda stage: self.reply(Reply(request.call, stage=stage)),
        )
        if outcome is None:
            self.reply(Reply(request.call, nothing=True))
        else:
            outcome = replace(outcome, peak_memory_mib=peak_memory_mib())
            self.reply(Reply.of(request.call, outcome))


def run(load: Callable[[], Solve]) -> None:
    """Serve until stdin ends, or until a request fails: its state is then not to be trusted.

    `load` imports what solving needs; it runs after the process is tied to its parent.
    """
    answers, parent = int(sys.argv[1]), int(sys.argv[2])
    tie_to_parent(parent)
    requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests,), daemon=True).start()
    server = WorkerServer(load(), answers)
    server.reply(Reply(READY))
    gc.freeze()
    gc.disable()
    while True:
        request = requests.get()
        try:
            server.answer(request)
            gc.collect()
        except Exception as error:
            server.reply(Reply(request.call, failure=f"{type(error).__name__} {error}".strip()))
            if isinstance(error, ExtensionError):
                # Its message says all; a trace through our own code would only hide it.
                sys.exit(1)
            raise


def load_solvers() -> Solve:
    """Load the solvers and OR-tools, which takes most of a second."""
    from fourleaf.model.extensions import Extensions
    from fourleaf.model.extensions import load as load_extensions
    from fourleaf.solver.batch.solve import solve
    from fourleaf.solver.relocation.defragment import defragment
    from fourleaf.solver.relocation.preempt import preempt
    from fourleaf.solver.relocation.repair import repair

    @cache
    def extensions(enabled: bool) -> Extensions:
        return load_extensions() if enabled else Extensions()

    def solve_task(
        task: Task, snapshot: Snapshot, enabled: bool, on_stage: Callable[[Stage], None]
    ) -> Outcome | None:
        found = extensions(enabled)
        match task:
            case BatchTask():
                return solve(snapshot, found, on_stage)
            case RepairTask():
                return repair(snapshot, found, on_stage)
            case PreemptionTask(gang):
                return preempt(snapshot, gang, found, on_stage)
            case DefragmentationTask(budget):
                return defragment(snapshot, budget, found, on_stage)

    return solve_task


if __name__ == "__main__":
    run(load_solvers)
