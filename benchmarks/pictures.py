"""The pictures on the first page of the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.read_tables import Tables


@dataclass(frozen=True, slots=True)
class Picture:
    """Bars beside each other: one cell of each of some rows."""

    title: str
    axis: str
    benchmark: str
    bars: Mapping[str, Callable[[Tables], str]]

    def drawn(self, tables: Tables) -> str:
        """It as Mermaid, which the page of a repository and the site draw. Raises `NoFigure`."""
        values = [float(read(tables).replace(",", "")) for read in self.bars.values()]
        names = ", ".join(f'"{name}"' for name in self.bars)
        numbers = ", ".join(f"{value:g}" for value in values)
        lines = ("```mermaid", "xychart-beta horizontal", f'    title "{self.title}"',
                 f"    x-axis [{names}]", f'    y-axis "{self.axis}" 0 --> {max(values):g}',
                 f"    bar [{numbers}]", "```")  # fmt: skip
        return "\n".join(lines)


def _bar(column: str, *row: str) -> Callable[[Tables], str]:
    return lambda tables: tables.cell(column, *row).removesuffix(" h")


SHARED = "allocated %"
LOST = ("GPU-hours lost", "kalos", "65")
WAIT = ("wait mean", "kalos", "90 %")
PICTURES = (
    Picture(
        "Pods bound on a real control plane of 1000 nodes", "pods/s", "throughput",
        {"Fourleaf": _bar("ours", "pods/s"), "kube-scheduler": _bar("native", "pods/s")},
    ),
    Picture(
        "GPUs of openb allocated in the end", "%", "openb",
        {"Fourleaf": _bar(SHARED, "ours, one by one")}
        | {name: _bar(SHARED, name) for name in ("FGD", "BestFit", "Random")},
    ),
    Picture(
        "GPU-hours lost on Kalos, 65 failures per 1000 node-days", "GPU-hours", "failures",
        {"repair": _bar(*LOST, "repair, others may move"),
         "whole restart": _bar(*LOST, "whole restart")},
    ),
    Picture(
        "What the leaf rule costs: mean wait on Kalos at 90 % load", "hours", "trace",
        {"with the rule": _bar(*WAIT, "cpsat"), "spread, which breaks it": _bar(*WAIT, "spread")},
    ),
)  # fmt: skip
