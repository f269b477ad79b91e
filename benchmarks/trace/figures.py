"""From replays to columns, and where ours is behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from statistics import fmean
from typing import Self

from benchmarks.replays import Outcome
from simulator.measures.tables import duration, percent

HEADER = (
    "trace", "load", "policy", "allocation", "wait p95, largest", "wait p95, all", "wait mean",
    "completion mean", "leaves", "hops between leaves", "illegal", "free leaves / pairs / quads",
    "unproven", "seconds",
)  # fmt: skip
TOLERANCE = 0.001
"""Figures that differ by a smaller share are as good as each other."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one policy at one load: means over the deals of the trace.

    Times in seconds. `illegal`, `unproven` and `seconds` are means as well.
    """

    allocation: float
    largest: float
    wait_p95: float
    wait_mean: float
    completion: float
    leaves: float
    crossing: float
    illegal: float
    free_leaves: float
    free_pairs: float
    free_quads: float
    unproven: float
    seconds: float

    @classmethod
    def of(cls, outcome: Outcome) -> Self:
        """The figures of one replay."""
        one = outcome.summary
        return cls(
            one.allocation, one.largest.p95, one.wait_p95, one.wait_mean, one.completion_mean,
            one.leaves, one.crossing, one.broken, one.free_leaves, one.free_pairs,
            one.free_quads, outcome.counts.unproven, outcome.seconds,
        )  # fmt: skip

    @classmethod
    def mean(cls, several: Sequence[Figures]) -> Self:
        """The mean of each figure."""
        return cls(*(fmean(column) for column in zip(*map(astuple, several), strict=True)))


Key = tuple[str, int, str]
"""Trace, load and policy."""

GOALS: tuple[tuple[str, Callable[[Figures], float]], ...] = (
    ("allocation", lambda one: -one.allocation),
    ("p95 wait of the largest gangs", lambda one: one.largest),
    ("leaves per gang", lambda one: one.leaves),
)
"""What we want to be best at, the smaller the better."""


def gathered(outcomes: Sequence[Outcome]) -> dict[Key, Figures]:
    """The means by trace, load and policy, in the order of the outcomes."""
    found: dict[Key, list[Figures]] = {}
    for one in outcomes:
        key = (one.case.trace, one.case.load, one.case.options.policy)
        found.setdefault(key, []).append(Figures.of(one))
    return {key: Figures.mean(several) for key, several in found.items()}


def columns(key: Key, one: Figures) -> list[str]:
    """The columns of `HEADER`."""
    trace, load, policy = key
    return [
        trace,
        f"{load} %",
        policy,
        percent(one.allocation),
        duration(one.largest),
        duration(one.wait_p95),
        duration(one.wait_mean),
        duration(one.completion),
        f"{one.leaves:.3f}",
        percent(one.crossing),
        f"{one.illegal:g}",
        f"{one.free_leaves:.0f} / {one.free_pairs:.0f} / {one.free_quads:.0f}",
        f"{one.unproven:g}",
        f"{one.seconds:.0f}",
    ]


def behind(figures: dict[Key, Figures]) -> str:
    """A line for each goal, trace and load at which a baseline is ahead of ours, or that none is.

    Marks the baselines that place gangs where the leaf rule allows nobody.
    """
    lines = []
    for (trace, load, policy), ours in figures.items():
        if policy != "cpsat":
            continue
        others = {p: one for (t, at, p), one in figures.items() if (t, at) == (trace, load)}
        for name, worth in GOALS:
            margin = TOLERANCE * abs(worth(ours))
            ahead = [
                rival + (" (illegal)" if one.illegal else "")
                for rival, one in others.items()
                if worth(one) < worth(ours) - margin
            ]
            if ahead:
                lines.append(f"- {trace} at {load} %, {name}: {', '.join(ahead)}")
    if not lines:
        return "Ours is ahead of, or level with, every baseline on every trace and load."
    return "\n".join(["Where baselines are ahead of ours:", "", *lines])
