"""The check service: says where it runs and which devices it sees, again and again.

It needs the standard library alone, so that its image can hold this one file. The environment
tells what it says: `NODE_NAME` and `POD_NAME` (set from fields of the pod) and
`CUDA_VISIBLE_DEVICES`; what it holds that against: `DEVICE_MAP` and `GRANTED_DEVICES` (set from
annotations of the pod, or empty); and how: `CHECK_INTERVAL` in seconds and `CHECK_PORT`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TextIO

INTERVAL = 10.0
PORT = 8080
VISIBLE = "CUDA_VISIBLE_DEVICES"
LINE = re.compile(r"\s*([0-9]+)\s*=\s*([^:\s]+)\s*:\s*([0-9,\s]+?)\s*")
"""A line of a device map: index, node, devices."""

LATE = 3
"""Intervals without a line after which the service does not count as healthy."""


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


def server_of(seen: Seen, beat: Beat, port: int) -> ThreadingHTTPServer:
    """A server of `/healthz` and `/metrics` on all addresses; `port` 0 takes a free one."""

    class Handler(BaseHTTPRequestHandler):
        """Answers GET alone."""

        def do_GET(self) -> None:
            """Answer one request."""
            match self.path.partition("?")[0]:
                case "/healthz" if beat.healthy(time.monotonic()):
                    self._answer(200, "ok\n")
                case "/healthz":
                    self._answer(503, "no line for too long\n")
                case "/metrics":
                    self._answer(200, metrics_of(seen, beat.lines))
                case _:
                    self._answer(404, "only /healthz and /metrics are here\n")

        def _answer(self, status: int, text: str) -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - likewise
            """Keep probes out of the log, which has one line per interval."""

    return ThreadingHTTPServer(("", port), Handler)


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
    with server_of(seen, beat, int(environment.get("CHECK_PORT") or PORT)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        write_lines(seen, beat, stop, sys.stdout)
        server.shutdown()


if __name__ == "__main__":
    main(os.environ)
