"""From replays to columns, and where ours is behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.replays import Outcome
from simulator.measures.tables import duration, percent

HEADER = (
    "trace", "load", "policy", "allocation", "wait p95, largest", "wait p95, all", "wait mean",
    "completion mean", "leaves", "hops between leaves", "illegal", "free leaves / pairs / quads",
    "unproven", "seconds",
)  # fmt: skip
TOLERANCE = 0.001
"""Shares that differ by less are as good as each other."""
GOALS: tuple[tuple[str, Callable[[Outcome], float]], ...] = (
    ("allocation", lambda one: -one.summary.allocation),
    ("p95 wait of the largest gangs", lambda one: float(one.summary.largest.p95)),
    ("leaves per gang", lambda one: one.summary.leaves),
)
"""What we want to be best at, the smaller the better."""


def figures(outcome: Outcome) -> list[str]:
    """The columns of `HEADER`."""
    one = outcome.summary
    return [
        outcome.case.trace,
        f"{outcome.case.load} %",
        outcome.case.options.policy,
        percent(one.allocation),
        duration(one.largest.p95),
        duration(one.wait_p95),
        duration(one.wait_mean),
        duration(one.completion_mean),
        f"{one.leaves:.3f}",
        percent(one.crossing),
        str(one.broken),
        f"{one.free_leaves:.0f} / {one.free_pairs:.0f} / {one.free_quads:.0f}",
        str(outcome.counts.unproven),
        f"{outcome.seconds:.0f}",
    ]


def behind(outcomes: Sequence[Outcome]) -> str:
    """A line for each goal, trace and load at which a baseline is ahead of ours, or that none is.

    Marks the baselines that place gangs where the leaf rule allows nobody.
    """
    lines = []
    cases = list(dict.fromkeys((one.case.trace, one.case.load) for one in outcomes))
    for trace, load in cases:
        here = [one for one in outcomes if (one.case.trace, one.case.load) == (trace, load)]
        ours = next((one for one in here if one.case.options.policy == "cpsat"), None)
        if ours is None:
            continue
        for name, worth in GOALS:
            ahead = [
                one.case.options.policy + (" (illegal)" if one.summary.broken else "")
                for one in here
                if worth(one) < worth(ours) - TOLERANCE
            ]
            if ahead:
                lines.append(f"- {trace} at {load} %, {name}: {', '.join(ahead)} ahead of ours.")
    if not lines:
        return "Ours is ahead of, or level with, every baseline on every trace and load."
    return "\n".join(["Where a baseline is ahead of ours:", "", *lines])
