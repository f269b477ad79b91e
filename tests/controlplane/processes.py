"""One program of a control plane as a process: started, watched, ended by its id."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

GRACE = 10.0
"""Seconds that a program gets to end by itself before it is killed."""

POLL = 0.02
PORTS = range(20_000, 32_000)
"""Below the ports that systems hand to outgoing connections, so that the port of a stopped
program is still free when it starts again."""
WORKERS = 8
"""Worker processes of a test run that have ports of their own: the port of a program that is not
there yet, or not any more, looks free to all others."""

# The kernel ties a child to the *thread* that started it. This one lives as long as we do, so
# nothing outlives even a killed test run, and nothing dies early with a thread of some test.
_STARTER = ThreadPoolExecutor(1, thread_name_prefix="starter")
_FINDING = threading.Lock()
_GIVEN: deque[int] = deque(maxlen=500)
"""Ports found before, whose programs may still be about to start."""


class ProcessError(RuntimeError):
    """A program did not start or did not become ready; the message ends with its last words."""


def free_ports(count: int) -> list[int]:
    """Find so many free ports of 127.0.0.1 that were not found lately."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    found: list[int] = []
    with _FINDING:
        own = sorted(set(PORTS[worker % WORKERS :: WORKERS]).difference(_GIVEN))
        for port in random.SystemRandom().sample(own, len(own)):
            if len(found) == count:
                break
            with socket.socket() as one, suppress(OSError):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                one.bind(("127.0.0.1", port))
                found.append(port)
        _GIVEN.extend(found)
    return found


class Process:
    """A program with its arguments, started and stopped any number of times.

    What it prints is added to `log`. It gets a process group of its own, so a Ctrl-C at the
    terminal reaches the tests alone, which then end everything in order.
    """

    def __init__(self, name: str, command: Sequence[str], log: Path) -> None:
        self.name = name
        self.command = tuple(command)
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._process.pid if self._process is not None and self.running else None

    @property
    def running(self) -> bool:
        """Whether it has been started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the program. Raises `ProcessError` where it runs already or cannot start."""
        if self.running:
            raise ProcessError(f"{self.name} runs already, as process {self.pid}")
        if shutil.which(self.command[0]) is None:
            raise ProcessError(f"{self.name} cannot start: no program {self.command[0]}")
        self._process = _STARTER.submit(self._popen).result()

    def wait_ready(self, ready: Callable[[], bool], timeout: float) -> None:
        """Wait up to `timeout` seconds until `ready` is true. Raises `ProcessError`."""
        deadline = time.monotonic() + timeout
        while not ready():
            if self._process is None or not self.running:
                code = None if self._process is None else self._process.returncode
                raise ProcessError(f"{self.name} ended with exit code {code}:\n{self.tail()}")
            if time.monotonic() > deadline:
                raise ProcessError(f"{self.name} not ready in {timeout:g} s:\n{self.tail()}")
            time.sleep(POLL)

    def stop(self, grace: float = GRACE) -> None:
        """Ask it to end, and kill it after `grace` seconds. Does nothing where it has ended."""
        self._send(signal.SIGTERM)
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(grace)
        self.kill()

    def kill(self) -> None:
        """End it at once, as a crash would. Does nothing where it has ended."""
        self._send(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()

    def pause(self) -> None:
        """Freeze it: its connections stay open and nothing answers."""
        self._send(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a frozen program go on."""
        self._send(signal.SIGCONT)

    def tail(self, lines: int = 30) -> str:
        """Tell the last lines of the log."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _send(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def _popen(self) -> subprocess.Popen[bytes]:
        tie = shutil.which("setpriv")
        prefix = (tie, "--pdeathsig", "KILL") if tie else ()
        with self.log.open("ab") as output:
            return subprocess.Popen(
                [*prefix, *self.command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
