"""Measures one row: every seed once cold, on a fabric never met, as a failure always is."""

from __future__ import annotations

import gc
import pickle
import time
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from benchmarks.repair.instances import Outage, snapshot
from fourleaf.model.relocation import RepairPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.process.memory_limit import peak_memory_mib
from fourleaf.solver.relocation.repair import repair


@dataclass(slots=True)
class Sample:
    """One seed; times in seconds. `stages` is CP-SAT for who and moves; `processor` is CPU.

    `lost` are gangs that could not live; `avoidable` those of them without a proof of it.
    `cost` is the price of the moves and `bound` what no plan can go below.
    """

    seed: int
    gangs: int
    hit: int
    total: float
    processor: float
    stages: float
    where: float
    proven: bool
    lost: int
    avoidable: int
    pods: int
    cost: int
    bound: int
    breaches: int = 0


@dataclass(slots=True)
class Measured:
    """All seeds of a row, and the most memory that they took."""

    samples: list[Sample] = field(default_factory=list)
    memory_mib: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Plain data, to hand to the parent process."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """What `as_dict` made."""
        return cls([Sample(**one) for one in data["samples"]], data["memory_mib"])


def measure(seeds: range, outage: Outage) -> Measured:
    """Run the seeds as the worker does: no garbage collector in a solve; validate afterwards."""
    out = Measured()
    plans: list[bytes] = []
    gc.freeze()
    gc.disable()
    try:
        for seed in seeds:
            world = snapshot(seed, outage)
            gc.collect()
            start, used = time.perf_counter(), time.process_time()
            plan = repair(world)
            total, processor = time.perf_counter() - start, time.process_time() - used
            if plan is None:
                raise RuntimeError(f"seed {seed}: no repair was found in time")
            out.samples.append(_sample(seed, world, plan, total, processor))
            plans.append(pickle.dumps(plan))
            del world, plan
            gc.collect()
        out.memory_mib = peak_memory_mib()
    finally:
        gc.enable()
        gc.unfreeze()
    _check(out, plans, outage)
    return out


def _sample(seed: int, world: Snapshot, plan: RepairPlan, total: float, processor: float) -> Sample:
    who = [stage for stage in plan.stages if stage.name.startswith("who")]
    moves = next(stage for stage in plan.stages if stage.name == "moves")
    return Sample(
        seed,
        len(world.standing),
        sum(one.hit for one in world.standing),
        total,
        processor,
        sum(stage.seconds for stage in who) + moves.seconds,
        plan.stages[-1].seconds,
        plan.proven,
        len(plan.lost),
        0 if all(stage.proven for stage in who) else len(plan.lost),
        len(plan.moves),
        plan.cost,
        moves.bound,
    )


def _check(out: Measured, plans: list[bytes], outage: Outage) -> None:
    from fourleaf.model.validator import repair_breaches

    for sample, raw in zip(out.samples, plans, strict=True):
        plan = pickle.loads(raw)  # noqa: S301 - made above
        sample.breaches = len(repair_breaches(snapshot(sample.seed, outage), plan))
