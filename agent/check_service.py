"""The check service: says where it runs and which devices it sees, again and again.

It needs the standard library alone, so that its image can hold this one file. The environment
tells what it says: `NODE_NAME` and `POD_NAME` (set from fields of the pod) and
`CUDA_VISIBLE_DEVICES`; what it holds that against: `DEVICE_MAP` and `GRANTED_DEVICES` (set from
annotations of the pod, or empty); and how: `CHECK_INTERVAL` in seconds and `CHECK_PORT`.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TextIO

INTERVAL = 10.0
PORT = 8080
VISIBLE = "CUDA_VISIBLE_DEVICES"
LINE = re.compile(r"\s*([0-9]+)\s*=\s*([^:\s]+)\s*:\s*([0-9,\s]+?)\s*")
"""A line of a device map: index, node, devices."""

LATE = 3
"""Intervals without a line after which the service does not count as healthy."""

CONNECTIONS = 32
"""Connections at once; probes and Prometheus need one each for milliseconds."""
REQUEST_SECONDS = 5.0
"""Seconds for one request and its answer, from the connection on."""
HEAD_BYTES = 8 * 2**10
"""Bytes of the head of a request."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a pod sees of its place. `visible` is None where the variable is not set.

    `device_map` and `granted` are what it should see, each "" where nothing says.
    """

    node: str
    pod: str
    visible: str | None
    device_map: str = ""
    granted: str = ""

    @property
    def devices(self) -> list[str]:
        """The devices that CUDA would show, as they are named."""
        return _split(self.visible or "")

    @property
    def complaint(self) -> str:
        """What is wrong with it, "" where nothing is."""
        if self.visible is None:
            return f"{VISIBLE} is not set"
        if not self.devices:
            return f"{VISIBLE} is empty, so CUDA shows no device"
        if len(set(self.devices)) < len(self.devices):
            return f"{VISIBLE} names a device twice"
        if self.granted and sorted(self.devices) != sorted(_split(self.granted)):
            return f"{VISIBLE} is {self.visible}, but {self.granted} was granted"
        return self._against_map()

    def _against_map(self) -> str:
        """What differs from the line of its index, or from every line where it has none."""
        lines = {one[1]: (one[2], _split(one[3])) for one in _lines(self.device_map)}
        index = self.pod.rpartition("-")[2]
        own = {index: lines[index]} if index in lines else lines
        there = [devices for node, devices in own.values() if node == self.node]
        if own and not there:
            nodes = ", ".join(sorted({node for node, _ in own.values()}))
            return f"it stands on {self.node}, and its map names {nodes}"
        if there and not any(sorted(self.devices) == sorted(one) for one in there):
            told = " or ".join(",".join(one) for one in there)
            return f"{VISIBLE} is {self.visible}, and its map names {told}"
        return ""


def _lines(text: str) -> list[re.Match[str]]:
    return [found for line in text.splitlines() if (found := LINE.fullmatch(line))]


def _split(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def seen_in(environment: Mapping[str, str]) -> Seen:
    """What `environment` says."""
    node = environment.get("NODE_NAME") or "unknown"
    pod = environment.get("POD_NAME") or environment.get("HOSTNAME") or "unknown"
    should = (environment.get(name, "") for name in ("DEVICE_MAP", "GRANTED_DEVICES"))
    return Seen(node, pod, environment.get(VISIBLE), *should)


def line_of(seen: Seen, now: float) -> str:
    """One line of JSON for the log; `now` in seconds since the epoch."""
    complaint = seen.complaint
    whole = {
        "timestamp": datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds"),
        "level": "warning" if complaint else "info",
        "event": complaint or "devices as granted",
        "node": seen.node,
        "pod": seen.pod,
        VISIBLE: seen.visible,
    }
    return json.dumps(whole)


@dataclass(slots=True)
class Beat:
    """How many lines were written, and when the last was, on the monotonic clock."""

    interval: float
    lines: int = 0
    last: float | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def mark(self, now: float) -> None:
        """Note a line."""
        with self.lock:
            self.lines, self.last = self.lines + 1, now

    def healthy(self, now: float) -> bool:
        """Whether lines come as they should."""
        with self.lock:
            return self.last is not None and now - self.last <= LATE * self.interval


def metrics_of(seen: Seen, lines: int) -> str:
    """What a Prometheus server reads."""
    labels = f'node="{_escaped(seen.node)}",pod="{_escaped(seen.pod)}"'
    visible = _escaped(seen.visible or "")
    return "".join(
        f"# HELP {name} {text}\n# TYPE {name} {kind}\n{name}{{{own}}} {value}\n"
        for name, kind, text, own, value in (
            ("gpu_scheduler_check_devices", "gauge", "Devices in sight.", labels,
             len(seen.devices)),
            ("gpu_scheduler_check_ok", "gauge", "1 where node and devices are as granted.",
             labels, int(not seen.complaint)),
            ("gpu_scheduler_check_lines_total", "counter", "Lines logged.", labels, lines),
            ("gpu_scheduler_check_info", "gauge", "The variable as it stands.",
             f'{labels},cuda_visible_devices="{visible}"', 1),
        )
    )  # fmt: skip


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


@dataclass(slots=True, eq=False)
class Answers:
    """Answers GET alone, one request a connection, in bounds of size and time.

    One client keeps no probe out: where there are too many connections, the oldest of the address
    that holds most of them goes.
    """

    seen: Seen
    beat: Beat
    _held: dict[asyncio.StreamWriter, str] = field(default_factory=dict)
    """Connections in the order in which they came, and the address of each."""

    async def serve(self, listening: socket.socket) -> None:
        """Answer all clients, until it is cancelled."""
        server = await asyncio.start_server(self._connected, sock=listening, limit=HEAD_BYTES)
        async with server:
            await server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._held) >= CONNECTIONS:
            self._make_room()
        self._held[writer] = str((writer.get_extra_info("peername") or ("",))[0])
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                writer.write(await self._answer(reader))
                writer.close()
                await writer.wait_closed()
        except (OSError, EOFError):
            # It went, was slow, or had to make room.
            pass
        finally:
            self._held.pop(writer, None)
            writer.transport.abort()

    def _make_room(self) -> None:
        share = Counter(self._held.values())
        # The first of those that are equal is the oldest.
        leaving = max(self._held, key=lambda one: share[self._held[one]])
        del self._held[leaving]
        leaving.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return _response(431, f"the head is longer than {HEAD_BYTES} bytes\n")
        match head.partition(b"\r\n")[0].split(b" "):
            case [b"GET", target, version] if version.startswith(b"HTTP/1."):
                return self._page(target.partition(b"?")[0])
            case _:
                return _response(400, "only GET of HTTP/1.1 is answered\n")

    def _page(self, path: bytes) -> bytes:
        match path:
            case b"/healthz" if self.beat.healthy(time.monotonic()):
                return _response(200, "ok\n")
            case b"/healthz":
                return _response(503, "no line for too long\n")
            case b"/metrics":
                return _response(200, metrics_of(self.seen, self.beat.lines))
            case _:
                return _response(404, "only /healthz and /metrics are here\n")


def _response(status: int, text: str) -> bytes:
    body = text.encode()
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
        "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


def listening(port: int) -> socket.socket:
    """A socket that listens at `port` of all addresses; 0 takes a free one."""
    return socket.create_server(("", port))


def write_lines(seen: Seen, beat: Beat, stop: threading.Event, out: TextIO) -> None:
    """Write a line to `out` every interval until `stop` is set."""
    while True:
        out.write(line_of(seen, time.time()) + "\n")
        out.flush()
        beat.mark(time.monotonic())
        if stop.wait(beat.interval):
            return


def main(environment: Mapping[str, str]) -> None:
    """Run until SIGTERM or SIGINT."""
    seen = seen_in(environment)
    beat = Beat(float(environment.get("CHECK_INTERVAL") or INTERVAL))
    stop = threading.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda *_: stop.set())
    answers = Answers(seen, beat).serve(listening(int(environment.get("CHECK_PORT") or PORT)))
    threading.Thread(target=asyncio.run, args=(answers,), daemon=True).start()
    write_lines(seen, beat, stop, sys.stdout)


if __name__ == "__main__":
    main(os.environ)
