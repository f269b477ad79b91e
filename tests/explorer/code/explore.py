"""The search of one scenario, with what it counted."""

from __future__ import annotations

from dataclasses import dataclass

from tests.explorer.code.scenario import Bounds, Scenario
from tests.explorer.code.system import CodeSystem
from tests.explorer.engine.result import Result
from tests.explorer.engine.search import search


@dataclass(frozen=True, slots=True)
class Explored:
    """A search of `scenario` within `bounds`.

    `schedules` were run from the start; from `crashes` different contents of the store a third
    leader took over after all others had died.
    """

    scenario: Scenario
    bounds: Bounds
    result: Result
    schedules: int
    crashes: int
    what: str = "code"

    def __str__(self) -> str:
        return (
            f"{self.what}, {self.scenario.name} ({self.scenario.why})\n"
            f"  {self.bounds}\n  {self.result}\n"
            f"  {self.schedules:,} schedules run, {self.crashes:,} stores taken over after a crash"
        )


def explore(scenario: Scenario, bounds: Bounds, most: int | None = None) -> Explored:
    """Search every schedule of `scenario` within `bounds`, or `most` states of them."""
    system = CodeSystem(scenario, bounds)
    try:
        result = search(system, depth=True, most=most)
    finally:
        system.close()
    return Explored(scenario, bounds, result, system.schedules, system.crashes)
