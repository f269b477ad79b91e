"""The rows of the benchmark and their goals."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.solve.measure import Instances
from fourleaf.simulator.fabric_shape import Shape
from fourleaf.simulator.readers import kalos, lingjun
from fourleaf.simulator.readers.folder import read


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its instances, and its goals: milliseconds (p50, p99), gap (0: proven) and MiB."""

    title: str
    nodes: int
    gangs: int
    parts: bool = False
    seeds: int = 200
    real: bool = False
    p50: float | None = None
    p99: float | None = None
    gap: float | None = None
    memory: int | None = None

    def instances(self) -> Instances:
        """The family of instances; reads the data where the row is `real`."""
        if self.real:
            # One node for each worker, in the order of the file.
            sizes = list(read(kalos.FILE, lambda row: int(row["gpu_workers"])))
            return Instances(lingjun.shape(self.nodes), self.gangs, sizes=sizes)
        return Instances(Shape.regular(self.nodes), self.gangs, self.parts)


ROWS = {
    "whole": Row("1000 nodes, 100 gangs", 1000, 100, p50=40, p99=150, gap=0),
    "parts": Row("the same, half below a node", 1000, 100, parts=True, p50=200, p99=500, gap=0),
    "large": Row(
        "10,000 nodes, 1000 gangs", 10_000, 1000, seeds=20, p50=2000, gap=0.01, memory=400
    ),
    "kalos": Row("Lingjun (847 nodes), 100 Kalos gangs", 0, 100, real=True, p99=150),
    "tiled": Row("Lingjun tiled to 1000 nodes, 100 Kalos gangs", 1000, 100, real=True, p99=150),
}
NAIVE_SEEDS = {"whole": 5}
"""Seeds on which the naive model runs, each into its time limit."""
