"""Measures one row: every seed a cold and a warm cycle, each plan checked by the validator."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from benchmarks.solve import naive
from benchmarks.solve.instances import LIMIT, Shape, snapshots
from model.plan import PlanStatus
from model.validator import validate
from solver.batch import solve
from solver.greedy import greedy_plan
from solver.worker import peak_memory_mib


@dataclass(slots=True)
class Measured:
    """Figures of one row, one entry per seed. Times in seconds."""

    total: list[float] = field(default_factory=list)
    solving: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    proven: list[bool] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)
    placed: list[int] = field(default_factory=list)
    breaches: int = 0
    greedy_gpus: list[float] = field(default_factory=list)
    greedy_score: list[float] = field(default_factory=list)
    naive_seconds: list[float] = field(default_factory=list)
    naive_proven: list[bool] = field(default_factory=list)
    naive_gap: list[float] = field(default_factory=list)
    memory_mib: int = 0

    def as_dict(self) -> dict[str, object]:
        """Plain data, to hand to the parent process."""
        return asdict(self)


def measure(
    seeds: range,
    shape: Shape,
    gangs: int,
    parts: bool,
    sizes: Sequence[int] = (),
    naive_seeds: int = 0,
) -> Measured:
    """Run the seeds as the worker does: static facts kept, no garbage collector in a solve."""
    out = Measured()
    gc.freeze()
    gc.disable()
    for seed in seeds:
        first, second = snapshots(seed, shape, gangs, parts, sizes)
        start = time.perf_counter()
        solve(first)
        out.cold.append(time.perf_counter() - start)
        gc.collect()
        start, used = time.perf_counter(), time.process_time()
        plan = solve(second)
        out.total.append(time.perf_counter() - start)
        out.processor.append(time.process_time() - used)
        if plan is None:
            out.proven.append(False)
            out.gap.append(1.0)
            continue
        out.memory_mib = peak_memory_mib()
        out.solving.append(plan.seconds_solve)
        out.proven.append(plan.status is PlanStatus.OPTIMAL)
        out.gap.append(plan.gap)
        out.placed.append(len(plan.placements))
        out.breaches += len(validate(second, plan))
        other = greedy_plan(second)
        out.greedy_score.append(other.objective / max(1, plan.objective))
        weight = {gang.key: gang.weight for gang in second.gangs}
        ours = sum(weight[p.gang] for p in plan.placements)
        out.greedy_gpus.append(sum(weight[p.gang] for p in other.placements) / max(1, ours))
        gc.collect()
    for seed in seeds[:naive_seeds]:
        result = naive.solve(snapshots(seed, shape, gangs, parts, sizes)[1], LIMIT)
        out.naive_seconds.append(result.seconds)
        out.naive_proven.append(result.proven)
        out.naive_gap.append(result.gap)
    return out
