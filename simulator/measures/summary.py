"""The figures of one replay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fourleaf.simulator.measures.quantiles import quantile
from fourleaf.simulator.record import GangRecord, ReplayRecord

HOUR = 3600
GPU_HOUR = 1000 * HOUR
"""Milliseconds of an hour."""


@dataclass(frozen=True, slots=True)
class SizeClass:
    """Gangs of `least` to `most` nodes: how many, and their wait in seconds.

    `waited` counts those that never started; a wait of theirs is that until the end. `leaves`
    and `fewest` are summed over the gangs that started.
    """

    least: int
    most: int
    gangs: int
    waited: int
    p50: int
    p95: int
    worst: int
    leaves: int
    fewest: int
    slowdown: float = 1.0

    @property
    def name(self) -> str:
        """The sizes as text."""
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a replay, residents left out.

    Shares are of 1, times in seconds, losses in GPU-hours. `allocation` is the share of all
    GPU-seconds that were used until the last arrival. `largest` are the gangs of at least half
    as many nodes as the largest. `leaves` is the sum of leaves over the sum of the fewest
    possible, over gangs of more than one node; `crossing` the share of their ring hops that go
    from leaf to leaf. Free leaves, pairs and quads are means over the samples. `completion` is
    from arrival to end. `broken` are the gangs that the validator found at fault, plan by plan,
    repairs and moves included, and `breaches` all that it found.
    `slowdown` is that of gangs of more than one node. `again` are the GPU-hours for which gangs
    waited between a failure and their next start.
    """

    allocation: float
    failed: float
    gangs: int
    never: int
    wait_mean: float
    wait_p95: int
    largest: SizeClass
    completion_mean: float
    completion_p95: int
    leaves: float
    at_fewest: float
    crossing: float
    free_leaves: float
    free_pairs: float
    free_quads: float
    moves: int
    broken: int
    lost: float
    stalled: float
    restarts: int
    classes: tuple[SizeClass, ...]
    breaches: int = 0
    slowdown: float = 1.0
    slowdown_worst: float = 1.0
    again: float = 0.0


def summarise(record: ReplayRecord) -> Summary:
    """The figures of `record`."""
    gangs = [one for one in record.gangs.values() if not one.resident]
    waits = [wait(one, record.end) for one in gangs]
    times = [one.end - one.arrival for one in gangs if one.end >= 0]
    wide = [one for one in gangs if one.start >= 0 and one.nodes > 1]
    at_close, samples = record.at_close, record.samples
    biggest = max((one.nodes for one in gangs), default=1)
    return Summary(
        allocation=ratio(at_close.used, at_close.all),
        failed=ratio(at_close.failed, at_close.all),
        gangs=len(gangs),
        never=sum(one.start < 0 for one in gangs),
        wait_mean=ratio(sum(waits), len(waits)),
        wait_p95=quantile(waits, 0.95),
        largest=size_class(gangs, -(-biggest // 2), biggest, record.end),
        completion_mean=ratio(sum(times), len(times)),
        completion_p95=quantile(times, 0.95),
        leaves=ratio(sum(g.leaves for g in wide), sum(g.fewest for g in wide)),
        at_fewest=ratio(sum(g.leaves <= g.fewest for g in wide), len(wide)),
        crossing=ratio(sum(g.crossing for g in wide), sum(g.nodes for g in wide)),
        free_leaves=ratio(sum(one.leaves for one in samples), len(samples)),
        free_pairs=ratio(sum(one.pairs for one in samples), len(samples)),
        free_quads=ratio(sum(one.quads for one in samples), len(samples)),
        moves=record.counts.moves,
        broken=record.counts.broken,
        lost=ratio(sum(one.lost for one in gangs), GPU_HOUR),
        stalled=ratio(sum(one.stalled for one in gangs), GPU_HOUR),
        restarts=sum(one.restarts for one in gangs),
        classes=classes(gangs, record.end),
        breaches=record.counts.breaches.total(),
        slowdown=slowdown(wide),
        slowdown_worst=max((one.slowdown for one in wide), default=1.0),
        again=ratio(sum(one.again for one in gangs), HOUR),
    )


def slowdown(gangs: Sequence[GangRecord]) -> float:
    """How long a step takes of one on full bandwidth: the mean over the GPU-time of these gangs."""
    weight = sum(one.gpus * one.ran for one in gangs)
    if not weight:
        return 1.0
    return sum(one.slowdown * one.gpus * one.ran for one in gangs) / weight


def wait(one: GangRecord, end: int) -> int:
    """Seconds from arrival to the first start; to the end of the replay where it never started."""
    return (one.start if one.start >= 0 else end) - one.arrival


def classes(gangs: Sequence[GangRecord], end: int) -> tuple[SizeClass, ...]:
    """The gangs by node count, in classes that double: 1, 2, 3 to 4, 5 to 8, and so on."""
    biggest = max((one.nodes for one in gangs), default=1)
    bounds = [(1, 1)]
    while bounds[-1][1] < biggest:
        bounds.append((bounds[-1][1] + 1, 2 * bounds[-1][1]))
    found = (size_class(gangs, least, most, end) for least, most in bounds)
    return tuple(one for one in found if one.gangs)


def size_class(gangs: Iterable[GangRecord], least: int, most: int, end: int) -> SizeClass:
    """The gangs of `least` to `most` nodes."""
    here = [one for one in gangs if least <= one.nodes <= most]
    waits = [wait(one, end) for one in here]
    started = [one for one in here if one.start >= 0]
    return SizeClass(
        least,
        most,
        len(here),
        len(here) - len(started),
        quantile(waits, 0.5),
        quantile(waits, 0.95),
        max(waits, default=0),
        sum(one.leaves for one in started),
        sum(one.fewest for one in started),
        slowdown(started),
    )


def ratio(part: float, whole: float) -> float:
    """A share, 0 of nothing."""
    return part / whole if whole else 0.0
