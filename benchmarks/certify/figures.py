"""From cases to columns."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.certify.measure import Case, Verdict
from benchmarks.solve.figures import quantile
from fourleaf.simulator.measures.tables import percent

HEADER = (
    "workload", "nodes", "baseline", "limit s", "instances", "cases", "improved",
    "certified optimal", "unknown", "late", "placeable cases", "improved, of placeable",
    "all placed", "s p50 / p95", "breaches",
)  # fmt: skip


def columns(key: tuple[str, int, str, float], instances: int, cases: Sequence[Case]) -> list[str]:
    """The columns of `HEADER` for one workload, size, baseline and limit."""
    workload, nodes, baseline, limit = key
    counts = {one: sum(case.verdict is one for case in cases) for one in Verdict}
    placeable = sum(case.placeable for case in cases)
    seconds = [case.seconds for case in cases]
    return [
        workload,
        str(nodes),
        baseline,
        f"{limit:g}",
        str(instances),
        str(len(cases)),
        *(_share(counts[one], len(cases)) for one in Verdict),
        str(sum(case.late for case in cases)),
        str(placeable),
        _share(counts[Verdict.IMPROVED], placeable),
        str(sum(case.all_placed for case in cases)),
        f"{quantile(seconds, 0.5):.2f} / {quantile(seconds, 0.95):.2f}" if cases else "–",
        str(sum(case.breaches for case in cases)),
    ]


def _share(count: int, whole: int) -> str:
    return f"{count} ({percent(count / whole)})" if whole else "–"
