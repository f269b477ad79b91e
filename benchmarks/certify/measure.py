"""One instance: what a baseline leaves waiting, and what the solver knows of that in time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from benchmarks.certify.instances import limited, snapshot
from model.gang import GangKey
from model.plan import Plan, PlanStatus
from model.snapshot import Snapshot
from model.validator import validate, who_values
from simulator.inspecting import OF_SCORES
from simulator.policies.catalogue import policy
from solver.client import SolverClient
from solver.steps import own_steps

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

    `limit` and `seconds` in seconds; `all_placed` says whether ours leaves nobody waiting.
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


def cases(
    workload: str, nodes: int, seeds: Iterable[int], limits: Sequence[float]
) -> Iterator[Case]:
    """All instances in which a baseline leaves somebody waiting, at each limit."""
    steps = replace(own_steps(), explain=lambda _, plan, *__: plan)
    with SolverClient(steps=steps) as ours:
        for seed in seeds:
            instance = snapshot(workload, nodes, seed)
            behind = dict(_baselines(instance, seed))
            if not behind:
                continue
            for limit, plan, seconds in _answers(ours, instance, limits):
                broken = len(validate(instance, plan))
                for baseline, placed in behind.items():
                    yield Case(
                        workload, nodes, seed, baseline, limit,
                        verdict(instance, placed, plan), not plan.waiting,
                        plan.status is PlanStatus.OPTIMAL, seconds, broken,
                    )  # fmt: skip


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
    ours: SolverClient, instance: Snapshot, limits: Sequence[float]
) -> Iterator[tuple[float, Plan, float]]:
    """Plan and wall seconds by limit; a plan that is proven stands for all longer limits."""
    known: tuple[Plan, float] | None = None
    for limit in sorted(limits):
        if known is None or known[0].status is not PlanStatus.OPTIMAL:
            asked = replace(instance, config=limited(instance, limit))
            # A process that had to be killed starts anew; that is not part of the next answer.
            while not ours.wait_until_ready():
                time.sleep(0.1)
            start = time.perf_counter()
            known = ours.plan(asked), time.perf_counter() - start
        yield limit, *known
