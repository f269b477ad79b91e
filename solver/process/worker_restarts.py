"""Worker restarts: keeps one solver process alive, and has the next one started in time."""

from __future__ import annotations

import threading
import time

from fourleaf.solver.process.worker_process import WorkerFault, WorkerProcess

WORKER = "fourleaf.solver.process.worker"
"""The module that a solver process runs."""

FIRST_DELAY_SECONDS = 0.25
LONGEST_DELAY_SECONDS = 30.0


def restart_delay(deaths: int) -> float:
    """Tell the seconds before the next start after `deaths` in a row: 0, then doubling."""
    if deaths <= 1:
        return 0.0
    return float(min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2.0 ** min(deaths - 2, 16)))


class Supervisor:
    """Runs one worker at a time from a thread of its own.

    The thread has to live as long as the worker: Linux sends the signal that ties a worker
    to its parent when the *thread* that started it ends.
    """

    def __init__(self, module: str = WORKER, niceness: int = 0) -> None:
        self._module = module
        self._niceness = niceness
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._worker: WorkerProcess | None = None
        self._closing = False
        self._deaths = 0
        self._next_start = 0.0
        self._last_exit = ""

    def start(self) -> None:
        """Start the first worker in the background; does nothing where that has been done."""
        with self._changed:
            if self._closing:
                raise RuntimeError("the solver client is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="solver", daemon=True)
                self._thread.start()

    def worker(self, until: float) -> WorkerProcess:
        """Return the living one. Raises `WorkerFault` at once while a crash loop is held back."""
        with self._changed:
            while self._worker is None or self._worker.killed:
                wait = self._next_start - time.monotonic()
                if self._closing:
                    raise WorkerFault("the solver client is closed", fatal=False)
                if wait > 0:
                    raise WorkerFault(
                        f"it died {self._deaths} times in a row ({self._last_exit}) "
                        f"and starts again in {wait:.1f} s",
                        fatal=False,
                    )
                if not self._changed.wait(max(0.0, until - time.monotonic())):
                    raise WorkerFault("no process could be started in time", fatal=False)
            return self._worker

    def reset_backoff(self) -> None:
        """Forget earlier deaths: the worker has given a good answer."""
        with self._changed:
            self._deaths = 0

    def close(self) -> None:
        """Kill and reap the worker, and end the thread. May be called again."""
        with self._changed:
            self._closing = True
            if self._worker is not None:
                self._worker.kill()
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while self._wait_for_start():
            try:
                worker = WorkerProcess(self._module, self._niceness)
            except OSError as error:
                self._record_exit(f"no process could be started: {error}")
                continue
            with self._changed:
                self._worker = worker
                if self._closing:
                    worker.kill()
                self._changed.notify_all()
            worker.wait_until_dead()
            with self._changed:
                self._worker = None
            worker.reap()
            self._record_exit(
                worker.exit_message() + (f": {worker.output}" if worker.output else "")
            )

    def _wait_for_start(self) -> bool:
        with self._changed:
            delay = self._next_start - time.monotonic()
            self._changed.wait_for(lambda: self._closing, timeout=max(0.0, delay))
            return not self._closing

    def _record_exit(self, words: str) -> None:
        with self._changed:
            self._deaths += 1
            self._next_start = time.monotonic() + restart_delay(self._deaths)
            self._last_exit = words.splitlines()[-1] if words else ""
            self._changed.notify_all()
