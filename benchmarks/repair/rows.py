"""The rows of the benchmark and their goals."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.repair.instances import Outage

SEEDS = 25
MEMORY = 200
"""The goal for every row, in MiB."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row; `stages` is its goal for who and moves at the median, in milliseconds."""

    outage: Outage
    stages: float | None

    @property
    def title(self) -> str:
        """What the row is called."""
        outage = self.outage
        parts = ", some below a node" if outage.parts else ""
        return f"{outage.failed} of {outage.nodes}, {100 * outage.fill:.0f} % full{parts}"


GOALS = {1: 100.0, 4: 250.0, 40: 1000.0}
ROWS = {
    f"{failed}-at-{fill}": Row(Outage(1000, fill / 100, failed), goal)
    for fill in (80, 90, 95)
    for failed, goal in GOALS.items()
}
ROWS["40-at-97"] = Row(Outage(1000, 0.97, 40), GOALS[40])
ROWS |= {f"{failed}-parts": Row(Outage(1000, 0.9, failed, parts=True), None) for failed in GOALS}
