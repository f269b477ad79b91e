"""Metrics of an agent, with a registry of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from prometheus_client import Counter, Gauge

from fourleaf.agent.readings import Reading
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.metric_registry import new_registry


class AgentMetrics:
    """One method for each thing that happens."""

    def __init__(self, clock: Clock) -> None:
        self.registry = new_registry()
        counter = partial(Counter, registry=self.registry)
        gauge = partial(Gauge, registry=self.registry)
        self._clock = clock
        self._read_at: float | None = None
        self._devices = gauge(
            "fourleaf_agent_devices", "Devices of the node, by health.", ["health"]
        )
        self._ready = gauge("fourleaf_agent_ready", "1 where the inventory can be relied on.")
        self._mismatches = gauge(
            "fourleaf_agent_mismatches",
            "Devices that a pod uses without a grant, each pod counted.",
        )
        self._rounds = counter("fourleaf_agent_rounds_total", "Times that the node was looked at.")
        self._writes = counter("fourleaf_agent_publishes_total", "Writes of the inventory.")
        self._errors = counter(
            "fourleaf_agent_publish_errors_total",
            "Attempts to publish that failed, by HTTP status (0: no answer).",
            ["status"],
        )
        age = gauge(
            "fourleaf_agent_last_read_age_seconds",
            "Seconds since the devices were last read; -1 before the first time.",
        )
        age.set_function(self.read_age)
        self._requests = counter(
            "fourleaf_agent_api_requests_total",
            "Requests to the API server, by verb, kind and HTTP status (0: no answer).",
            ["verb", "kind", "status"],
        )
        self._requested: dict[tuple[str, str, int], int] = {}

    def read_age(self) -> float:
        """Seconds since the last reading without a fault of its own, -1 before the first."""
        return -1.0 if self._read_at is None else self._clock.monotonic() - self._read_at

    def read(self, reading: Reading) -> None:
        """The devices were read."""
        if reading.fault is None:
            self._read_at = self._clock.monotonic()
        healthy = sum(gpu.healthy for gpu in reading.gpus)
        self._devices.labels("healthy").set(healthy)
        self._devices.labels("unhealthy").set(len(reading.gpus) - healthy)

    def judged(self, ready: bool, mismatches: Sequence[object]) -> None:
        """The inventory was looked at, and what runs was compared with what was granted."""
        self._rounds.inc()
        self._ready.set(ready)
        self._mismatches.set(len(mismatches))

    def published(self, writes: int) -> None:
        """The inventory was published with so many writes."""
        self._writes.inc(writes)

    def failed(self, status: int) -> None:
        """An attempt to publish has failed."""
        self._errors.labels(str(status)).inc()

    def requests(self, totals: Mapping[tuple[str, str, int], int]) -> None:
        """So many requests since the start, by verb, kind (and subresource) and HTTP status."""
        for key, total in totals.items():
            more = total - self._requested.get(key, 0)
            if more > 0:
                verb, kind, status = key
                self._requests.labels(verb, kind, str(status)).inc(more)
        self._requested = dict(totals)
