"""Runs of scenarios with seeds, some at once, and what came of them."""

from __future__ import annotations

import shutil
import statistics
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from tests.faults.ground import Ground
from tests.faults.scenario import Scenario
from tests.faults.stage import Stage
from tests.history.laws.served import Evictions, tally


@dataclass(frozen=True, slots=True)
class Run:
    """One run. `why` is "" where all held; `logs` is where its logs are kept, "" for nowhere.

    `served`, `excused` and `went_back` count its evictions of pods that lived: those that served a
    gang, those that did not and are excused, for `excuses`, and those for commits that went back.
    None where that was not asked.
    """

    scenario: str
    seed: int
    seconds: float
    why: str = ""
    logs: str = ""
    served: int | None = None
    excused: int | None = None
    went_back: int | None = None
    excuses: tuple[str, ...] = ()

    @property
    def held(self) -> bool:
        """Whether all held."""
        return not self.why

    @property
    def again(self) -> str:
        """The command that repeats it."""
        return f"python -m tests.faults {self.scenario} --first {self.seed} --seeds 1"

    @property
    def evictions(self) -> str:
        """What its evictions came to, "" where there were none or that was not asked."""
        if not (self.served or self.excused or self.went_back):
            return ""
        return tally(self.served or 0, self.excused or 0, self.went_back or 0)


def run_once(scenario: Scenario, seed: int, ground: Ground, brief: bool = False) -> Run:
    """Run one scenario with one seed on a control plane."""
    folder = ground.folder / f"{scenario.name}-{seed}"
    began = time.monotonic()
    why = ""
    found: Evictions | None = None
    try:
        with Stage(ground, scenario.name, seed, folder, brief) as stage:
            scenario.run(stage)
            stage.settle()
            found = stage.verdict.evictions if stage.verdict else None
    except Exception as error:  # noqa: BLE001 - whatever it is, the run has not held
        why = f"{type(error).__name__}: {error}"
        folder.mkdir(exist_ok=True)
        (folder / "why").write_text(traceback.format_exc())
    seconds = time.monotonic() - began
    if not why:
        shutil.rmtree(folder, ignore_errors=True)
    run = Run(scenario.name, seed, round(seconds, 1), why, str(folder) if why else "")
    if found is None:
        return run
    return replace(
        run,
        served=found.served,
        excused=found.not_served,
        went_back=found.went_back,
        excuses=tuple(why for _, why in found.excused),
    )


def run_all(
    scenarios: Sequence[Scenario], seeds: range, at_once: int, told: Callable[[Run], None]
) -> list[Run]:
    """Run every scenario with every seed, `at_once` of them on control planes of their own."""
    jobs = [(one, part) for one in scenarios for part in _parts(seeds, at_once)]

    def work(job: tuple[Scenario, range]) -> list[Run]:
        return list(_tell(_run_part(*job), told))

    with ThreadPoolExecutor(at_once) as pool:
        return [run for runs in pool.map(work, jobs) for run in runs]


def _parts(seeds: range, count: int) -> list[range]:
    return [part for i in range(count) if (part := seeds[i::count])]


def _run_part(scenario: Scenario, seeds: range) -> Iterator[Run]:
    with Ground(scenario.needs) as ground:
        kept = False
        for seed in seeds:
            run = run_once(scenario, seed, ground)
            kept = kept or not run.held
            yield run
    if not kept:
        shutil.rmtree(ground.folder, ignore_errors=True)


def _tell(runs: Iterable[Run], told: Callable[[Run], None]) -> Iterator[Run]:
    for run in runs:
        told(run)
        yield run


@dataclass(frozen=True, slots=True)
class Count:
    """What came of all runs of one scenario. `median` in seconds."""

    scenario: str
    tried: int
    held: int
    median: float

    @property
    def breached(self) -> int:
        """Runs in which something did not hold."""
        return self.tried - self.held


def counts(runs: Sequence[Run]) -> list[Count]:
    """One line for each scenario, in the order of their first runs."""
    names = dict.fromkeys(run.scenario for run in runs)
    return [_count(name, [run for run in runs if run.scenario == name]) for name in names]


def _count(name: str, runs: Sequence[Run]) -> Count:
    seconds = statistics.median(run.seconds for run in runs)
    return Count(name, len(runs), sum(run.held for run in runs), seconds)


def logs_of(run: Run) -> Path:
    """Where the logs of a run that did not hold are."""
    return Path(run.logs)
