"""One solver process as the parent holds it: start, talk with a deadline, kill, reap."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fourleaf.solver.process.framing import READY, Inbox, Size, WireError

if TYPE_CHECKING:
    from fourleaf.model.fabric import Fabric
    from fourleaf.solver.process.messages import Reply

CHUNK_BYTES = 2**16
NOISE_BYTES = 2**20
"""Bytes that a worker may print during one call; a pipe is never read without end."""

TAIL_BYTES = 2000
"""Bytes of what a worker printed last that go into the log."""

NICENESS = 19
"""What Linux takes for the lowest priority."""

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
"""Unused threads would reserve address space, which is what is limited."""


class WorkerFault(Exception):
    """Why there is no plan from the worker. `fatal`: the worker is not to be trusted any more."""

    def __init__(self, why: str, fatal: bool = True) -> None:
        super().__init__(why)
        self.fatal = fatal


class Late(WorkerFault):
    """Nothing came in time."""


class WorkerProcess:
    """A running worker. A thread that talks to it holds `talking`.

    `fabric` is the one that it holds under `fabric_id`. `started_at` is in monotonic seconds.
    `killed` is set once it has been told to die. It is `niceness` nicer than its parent.
    Raises `OSError` where no process can be started.
    """

    def __init__(self, module: str, niceness: int = 0) -> None:
        self.talking = threading.Lock()
        self.ready = False
        self.killed = False
        self.fabric: Fabric | None = None
        self.fabric_id = 0
        self.started_at = time.monotonic()
        self._life = threading.Lock()
        self._reaped = False
        self._inbox = Inbox()
        self._size = Size()
        self._unsent = memoryview(b"")
        self._noise = 0
        self._tail = b""
        self._answers, sender = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-P", "-m", module, str(sender), str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                pass_fds=(sender,),
                start_new_session=True,
                env=_environment(),
            )
        except BaseException:
            os.close(self._answers)
            raise
        finally:
            os.close(sender)
        if niceness:
            own = os.getpriority(os.PRIO_PROCESS, 0)
            os.setpriority(os.PRIO_PROCESS, self.pid, min(NICENESS, own + niceness))
        self._requests = _descriptor(self._process.stdin)
        self._output = _descriptor(self._process.stdout)
        for descriptor in (self._requests, self._output, self._answers):
            os.set_blocking(descriptor, False)

    @property
    def pid(self) -> int:
        """Process id, and the id of its process group."""
        return self._process.pid

    @property
    def output(self) -> str:
        """The end of what the worker has printed."""
        return self._tail.decode(errors="replace").strip()

    def send(self, message: bytes, size: Size) -> None:
        """Hand over `message`, written while `receive` waits, for replies of at most `size`."""
        self._unsent = memoryview(message)
        self._size = size
        self._inbox.limit = size.length
        self._noise = 0

    def receive(self, until: float) -> Reply:
        """Wait for the next reply. Raises `WorkerFault` where none comes in time."""
        if self._reaped:
            raise WorkerFault(self.exit_message())
        with selectors.DefaultSelector() as selector:
            selector.register(self._answers, selectors.EVENT_READ)
            selector.register(self._output, selectors.EVENT_READ)
            if self._unsent:
                selector.register(self._requests, selectors.EVENT_WRITE)
            while True:
                reply = self._next_reply()
                if reply is not None:
                    return reply
                left = until - time.monotonic()
                if left <= 0:
                    raise Late("it did not answer in time")
                for key, _ in selector.select(left):
                    if not self._serve(key.fd):
                        selector.unregister(key.fd)

    def _next_reply(self) -> Reply | None:
        # The worker is started before this process has loaded what it says.
        from fourleaf.solver.process.messages import decode_reply

        try:
            payload = self._inbox.next()
            reply = None if payload is None else decode_reply(payload, self._size)
        except WireError as error:
            raise WorkerFault(f"its answer makes no sense: {error}") from None
        if reply is not None and reply.call == READY:
            self.ready = True
        return reply

    def _serve(self, descriptor: int) -> bool:
        """Move bytes on a descriptor that is ready; whether there is more to move."""
        if descriptor == self._requests:
            return self._write()
        try:
            data = os.read(descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return True
        if descriptor == self._output:
            self._noise += len(data)
            self._tail = (self._tail + data)[-TAIL_BYTES:]
            if self._noise > NOISE_BYTES:
                raise WorkerFault(f"it printed more than {NOISE_BYTES} bytes")
            return bool(data)
        if not data:
            self._wait_for_exit_status()
            raise WorkerFault(self.exit_message())
        self._inbox.feed(data)
        return True

    def _write(self) -> bool:
        try:
            self._unsent = self._unsent[os.write(self._requests, self._unsent) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            # The end of its answers follows at once and says more.
            self._unsent = memoryview(b"")
        return bool(self._unsent)

    def _wait_for_exit_status(self) -> None:
        """Wait a little: the pipes of a dying process end before its exit status is known."""
        for _ in range(100):
            with self._life:
                if self._process.returncode is not None:
                    return
            time.sleep(0.002)

    def exit_message(self) -> str:
        """Say how the process ended."""
        status = self._process.returncode
        if status is None:
            return "it closed its pipe"
        if status < 0:
            with suppress(ValueError):
                return f"it was ended by {signal.Signals(-status).name}"
            return f"it was ended by signal {-status}"
        return f"it exited with status {status}"

    def kill(self) -> None:
        """Send SIGKILL to the process and all that it started. Returns at once."""
        self.killed = True
        with self._life:
            if self._process.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, signal.SIGKILL)

    def wait_until_dead(self) -> None:
        """Block until the process has ended, by whatever cause."""
        if hasattr(os, "waitid"):
            # Not reaped yet: until `reap`, no stranger can get its process id.
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            return
        while True:
            with self._life:
                if self._process.poll() is not None:
                    return
            time.sleep(0.05)

    def reap(self) -> None:
        """Kill what is left of its group, reap it, close its pipes. Waits for who is talking."""
        self.kill()
        with self._life:
            self._process.wait()
        with self.talking:
            self._reaped = True
            with suppress(BlockingIOError):
                self._tail = (self._tail + os.read(self._output, CHUNK_BYTES))[-TAIL_BYTES:]
            os.close(self._answers)
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()


def _descriptor(pipe: object) -> int:
    if pipe is None or not hasattr(pipe, "fileno"):
        raise OSError("no pipe to the solver process")
    return int(pipe.fileno())


def _environment() -> dict[str, str]:
    """Copy the parent's, so arranged that the worker imports exactly what the parent would."""
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    return {**os.environ, **ONE_THREAD, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
