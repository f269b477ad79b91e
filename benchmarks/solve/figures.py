"""From what was measured to columns of text."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks.solve.measure import Measured
from benchmarks.solve.rows import Row

HEADER = [
    "row", "seeds", "build ms", "solve ms", "both ms", "both CPU ms", "cold ms", "cold CPU ms",
    "proven", "cold proven", "worst gap", "placed", "peak MiB", "breaches", "goals",
    "slowest seeds", "pace ms",
]  # fmt: skip
GREEDY_HEADER = ["row", "GPUs placed", "least", "scores less in"]
NAIVE_HEADER = [
    "seed", "ours ms", "naive ms", "times ours", "status", "gap ours", "gap naive", "GPUs of ours",
]  # fmt: skip
SHARES = (0.5, 0.95, 0.99, 1.0)
SLOWEST = 3


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` of the values do not exceed, one of them."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def spread(seconds: Sequence[float]) -> str:
    """p50 / p95 / p99 / max in milliseconds."""
    if not seconds:
        return "-"
    return " / ".join(f"{1000 * quantile(seconds, share):.0f}" for share in SHARES)


def percent(share: float | None, digits: int = 1) -> str:
    """A share in percent."""
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def goals(row: Row, measured: Measured) -> str:
    """Each goal of the row with yes or no."""
    times = [1000 * sample.total for sample in measured.samples]
    met: list[tuple[str, bool]] = []
    if row.p50 is not None:
        met.append((f"p50 {row.p50:g} ms", quantile(times, 0.5) <= row.p50))
    if row.p99 is not None:
        met.append((f"p99 {row.p99:g} ms", quantile(times, 0.99) <= row.p99))
    if row.gap is not None:
        held = all(s.proven or 0 < row.gap >= s.gap for s in measured.samples)
        met.append((f"gap {percent(row.gap, 0)}" if row.gap else "proven", held))
    if row.memory is not None:
        met.append((f"{row.memory} MiB", measured.memory_mib <= row.memory))
    return ", ".join(f"{goal}: {'yes' if yes else 'no'}" for goal, yes in met)


def figures(row: Row, measured: Measured) -> list[str]:
    """The columns of `HEADER` for one row."""
    samples = measured.samples
    slowest = sorted(samples, key=lambda sample: -sample.total)[:SLOWEST]
    return [
        row.title,
        str(len(samples)),
        spread([s.build for s in samples if s.build is not None]),
        spread([s.solve for s in samples if s.solve is not None]),
        spread([s.total for s in samples]),
        spread([s.processor for s in samples]),
        spread([s.cold for s in samples]),
        spread([s.cold_processor for s in samples]),
        f"{sum(s.proven for s in samples)}/{len(samples)}",
        f"{sum(s.cold_proven for s in samples)}/{len(samples)}",
        percent(max(s.gap for s in samples), 3),
        f"{statistics.median(s.placed for s in samples):.0f} of {row.gangs}",
        str(measured.memory_mib),
        str(measured.breaches),
        goals(row, measured),
        ", ".join(f"{s.seed} ({1000 * s.total:.0f})" for s in slowest),
        spread([s.pace for s in samples]),
    ]


def greedy_figures(row: Row, measured: Measured) -> list[str]:
    """The columns of `GREEDY_HEADER` for one row: a share of our GPUs, how often behind."""
    gpus = [s.greedy_gpus for s in measured.samples if s.greedy_gpus is not None]
    less = [s.greedy_scores_less for s in measured.samples if s.greedy_scores_less is not None]
    if not gpus:
        return [row.title, "-", "-", "-"]
    mean, least = percent(statistics.mean(gpus)), percent(min(gpus))
    return [row.title, mean, least, f"{sum(less)} of {len(less)}"]


def naive_figures(measured: Measured) -> list[list[str]]:
    """The columns of `NAIVE_HEADER`, a line for each seed that the naive model had."""
    lines = []
    ours = {sample.seed: sample for sample in measured.samples}
    for naive in measured.naive:
        sample = ours[naive.seed]
        lines.append(
            [
                str(naive.seed),
                f"{1000 * sample.total:.0f}",
                f"{1000 * naive.seconds:.0f}",
                f"{naive.seconds / sample.total:.0f}",
                naive.status,
                "0 (proven)" if sample.proven else percent(sample.gap, 3),
                percent(naive.gap, 3),
                percent(naive.gpus),
            ]
        )
    return lines
