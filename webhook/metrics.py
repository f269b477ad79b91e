"""Metrics of the webhook, with a registry of their own."""

from __future__ import annotations

from functools import partial

from prometheus_client import Counter, Gauge, Histogram

from fourleaf.k8s_bridge.runtime.metric_registry import new_registry

RESULTS = ("allowed", "patched", "refused", "untouched", "malformed", "failed")
"""What a request can come to; `failed` is our own fault."""

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 10.0)


class WebhookMetrics:
    """One method for each thing that happens."""

    def __init__(self, doors: tuple[str, ...] = ()) -> None:
        self.registry = new_registry()
        counter = partial(Counter, registry=self.registry)
        gauge = partial(Gauge, registry=self.registry)
        histogram = partial(Histogram, registry=self.registry)
        self._requests = counter(
            "fourleaf_webhook_requests_total",
            "Admission requests, by path and by what they came to.",
            ["path", "result"],
        )
        self._seconds = histogram(
            "fourleaf_webhook_request_seconds",
            "Seconds from the head of a request until its answer is made.",
            ["path"],
            buckets=_SECONDS,
        )
        self._failures = counter(
            "fourleaf_webhook_certificate_reload_failures_total",
            "Times that a new certificate could not be used, so that the old one was kept.",
        )
        self._not_after = gauge(
            "fourleaf_webhook_certificate_not_after_seconds",
            "When the certificate in use ends, in seconds since the epoch.",
        )
        self._synced = gauge(
            "fourleaf_webhook_certificate_checked_seconds",
            "When the source of the certificate was last read, in seconds since the epoch.",
        )
        self._config_valid = gauge(
            "fourleaf_webhook_config_valid",
            "1 where the newest config is in force, 0 where it is wrong and an older one is.",
        )
        self._config_valid.set(1)
        for door in doors:
            for result in RESULTS:
                self._requests.labels(door, result)

    def answered(self, door: str, result: str, seconds: float) -> None:
        """A request at `door` came to one of `RESULTS`."""
        self._requests.labels(door, result).inc()
        self._seconds.labels(door).observe(seconds)

    def certificate_failed(self) -> None:
        """A new certificate could not be used."""
        self._failures.inc()

    def certificate(self, not_after: float) -> None:
        """The certificate in use ends then."""
        self._not_after.set(not_after)

    def certificate_checked(self, moment: float) -> None:
        """The source of the certificate was read then."""
        self._synced.set(moment)

    def config(self, valid: bool) -> None:
        """Whether the newest config is the one in force."""
        self._config_valid.set(valid)
