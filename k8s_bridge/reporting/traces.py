"""Traces for OpenTelemetry: a span of each cycle, and one of each gang from arrival to bound.

Off unless asked for: the libraries are of an extra, and are loaded by `traces_to` alone.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fourleaf.k8s_bridge.reporting.build_info import own_version
from fourleaf.model.gang import GangKey

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.trace import Span, Tracer

SERVICE = "fourleaf-scheduler"


@dataclass(slots=True)
class _Decided:
    """A gang that is being bound: since when, in seconds since the epoch, and by which cycle."""

    at: float
    cycle: Span | None


class Traces:
    """Makes spans of what the reporter is told. Moments are seconds since the epoch.

    A cycle has a span for each of its phases. A gang has `waiting`, until it was decided, and
    `binding` after it, with a link to the cycle that decided. Cycles that had nothing to decide
    have none.
    """

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._cycle: Span | None = None
        self._began = 0.0
        self._decided: dict[GangKey, _Decided] = {}

    def cycle_begins(self, now: float) -> None:
        """A cycle starts."""
        self._began = now
        self._cycle = self._tracer.start_span("cycle", start_time=_nanoseconds(now))

    def cycle(
        self, cycle_id: str, now: float, seconds: Mapping[str, float], said: Mapping[str, object]
    ) -> None:
        """The cycle has decided something, in so many `seconds` by phase, in their order."""
        span, self._cycle = self._cycle, None
        if span is None:
            return
        span.set_attributes({"fourleaf.cycle": cycle_id, **_named(said)})
        at = self._began
        for phase, took in seconds.items():
            self._part(phase, span, at, at + took)
            at += took
        span.end(_nanoseconds(now))

    def decided(self, gang: GangKey, now: float) -> None:
        """`gang` is about to be bound."""
        self._decided[gang] = _Decided(now, self._cycle)

    def keep(self, gangs: Container[GangKey | None]) -> None:
        """Forget all but these: others are gone before they were bound."""
        self._decided = {gang: one for gang, one in self._decided.items() if gang in gangs}

    def bound(self, gang: GangKey, pods: int, since: float, now: float) -> None:
        """All pods of `gang` are bound, which could be planned first at `since`."""
        from opentelemetry.trace import Link

        decided = self._decided.pop(gang, None)
        cycle = decided.cycle if decided else None
        span = self._tracer.start_span(
            "gang",
            start_time=_nanoseconds(since),
            links=[Link(cycle.get_span_context())] if cycle else [],
            attributes={
                "k8s.namespace.name": gang.namespace,
                **_named({"gang": gang.name, "pods": pods}),
            },
        )
        if decided:
            self._part("waiting", span, since, decided.at)
            self._part("binding", span, decided.at, now)
        span.end(_nanoseconds(now))

    def _part(self, name: str, whole: Span, start: float, end: float) -> None:
        from opentelemetry.trace import set_span_in_context

        inside = set_span_in_context(whole)
        span = self._tracer.start_span(name, context=inside, start_time=_nanoseconds(start))
        span.end(_nanoseconds(end))


@contextmanager
def traces_to(processor: SpanProcessor | None = None) -> Iterator[Traces]:
    """Traces to `processor`; without one, to the collector that the environment names.

    What is left is sent at the end. The variables are OpenTelemetry's own, such as
    OTEL_EXPORTER_OTLP_ENDPOINT. Raises `ModuleNotFoundError` without the extra.
    """
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    provider = TracerProvider(resource=Resource.create({"service.name": SERVICE}))
    provider.add_span_processor(processor or _to_collector())
    try:
        yield Traces(provider.get_tracer("fourleaf", own_version()))
    finally:
        provider.shutdown()


def _to_collector() -> SpanProcessor:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    return BatchSpanProcessor(OTLPSpanExporter())


def _named(said: Mapping[str, Any]) -> dict[str, Any]:
    return {f"fourleaf.{name}": value for name, value in said.items()}


def _nanoseconds(moment: float) -> int:
    return int(moment * 1e9)
