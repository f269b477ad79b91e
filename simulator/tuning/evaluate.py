"""What a config comes to on a set of replays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from fourleaf.simulator.measures.summary import summarise
from fourleaf.simulator.options import BackfillOptions, ReplayOptions
from fourleaf.simulator.replay import replay
from fourleaf.simulator.tuning.cases import Case
from fourleaf.simulator.tuning.knobs import Settings, applied
from fourleaf.simulator.tuning.objectives import OBJECTIVES
from fourleaf.simulator.tuning.task import TuningTask


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The objectives of each case, in the order of the task, in seconds or shares of 1.

    `unproven` cycles of all cases: a time limit had a say in them.
    """

    cases: tuple[tuple[float, ...], ...]
    unproven: int = 0

    @property
    def values(self) -> tuple[float, ...]:
        """The mean of each objective."""
        return tuple(fmean(column) for column in zip(*self.cases, strict=True))


class SolverFailed(RuntimeError):
    """The solver's process gave nothing, so that the fallback answered: no config is to blame."""


def evaluate(
    task: TuningTask,
    settings: Settings,
    cases: Sequence[Case],
    begun: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Replay all cases under the task's config with these settings. Raises `SolverFailed`.

    `begun` hears the number of each case that begins, from 1, and of how many.
    """
    options = options_of(task, settings)
    found, unproven = [], 0
    for number, case in enumerate(cases, start=1):
        if begun is not None:
            begun(number, len(cases))
        record = replay(case.trace, case.fabric, options)
        if record.counts.greedy:
            raise SolverFailed(f"{record.counts.greedy} cycles went without the solver's answer")
        summary = summarise(record)
        found.append(tuple(OBJECTIVES[name].of(summary) for name in task.objectives))
        unproven += record.counts.unproven
    return Evaluation(tuple(found), unproven)


def options_of(task: TuningTask, settings: Settings) -> ReplayOptions:
    """How these settings are replayed: with the patience of replays, and room kept as they say."""
    told = ReplayOptions(period=task.period, seed=task.seed)
    config = applied(task.config, settings)
    spec = config.spec
    patience = told.config.spec.solver.time_limit_seconds
    solver = spec.solver.model_copy(update={"time_limit_seconds": patience})
    config = config.model_copy(update={"spec": spec.model_copy(update={"solver": solver})})
    kept = spec.backfill
    return replace(
        told, config=config, backfill=BackfillOptions(kept.enabled, round(kept.after_seconds))
    )
