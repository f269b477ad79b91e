"""Spans of cycles and gangs, as the exporter in memory gets them, and that they are off."""

from __future__ import annotations

import asyncio
import subprocess
import sys

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import gang, nodes, submit
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.reporting.reporter import Reporter
from fourleaf.k8s_bridge.reporting.scheduler_state import SchedulerState
from fourleaf.k8s_bridge.reporting.traces import traces_to
from fourleaf.k8s_bridge.scheduler import Scheduler, SchedulerOptions
from fourleaf.model.gang import GangKey
from tests.k8s_bridge.test_scheduler import greedy
from tests.twins.virtual_clock import VirtualClock

SECOND = 10**9


def parts(spans: tuple[ReadableSpan, ...], whole: ReadableSpan) -> dict[str, tuple[float, float]]:
    """Name -> start and end in seconds of the spans inside of `whole`."""
    return {
        one.name: ((one.start_time or 0) / SECOND, (one.end_time or 0) / SECOND)
        for one in spans
        if one.parent is not None and one.parent.span_id == whole.context.span_id
    }


def test_a_gang_from_arrival_to_bound() -> None:
    """Seen at 100, decided by a cycle that began at 160, bound at 165; an empty cycle has none."""
    exporter, key = InMemorySpanExporter(), GangKey("ml", "g")
    with traces_to(SimpleSpanProcessor(exporter)) as traces:
        traces.cycle_begins(150.0)
        traces.cycle_begins(160.0)
        traces.decided(key, 161.0)
        phases = {"solve": 0.75, "commit": 0.5}
        traces.cycle("3-7", 162.0, phases, {"status": "OPTIMAL", "placed": 1})
        traces.bound(key, 2, 100.0, 165.0)
    spans = exporter.get_finished_spans()
    assert len(spans) == 6
    (cycle,) = (one for one in spans if one.name == "cycle")
    (whole,) = (one for one in spans if one.name == "gang")
    assert (cycle.start_time, cycle.end_time) == (160 * SECOND, 162 * SECOND)
    assert parts(spans, cycle) == {"solve": (160.0, 160.75), "commit": (160.75, 161.25)}
    assert dict(cycle.attributes or {}) == {
        "fourleaf.cycle": "3-7",
        "fourleaf.status": "OPTIMAL",
        "fourleaf.placed": 1,
    }
    assert (whole.start_time, whole.end_time) == (100 * SECOND, 165 * SECOND)
    assert parts(spans, whole) == {"waiting": (100.0, 161.0), "binding": (161.0, 165.0)}
    assert [link.context.span_id for link in whole.links] == [cycle.context.span_id]
    assert dict(whole.attributes or {}) == {
        "k8s.namespace.name": "ml",
        "fourleaf.gang": "g",
        "fourleaf.pods": 2,
    }


async def test_the_scheduler_traces_what_it_binds() -> None:
    """A gang of four is bound by one cycle that placed it, within seconds of its arrival."""
    exporter, clock = InMemorySpanExporter(), VirtualClock()
    cluster = MemoryCluster(clock=clock)
    for body in nodes(1, 2, 4):
        await cluster.create(NODES, "", body)
    with traces_to(SimpleSpanProcessor(exporter)) as traces:

        def reporter(one: SchedulerState) -> Reporter:
            return Reporter(one, SchedulerMetrics(), traces=traces)

        options = SchedulerOptions(identity="a", dry_run="never")
        scheduler = Scheduler(cluster, clock, greedy, options, reporter)
        running = asyncio.ensure_future(scheduler.run())
        await clock.advance(1)
        arrived = clock.wall()
        await submit(cluster, "ml", gang("four", 4))
        await clock.advance(3)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    spans = exporter.get_finished_spans()
    (whole,) = (one for one in spans if one.name == "gang")
    (link,) = whole.links
    (cycle,) = (one for one in spans if one.context.span_id == link.context.span_id)
    assert (cycle.attributes or {})["fourleaf.placed"] == 1
    assert {"solve", "commit"} <= parts(spans, cycle).keys()
    assert parts(spans, whole).keys() == {"waiting", "binding"}
    start, end = (whole.start_time or 0) / SECOND, (whole.end_time or 0) / SECOND
    assert arrived - 1 <= start <= end <= arrived + 3


def test_nothing_of_it_is_loaded_unless_asked_for() -> None:
    """The reporter, and the verb that runs the scheduler, do without."""
    program = "import sys, fourleaf.cli.main, fourleaf.k8s_bridge.reporting.reporter"
    program += "; print('opentelemetry' in sys.modules)"
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "False\n"
