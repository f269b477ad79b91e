"""What processes cost, read from outside: CPU, memory, and bytes on their connections."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

_TICKS = os.sysconf("SC_CLK_TCK")
_SOCKET = re.compile(r"^\S+\s+\d+\s+\d+\s+(\S+)\s+(\S+).*?pid=(\d+)", re.M)
_SENT = re.compile(r"bytes_acked:(\d+)")
_RECEIVED = re.compile(r"bytes_received:(\d+)")


def family(pid: int) -> list[int]:
    """`pid` and all that descend from it."""
    found = [pid]
    for one in found:
        with suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system time that the processes, and children that they outlived, have used."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15]))
    return total / _TICKS


def all_cpu_seconds() -> float:
    """Time that all cores of this machine have been busy so far, or taken by its host."""
    words = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    user, nice, system, _idle, _waiting, irq, softirq, stolen = map(int, words[:8])
    return (user + nice + system + irq + softirq + stolen) / _TICKS


def peaks_mib(pids: Iterable[int]) -> tuple[float, ...]:
    """`peak_mib` of each process that still runs."""
    return tuple(filter(None, map(peak_mib, pids)))


def peak_mib(pid: int) -> float:
    """The most memory that a process has held at once (VmHWM); 0 where it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0


@dataclass(slots=True)
class Wire:
    """Bytes of the TCP connections of processes, TLS included; what was seen last counts.

    A connection that opens and closes between two looks is missed. Without the command `ss`
    nothing is seen.
    """

    sockets: dict[tuple[str, str], int] = field(default_factory=dict)

    def look(self, pids: Iterable[int]) -> None:
        """Note how much each connection has carried so far."""
        command = shutil.which("ss")
        if command is None:
            return
        wanted = set(pids)
        text = subprocess.run([command, "-tinpHO"], capture_output=True, text=True, check=False)
        for line in text.stdout.splitlines():
            socket = _SOCKET.match(line)
            if socket is not None and int(socket[3]) in wanted:
                carried = sum(
                    int(one[1]) for one in (_SENT.search(line), _RECEIVED.search(line)) if one
                )
                self.sockets[socket[1], socket[2]] = carried

    @property
    def carried(self) -> int:
        """Bytes in both directions."""
        return sum(self.sockets.values())


class Meter:
    """CPU seconds as time goes by, so that they can be told for any moment. A context.

    `read` gives CPU seconds so far.
    """

    EVERY = 0.1

    def __init__(self, read: Callable[[], float]) -> None:
        self._read = read
        self._seen: list[tuple[float, float]] = []

    async def __aenter__(self) -> Self:
        self._look()
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._look()

    def until(self, moment: float) -> float:
        """CPU seconds from the start until `moment` of the monotonic performance counter."""
        used = next((cpu for at, cpu in self._seen if at >= moment), self._seen[-1][1])
        return used - self._seen[0][1]

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self.EVERY)
            self._look()

    def _look(self) -> None:
        self._seen.append((time.perf_counter(), self._read()))
