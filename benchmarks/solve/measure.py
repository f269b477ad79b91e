"""Measures one row: every seed a cold and a warm cycle, then all that needs no clock.

The cycles come first and alone, so that the peak memory is that of solving: the plans are
kept as bytes, and the instances are made again for the validator, greedy and the naive model.
"""

from __future__ import annotations

import gc
import pickle
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from benchmarks.pace import pace
from benchmarks.solve.instances import snapshots
from fourleaf.model.plan import Plan, PlanStatus
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.fabric_shape import Shape
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.process.memory_limit import peak_memory_mib


@dataclass(frozen=True, slots=True)
class Instances:
    """The family of instances that a row stands for."""

    shape: Shape
    gangs: int
    parts: bool = False
    sizes: Sequence[int] = ()

    def of(self, seed: int) -> tuple[Snapshot, Snapshot]:
        """The two cycles of one seed."""
        return snapshots(seed, self.shape, self.gangs, self.parts, self.sizes)


@dataclass(slots=True)
class Sample:
    """One seed; times in seconds, `processor` the CPU time of the process.

    `build` and `solve` are unknown where the time ran out. `pace` is that of the machine just
    before. `greedy_gpus` is a share of ours; a score
    has no zero that would give a share a meaning, so that of greedy is only less or not.
    """

    seed: int
    cold: float
    cold_processor: float
    total: float
    processor: float
    pace: float
    build: float | None = None
    solve: float | None = None
    proven: bool = False
    cold_proven: bool = False
    gap: float = 1.0
    placed: int = 0
    breaches: int = 0
    greedy_gpus: float | None = None
    greedy_scores_less: bool | None = None


@dataclass(slots=True)
class NaiveSample:
    """The naive model on one seed. `gap` is unknown where it found nothing."""

    seed: int
    seconds: float
    status: str
    gap: float | None
    gpus: float
    """GPUs placed, as a share of ours."""


@dataclass(slots=True)
class Measured:
    """All seeds of a row, and the most memory that its cycles took."""

    samples: list[Sample] = field(default_factory=list)
    naive: list[NaiveSample] = field(default_factory=list)
    memory_mib: int = 0

    @property
    def breaches(self) -> int:
        """Breaches of all plans: ours, cold and warm, and greedy's."""
        return sum(sample.breaches for sample in self.samples)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, to hand to the parent process."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """What `as_dict` made."""
        return cls(
            [Sample(**one) for one in data["samples"]],
            [NaiveSample(**one) for one in data["naive"]],
            data["memory_mib"],
        )


def measure(seeds: range, instances: Instances, naive_seeds: int = 0) -> Measured:
    """Run the seeds as the worker does: static facts kept, no garbage collector in a solve."""
    out = Measured()
    plans: list[bytes] = []
    gc.freeze()
    gc.disable()
    try:
        for seed in seeds:
            sample, cycles = _cycles(seed, instances)
            out.samples.append(sample)
            plans.append(pickle.dumps(cycles))
            del cycles
            gc.collect()
        out.memory_mib = peak_memory_mib()
    finally:
        gc.enable()
        gc.unfreeze()
    for number, (sample, raw) in enumerate(zip(out.samples, plans, strict=True)):
        cold, plan = pickle.loads(raw)  # noqa: S301 - made above
        first, second = instances.of(sample.seed)
        _check(sample, (first, cold), (second, plan))
        if number < naive_seeds:
            out.naive.append(_naive(sample.seed, second, plan))
    return out


def _cycles(seed: int, instances: Instances) -> tuple[Sample, tuple[Plan | None, Plan | None]]:
    first, second = instances.of(seed)
    gc.collect()
    speed = pace()
    before, cold, cold_processor = _timed(first)
    gc.collect()
    plan, total, processor = _timed(second)
    sample = Sample(seed, cold, cold_processor, total, processor, speed)
    sample.cold_proven = before is not None and before.status is PlanStatus.OPTIMAL
    if plan is not None:
        sample.proven = plan.status is PlanStatus.OPTIMAL
        sample.gap = sample.gap if plan.gap is None else plan.gap
        sample.placed = len(plan.placements)
        if plan.seconds_solve:
            sample.build, sample.solve = plan.seconds_build, plan.seconds_solve
    return sample, (before, plan)


def _timed(snapshot: Snapshot) -> tuple[Plan | None, float, float]:
    start, used = time.perf_counter(), time.process_time()
    plan = solve(snapshot)
    return plan, time.perf_counter() - start, time.process_time() - used


def _gpus(snapshot: Snapshot, plan: Plan | None) -> int:
    weight = {gang.key: gang.weight for gang in snapshot.gangs}
    return sum(weight[p.gang] for p in plan.placements) if plan else 0


def _check(sample: Sample, *cycles: tuple[Snapshot, Plan | None]) -> None:
    """Validate the plans of all cycles, and compare the last with greedy's."""
    from fourleaf.model.validator import validate
    from fourleaf.solver.batch.greedy import greedy_plan

    for snapshot, plan in cycles:
        sample.breaches += len(validate(snapshot, plan)) if plan else 0
    snapshot, plan = cycles[-1]
    if plan is None:
        return
    greedy = greedy_plan(snapshot)
    sample.breaches += len(validate(snapshot, greedy))
    sample.greedy_gpus = _gpus(snapshot, greedy) / max(1, _gpus(snapshot, plan))
    sample.greedy_scores_less = greedy.objective < plan.objective


def _naive(seed: int, snapshot: Snapshot, plan: Plan | None) -> NaiveSample:
    from benchmarks.solve import naive

    limit = snapshot.config.spec.solver.time_limit_seconds
    found = naive.solve(snapshot, limit)
    gpus = found.gpus / max(1, _gpus(snapshot, plan))
    return NaiveSample(seed, found.seconds, found.status, found.gap, gpus)
