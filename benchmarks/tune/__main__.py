"""`python -m benchmarks.tune [--trials N] [--workers N] [--storage URL] [--write]`.

The weights tuned on the earlier part of Kalos, judged on the later part. A study that was ended
goes on where it was.
"""

from __future__ import annotations

from typing import Annotated

import typer

from benchmarks.data import lacking
from benchmarks.results import markdown, write_tables
from fourleaf.model.config.spec import SchedulerConfig, Spec, Topology
from fourleaf.simulator.measures.tables import Table
from fourleaf.simulator.readers import kalos, lingjun
from fourleaf.simulator.tuning.cases import split_of
from fourleaf.simulator.tuning.choice import TOLERANCE
from fourleaf.simulator.tuning.evaluate import Evaluation, evaluate
from fourleaf.simulator.tuning.knobs import Settings
from fourleaf.simulator.tuning.storage import open_storage
from fourleaf.simulator.tuning.study import RANDOM_TRIALS, open_study
from fourleaf.simulator.tuning.tables import tables
from fourleaf.simulator.tuning.task import TuningTask
from fourleaf.simulator.tuning.verdict import StudyVerdict, sentence, verdict_of
from fourleaf.simulator.tuning.workers import together

SLACK = SchedulerConfig(spec=Spec(topology=Topology(window_slack=1)))
"""Without a leaf more, a gang of 128 nodes has two places on the whole of Lingjun."""
TITLE = "Tuning: weights chosen on train, judged on held-out"
NOTE = """Kalos at {load:g} % load on the Lingjun fabric, `windowSlack` 1, a cycle a minute, \
{deals} deals. Train: {train}. Held-out: {held_out}; choices judged there so far: {looks}. The \
mean gain decides, and no objective may lose more than {tolerance:.0%}; the choice is made on \
train alone. \
{trials} trials by TPE, the first {first} at random, \
seed {seed}, {unproven} cycles unproven; the mean of {deals} replays each."""


def main(
    load: Annotated[int, typer.Option(help="Percent.")] = 90,
    trials: Annotated[int, typer.Option(min=1)] = 40,
    deals: Annotated[int, typer.Option(min=1)] = 3,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    workers: Annotated[int, typer.Option(min=1)] = 2,
    storage: Annotated[str, typer.Option(help="Where the study is kept.")] = (
        "sqlite:///benchmark-tune.db"
    ),
    write: Annotated[bool, typer.Option(help="Write the page of tables.")] = False,
) -> None:
    """Run the study to its end, and print what held-out says."""
    if lacking((kalos.FILE, lingjun.FILE), "tune", TITLE, write):
        return
    task = TuningTask(load=load, deals=deals, seed=seed, config=SLACK)
    name = f"kalos-{load}-{deals}-{seed}"
    together(storage, name, task, trials, workers, lambda one: print(one.number, one.values), _lost)
    verdict = judged(storage, name, task)
    body = "\n\n".join([note(verdict), sentence(verdict), *map(_section, tables(verdict))])
    print(body)
    if write:
        write_tables("tune", TITLE, body)


def judged(storage: str, name: str, task: TuningTask) -> StudyVerdict:
    """The verdict on the study."""
    split = split_of(task)

    def judge(settings: Settings, held_out: bool) -> Evaluation:
        return evaluate(task, settings, split.held_out if held_out else split.train)

    return verdict_of(open_study(open_storage(storage), name, task), task, split, judge, TOLERANCE)


def note(verdict: StudyVerdict) -> str:
    """What was run."""
    task = verdict.task
    return NOTE.format(
        load=task.load or 0,
        deals=task.deals,
        train=verdict.split.train_window,
        held_out=verdict.split.held_out_window,
        looks=verdict.looks,
        tolerance=verdict.tolerance,
        trials=len(verdict.trials),
        first=RANDOM_TRIALS,
        seed=task.seed,
        unproven=sum(one.train.unproven for one in verdict.trials),
    )


def _lost(number: int, code: int) -> None:
    print(f"worker {number} died ({code}); the study goes on")


def _section(table: Table) -> str:
    rows = [list(row) for row in table.rows]
    return f"{table.title}:\n\n{markdown(list(table.header), rows)}"


if __name__ == "__main__":
    typer.run(main)
