"""From replays to columns, and where ours is behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from statistics import fmean
from typing import Self

from benchmarks.replays import Outcome
from fourleaf.simulator.measures.tables import duration, percent

HEADER = (
    "trace", "load", "policy", "deals", "allocation", "wait p95, largest", "wait p95, all",
    "wait mean", "completion mean", "leaves", "hops between leaves", "illegal",
    "free leaves / pairs / quads", "unproven", "seconds",
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
Deals = Mapping[int, Figures]
"""The figures of each deal that was replayed."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What we want to be best at. `worth` is the smaller the better; `gap` writes a difference."""

    name: str
    worth: Callable[[Figures], float]
    shown: Callable[[Figures], str]
    gap: Callable[[float], str]


GOALS = (
    Goal(
        "allocation",
        lambda one: -one.allocation,
        lambda one: percent(one.allocation),
        lambda gap: f"{100 * gap:.1f} points",
    ),
    Goal(
        "p95 wait of the largest gangs",
        lambda one: one.largest,
        lambda one: duration(one.largest),
        duration,
    ),
    Goal(
        "leaves per gang",
        lambda one: one.leaves,
        lambda one: f"{one.leaves:.3f}",
        lambda gap: f"{gap:.3f}",
    ),
)


def gathered(outcomes: Sequence[Outcome]) -> dict[Key, Deals]:
    """The figures by trace, load and policy, in the order of the outcomes."""
    found: dict[Key, dict[int, Figures]] = {}
    for one in outcomes:
        key = (one.case.trace, one.case.load, one.case.options.policy)
        found.setdefault(key, {})[one.case.deal] = Figures.of(one)
    return dict(found)


def columns(key: Key, deals: Deals) -> list[str]:
    """The columns of `HEADER`: means over the deals."""
    trace, load, policy = key
    one = Figures.mean(list(deals.values()))
    return [
        trace,
        f"{load} %",
        policy,
        str(len(deals)),
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


def behind(found: Mapping[Key, Deals]) -> str:
    """A line for each goal, trace and load at which a baseline is ahead of ours, or that none is.

    Means over the deals that both have replayed. Says by how much, in how many of the deals, and
    which baselines place gangs where the leaf rule allows nobody.
    """
    lines, cells, led = [], 0, 0
    for (trace, load, policy), ours in found.items():
        if policy != "cpsat":
            continue
        rivals = {p: one for (t, at, p), one in found.items() if (t, at) == (trace, load)}
        rivals.pop("cpsat")
        for goal in GOALS:
            ahead = [
                said
                for rival, theirs in rivals.items()
                if (said := _ahead(goal, rival, ours, theirs)) is not None
            ]
            cells += len(rivals)
            led += len(ahead)
            if ahead:
                mean = goal.shown(Figures.mean(list(ours.values())))
                lines.append(f"- {trace} at {load} %, {goal.name}, ours {mean}: {'; '.join(ahead)}")
    if not cells:
        return "Ours and baselines were not replayed side by side: nothing to compare."
    if not lines:
        return "Ours is ahead of, or level with, every baseline on every trace and load."
    return "\n".join([f"Baselines are ahead of ours in {led} of {cells} comparisons:", "", *lines])


def _ahead(goal: Goal, rival: str, ours: Deals, theirs: Deals) -> str | None:
    """By how much a rival is ahead over the deals of both; `None` where it is not."""
    common = [deal for deal in ours if deal in theirs]
    if not common:
        return None
    mine = Figures.mean([ours[deal] for deal in common])
    other = Figures.mean([theirs[deal] for deal in common])
    gap = goal.worth(mine) - goal.worth(other)
    if gap <= TOLERANCE * abs(goal.worth(mine)):
        return None
    wins = sum(goal.worth(theirs[deal]) < goal.worth(ours[deal]) for deal in common)
    deals = f", {wins} of {len(common)} deals" if len(common) > 1 else ""
    illegal = f", {other.illegal:g} gangs illegal" if other.illegal else ""
    return f"{rival} by {goal.gap(gap)}{deals}{illegal}"
