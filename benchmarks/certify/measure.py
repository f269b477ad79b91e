"""One instance: what a baseline leaves waiting, and what the solver knows of that in time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from benchmarks.certify.instances import limited, snapshot
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan, PlanStatus
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import validate, who_values
from fourleaf.simulator.plan_check import OF_SCORES
from fourleaf.simulator.policies.catalogue import policy
from fourleaf.solver.process.client import SolverClient
from fourleaf.solver.process.guarded_call import own_steps

BASELINES = ("greedy", "first-fit", "spread")
Values = tuple[int, ...]
"""What is placed of each priority, the highest first."""


class Verdict(StrEnum):
    """What the solver knows of a baseline's placement."""

    IMPROVED = "improved"
    CERTIFIED = "certified"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Case:
    """A placement that leaves somebody waiting, and what came of it within a time limit.

    `limit` and `seconds` in seconds. `all_placed` says whether ours leaves nobody waiting,
    `placeable` whether any answer, of any limit and however late, places more than the baseline
    or everybody: then a better placement exists. An answer that is `late` counts for nothing.
    """

    workload: str
    nodes: int
    seed: int
    baseline: str
    limit: float
    verdict: Verdict
    all_placed: bool
    proven: bool
    seconds: float
    breaches: int
    placeable: bool

    @property
    def late(self) -> bool:
        """Whether the answer came after the limit."""
        return self.seconds > self.limit


def cases(
    workload: str,
    nodes: int,
    seeds: Iterable[int],
    limits: Sequence[float],
    reserve: float = 0.0,
) -> Iterator[Case]:
    """All instances in which a baseline leaves somebody waiting, at each limit.

    The solver is asked to answer `reserve` seconds before the limit.
    """
    steps = replace(own_steps(), explain=lambda _, plan, *__: plan)
    with SolverClient(steps=steps) as ours:
        for seed in seeds:
            instance = snapshot(workload, nodes, seed)
            behind = dict(_baselines(instance, seed))
            if not behind:
                continue
            answers = list(_answers(ours, instance, limits, reserve))
            better = {
                baseline: any(betters(instance, placed, plan) for _, plan, _ in answers)
                for baseline, placed in behind.items()
            }
            for limit, plan, seconds in answers:
                broken, late = len(validate(instance, plan)), seconds > limit
                for baseline, placed in behind.items():
                    known = Verdict.UNKNOWN if late else verdict(instance, placed, plan)
                    yield Case(
                        workload, nodes, seed, baseline, limit, known,
                        not plan.waiting and not late, plan.status is PlanStatus.OPTIMAL,
                        seconds, broken, better[baseline],
                    )  # fmt: skip


def betters(instance: Snapshot, placed: Values, plan: Plan) -> bool:
    """Whether `plan` shows that more can be placed than `placed`."""
    return not plan.waiting or values(instance, plan) > placed


def verdict(instance: Snapshot, placed: Values, plan: Plan) -> Verdict:
    """Whether `plan` places more, priority by priority, or proves that nobody can."""
    ours = values(instance, plan)
    if ours > placed:
        return Verdict.IMPROVED
    who = {stage.name: stage for stage in plan.stages if stage.name.startswith("who ")}
    proven = all(f"who {one}" in who and who[f"who {one}"].proven for one in tiers(instance))
    return Verdict.CERTIFIED if proven and ours == placed else Verdict.UNKNOWN


def tiers(instance: Snapshot) -> list[int]:
    """Its priorities, the highest first."""
    return sorted({gang.priority for gang in instance.gangs}, reverse=True)


def values(instance: Snapshot, plan: Plan) -> Values:
    """What `plan` places of each priority."""
    found = who_values(instance, plan)
    return tuple(found.get(priority, 0) for priority in tiers(instance))


def lawful(instance: Snapshot, plan: Plan) -> Plan:
    """The plan without the gangs that stand where the leaf rule allows nobody."""
    broken: set[GangKey | None] = {
        one.gang for one in validate(instance, plan) if one.law not in OF_SCORES
    }
    kept = tuple(one for one in plan.placements if one.gang not in broken)
    return replace(plan, placements=kept)


def _baselines(instance: Snapshot, seed: int) -> Iterator[tuple[str, Values]]:
    """What each baseline that leaves somebody waiting places."""
    for name in BASELINES:
        plan = lawful(instance, policy(name, seed).decide(instance))
        if len(plan.placements) < len(instance.gangs):
            yield name, values(instance, plan)


def _answers(
    ours: SolverClient, instance: Snapshot, limits: Sequence[float], reserve: float
) -> Iterator[tuple[float, Plan, float]]:
    """Plan and wall seconds by limit; a plan that is proven stands for all longer limits."""
    known: tuple[Plan, float] | None = None
    for limit in sorted(limits):
        if known is None or known[0].status is not PlanStatus.OPTIMAL:
            asked = replace(instance, config=limited(instance, limit - reserve))
            # A process that had to be killed starts anew; that is not part of the next answer.
            while not ours.wait_until_ready():
                time.sleep(0.1)
            start = time.perf_counter()
            known = ours.plan(asked), time.perf_counter() - start
        yield limit, *known
