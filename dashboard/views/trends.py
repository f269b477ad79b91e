"""Figures over hours: utilisation, the queue, fragmentation, each with since when it is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fourleaf.dashboard.cycles import CyclesView
from fourleaf.dashboard.past.cluster_past import ClusterPast
from fourleaf.dashboard.past.usage_samples import UsageSample
from fourleaf.dashboard.view import View

HOURS = (1, 6, 24)
"""The ranges that can be chosen, in hours."""
MOST_POINTS = 240
"""Points of a line; of more, neighbours are drawn as their mean."""
GAP_SECONDS = 900.0
"""Seconds without a sample over which no line is drawn."""

Point = tuple[float, float]


class TrendSeries(View):
    """One figure. `points` are (seconds since the epoch, value), the oldest first; `most` of them.

    `since` is the first moment at which it is known, None where it never is in this range.
    """

    name: str
    unit: str
    most: float
    since: float | None
    points: tuple[Point, ...]


class TrendsView(View):
    """The last `hours` before `now`. `sources` say where what is known comes from."""

    now: float
    hours: int
    series: tuple[TrendSeries, ...]
    sources: tuple[str, ...]


def trends_view(
    now: float, hours: int, past: ClusterPast, cycles: CyclesView | None, live: bool
) -> TrendsView:
    """The last `hours` before `now`; before the first sample `cycles` tell of the queue."""
    samples = past.samples.all
    begin = now - 3600 * hours
    first = samples[0].at if samples else now
    told = [] if cycles is None else [one for one in cycles.cycles if one.at < first]
    cycled = [one for one in reversed(told) if one.at >= begin]
    queue = [UsageSample(at=one.at, waiting=one.waiting) for one in cycled]
    span = begin, now
    every = [one for one in (*queue, *samples) if begin <= one.at <= now]
    return TrendsView(
        now=now,
        hours=hours,
        series=(
            _series("GPUs in use", "%", every, span, _used, 100.0),
            _series("Gangs that wait", "", every, span, lambda one: float(one.waiting)),
            _series("GPUs waited for", "", every, span, lambda one: _number(one.waiting_gpus)),
            _series("Fragmentation", "%", every, span, _fragmented, 100.0),
        ),
        sources=tuple(_sources(past, bool(queue), live)),
    )


def polylines(series: TrendSeries, begin: float, end: float) -> list[str]:
    """The lines of an SVG of 600 by 100, broken where nothing is known."""
    span, most = max(1.0, end - begin), series.most or 1.0
    lines: list[list[str]] = []
    before: float | None = None
    for at, value in series.points:
        if before is None or at - before > GAP_SECONDS:
            lines.append([])
        x, y = 600.0 * (at - begin) / span, 100.0 - 98.0 * min(1.0, value / most)
        lines[-1].append(f"{x:.1f},{y:.1f}")
        before = at
    return [" ".join(line if len(line) > 1 else [line[0], line[0]]) for line in lines]


def _series(
    name: str,
    unit: str,
    samples: Sequence[UsageSample],
    span: tuple[float, float],
    value: Callable[[UsageSample], float | None],
    most: float = 0.0,
) -> TrendSeries:
    found = [(one.at, known) for one in samples if (known := value(one)) is not None]
    points = tuple(_fewer(found, *span))
    return TrendSeries(
        name=name,
        unit=unit,
        most=most or max((y for _, y in points), default=0.0),
        since=found[0][0] if found else None,
        points=points,
    )


def _fewer(points: Sequence[Point], begin: float, end: float) -> Iterable[Point]:
    """At most `MOST_POINTS` and the newest one, which stays as it is."""
    if len(points) <= MOST_POINTS:
        return points
    groups: dict[int, list[Point]] = {}
    for at, value in points[:-1]:
        group = int(MOST_POINTS * (at - begin) / max(1.0, end - begin))
        groups.setdefault(min(group, MOST_POINTS - 1), []).append((at, value))
    means = [
        (sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group))
        for group in groups.values()
    ]
    return [*means, points[-1]]


def _used(one: UsageSample) -> float | None:
    if one.gpus is None or one.used is None:
        return None
    return 100.0 * one.used / one.gpus if one.gpus else 0.0


def _fragmented(one: UsageSample) -> float | None:
    return None if one.fragmentation is None else 100.0 * one.fragmentation


def _number(amount: int | None) -> float | None:
    return None if amount is None else float(amount)


def _sources(past: ClusterPast, by_cycles: bool, live: bool) -> Iterable[str]:
    if not live:
        yield "A snapshot is one moment: it has no past."
        return
    yield (
        "Sampled each minute since the dashboard was started, and kept in its memory for a day: a "
        "scheduler that fails over loses nothing of it, a dashboard that starts anew does."
    )
    if past.recorded:
        yield f"The recording {past.recorded}: it has what was before."
    else:
        yield "With --recording DIR, it begins with the last day of what `fourleaf record` wrote."
    if by_cycles:
        yield "Before the first sample, the queue is as the scheduler's cycles tell."
