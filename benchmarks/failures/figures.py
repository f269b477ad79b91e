"""From replays with failures to columns, and who is ahead and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from statistics import fmean
from typing import Self

from benchmarks.replays import Outcome
from fourleaf.simulator.measures.tables import duration

HEADER = (
    "trace", "failures per 1000 node-days", "recovery", "seeds", "failures", "gangs hit",
    "kept alive", "started over", "moves", "GPU-hours lost", "of them work", "of them standstill",
    "of them waited after a failure", "completion mean", "completion p95", "breaches", "unproven",
)  # fmt: skip

Key = tuple[str, float, str]
"""Trace, rate and way to recover."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one replay came to, or the mean of several. Losses in GPU-hours, times in seconds."""

    failures: float
    hit: float
    kept: float
    restarts: float
    moves: float
    lost: float
    stalled: float
    again: float
    completion: float
    completion_p95: float
    breaches: float
    unproven: float

    @classmethod
    def of(cls, outcome: Outcome) -> Self:
        """The figures of one replay."""
        one, counts = outcome.summary, outcome.counts
        return cls(
            counts.failures, counts.hit, counts.kept, one.restarts, one.moves, one.lost,
            one.stalled, one.again, one.completion_mean, one.completion_p95,
            counts.breaches.total(), counts.unproven,
        )  # fmt: skip

    @classmethod
    def mean(cls, several: Sequence[Figures]) -> Self:
        """The mean of each figure."""
        return cls(*(fmean(column) for column in zip(*map(astuple, several), strict=True)))

    @property
    def total(self) -> float:
        """GPU-hours that failures cost: done again, held without work, and waited."""
        return self.lost + self.stalled + self.again


def gathered(outcomes: Sequence[tuple[str, Outcome]]) -> dict[Key, dict[int, Figures]]:
    """The figures by trace, rate and way, and by seed, in the order of the outcomes."""
    found: dict[Key, dict[int, Figures]] = {}
    for way, one in outcomes:
        key = (one.case.trace, one.case.options.failures.rate, way)
        found.setdefault(key, {})[one.case.options.seed] = Figures.of(one)
    return found


def columns(key: Key, seeds: Mapping[int, Figures]) -> list[str]:
    """The columns of `HEADER`: means over the seeds."""
    trace, rate, way = key
    one = Figures.mean(list(seeds.values()))
    counted = (one.failures, one.hit, one.kept, one.restarts, one.moves)
    hours = (one.total, one.lost, one.stalled, one.again)
    return [
        trace,
        f"{rate:g}",
        way,
        str(len(seeds)),
        *(f"{count:.4g}" for count in counted),
        *(f"{amount:,.0f}" for amount in hours),
        duration(one.completion),
        duration(one.completion_p95),
        f"{one.breaches:g}",
        f"{one.unproven:g}",
    ]


def why(found: Mapping[Key, Mapping[int, Figures]], against: str) -> str:
    """Who lost least for each trace and rate, and where every way differs from `against`.

    Over the seeds that both have; "" where nobody can be compared.
    """
    lines = []
    for trace, rate in dict.fromkeys((trace, rate) for trace, rate, _ in found):
        base = found.get((trace, rate, against), {})
        said = [
            _beside(way, {seed: one for seed, one in seeds.items() if seed in base}, base)
            for (name, at, way), seeds in found.items()
            if (name, at) == (trace, rate) and way != against and seeds.keys() & base.keys()
        ]
        if said:
            lines.append(f"- {trace} at {rate:g}, beside {against}: {'; '.join(said)}.")
    if not lines:
        return ""
    head = (
        "Why. A gang that is hit does the work since its last checkpoint again and stands still, "
        "kept alive or not; so a way to recover saves the wait after the failure alone, and every "
        "gang that it moves without need pays as if it had been hit. GPU-hours more (+) or fewer "
        "(-):"
    )
    return "\n".join([head, "", *lines])


def _beside(way: str, seeds: Mapping[int, Figures], base: Mapping[int, Figures]) -> str:
    """One way beside another, part by part, with the largest part named."""
    mine = Figures.mean(list(seeds.values()))
    theirs = Figures.mean([base[seed] for seed in seeds])
    parts = {
        "work": mine.lost - theirs.lost,
        "standstill": mine.stalled - theirs.stalled,
        "waiting": mine.again - theirs.again,
    }
    gap = mine.total - theirs.total
    largest = max(parts, key=lambda name: abs(parts[name]))
    split = ", ".join(f"{name} {amount:+,.0f}" for name, amount in parts.items())
    return (
        f"{way} {gap:+,.0f} ({split}), above all {largest}, "
        f"with {mine.hit - theirs.hit:+.4g} gangs hit and {mine.moves:.4g} moves"
    )
