"""Studies whose replays are formulas, so that answers can be worked out by hand."""

from __future__ import annotations

from optuna import Study
from optuna.storages import InMemoryStorage

from fourleaf.simulator.tuning.evaluate import Evaluation
from fourleaf.simulator.tuning.knobs import Settings
from fourleaf.simulator.tuning.study import open_study
from fourleaf.simulator.tuning.task import TuningTask
from fourleaf.simulator.tuning.worker import run

WEIGHT = "fragmentation.weight"
TASK = TuningTask(knobs=(WEIGHT,), objectives=("allocation", "leaves"))


def formula(settings: Settings) -> Evaluation:
    """Judge by the weight w: allocation 0.4 + w / 10 and 0.5 + w / 10, leaves 1.2 and 1.4."""
    weight = settings[WEIGHT]
    return Evaluation(((0.4 + weight / 10, 1.2), (0.5 + weight / 10, 1.4)))


def study_of(trials: int, task: TuningTask = TASK, storage: InMemoryStorage | None = None) -> Study:
    """Run a study of formulas in memory."""
    study = open_study(storage or InMemoryStorage(), "made", task)
    run(study, task, trials, 0, formula)
    return study
