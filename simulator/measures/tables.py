"""The tables of a set of replays, as text in cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fourleaf.model.fabric import Fabric
from fourleaf.model.reasons.text import counted
from fourleaf.simulator.measures.summary import HOUR, Summary
from fourleaf.simulator.record import ReplayRecord
from fourleaf.simulator.trace import Trace


@dataclass(frozen=True, slots=True)
class Table:
    """A title, column heads and rows of cells."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(runs: Sequence[tuple[str, ReplayRecord, Summary]]) -> tuple[Table, ...]:
    """What is asked first, the waits by size, and what failures cost where there were any."""
    found = [_overview(runs), _waits(runs)]
    if any(record.counts.failures for _, record, _ in runs):
        found.append(_failures(runs))
    return tuple(found)


def _overview(runs: Sequence[tuple[str, ReplayRecord, Summary]]) -> Table:
    header = (
        "policy", "allocation", "wait mean", "wait p95", "largest gangs, wait p95",
        "completion mean", "leaves / fewest", "hops between leaves", "slowdown",
        "illegal gangs", "breaches",
        "free leaves / pairs / quads", "moves", "never started", "cycles", "unproven",
    )  # fmt: skip
    rows = tuple(
        (
            name,
            percent(one.allocation),
            duration(one.wait_mean),
            duration(one.wait_p95),
            duration(one.largest.p95),
            duration(one.completion_mean),
            f"{one.leaves:.3f}" if one.leaves else "-",
            percent(one.crossing) if one.leaves else "-",
            f"{one.slowdown:.3f}" if record.shared and one.leaves else "-",
            str(one.broken),
            str(one.breaches),
            f"{one.free_leaves:.1f} / {one.free_pairs:.1f} / {one.free_quads:.1f}",
            str(one.moves),
            str(one.never),
            str(record.counts.cycles),
            str(record.counts.unproven),
        )
        for name, record, one in runs
    )
    return Table("Policies", header, rows)


def _waits(runs: Sequence[tuple[str, ReplayRecord, Summary]]) -> Table:
    names = list(dict.fromkeys(one.name for _, _, summary in runs for one in summary.classes))
    header = ("nodes", "gangs", *(name for name, _, _ in runs))
    rows = []
    for name in names:
        by_run = [
            next((one for one in summary.classes if one.name == name), None)
            for _, _, summary in runs
        ]
        gangs = next(one.gangs for one in by_run if one)
        cells = [f"{duration(o.p50)} / {duration(o.p95)}" if o else "-" for o in by_run]
        rows.append((name, str(gangs), *cells))
    return Table("Wait by gang size, median / 95th percentile", header, tuple(rows))


def _failures(runs: Sequence[tuple[str, ReplayRecord, Summary]]) -> Table:
    header = (
        "policy", "failures", "recovery", "gangs hit", "kept alive", "started over", "moves",
        "GPU-hours of work lost", "GPU-hours at a standstill",
        "GPU-hours waited after a failure", "GPUs failed", "completion mean",
    )  # fmt: skip
    rows = tuple(
        (
            name,
            str(record.counts.failures),
            record.recovery,
            str(record.counts.hit),
            str(record.counts.kept),
            str(one.restarts),
            str(one.moves),
            f"{one.lost:,.0f}",
            f"{one.stalled:,.0f}",
            f"{one.again:,.0f}",
            percent(one.failed),
            duration(one.completion_mean),
        )
        for name, record, one in runs
    )
    return Table("Failures", header, rows)


def title(trace: Trace, fabric: Fabric) -> str:
    """What was replayed where, in a line."""
    gpus = sum(node.allocatable.gpus for node in fabric.nodes.values())
    return (
        f"{trace.name}: {len(trace.jobs):,} gangs in {duration(trace.span)}, "
        f"{percent(trace.load(gpus))} load on {len(fabric.nodes):,} nodes, "
        f"{counted(len(fabric.leaves), 'leaf')}, {counted(len(fabric.spines), 'spine')}"
    )


def note(trace: Trace) -> str:
    """Whose data it is, and how to read the figures."""
    until = f"for {duration(trace.horizon)}" if trace.horizon else "until the last arrival"
    return (
        f"{trace.source}. Allocation counts {until}, waits from arrival to the "
        f"first start; the largest gangs have at least half as many nodes as the largest. Hops "
        f"between leaves are the share of neighbours in rank on different leaves; breaches are "
        f"laws that the validator found broken, illegal gangs those that broke them."
    )


AT_FAULT = {
    "buddy": "an aligned place on uneven leaves may need more of them than the rule allows",
    "spread": "it does not know the leaf rule",
}
"""Why the placements of some baselines break laws."""


def remarks(runs: Sequence[tuple[str, ReplayRecord, Summary]]) -> list[str]:
    """A line for each policy of which gangs stand in illegal places: how many, and why."""
    return [
        f"{name}: {one.broken:,} gangs in places that no law allows"
        + (f"; {AT_FAULT[record.policy]}" if record.policy in AT_FAULT else "")
        for name, record, one in runs
        if one.broken
    ]


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.1f} %"


def duration(seconds: float) -> str:
    """A time in the unit that fits it."""
    if seconds < 2 * 60:
        return f"{seconds:.0f} s"
    if seconds < 2 * HOUR:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * HOUR:
        return f"{seconds / HOUR:.1f} h"
    return f"{seconds / HOUR / 24:.1f} d"
