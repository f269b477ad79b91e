"""What is asked of the solver process, and how the parent judges and completes the answer.

Around it stands what the parent does by itself: a greedy plan, checks, reasons. Pure Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import Breach
from fourleaf.solver.process.messages import BatchTask, Outcome, Task

P = TypeVar("P", bound=Outcome)

MANY_GANGS = 16
"""Gangs of a batch beyond which our own plan is made only where the worker is long in answering.

It takes as long as the worker's, on the one interpreter that hears of the cluster meanwhile.
"""


@dataclass(frozen=True, slots=True)
class GuardedCall(Generic[P]):
    """One call, and the pure Python steps around it.

    `own` makes a legal answer without the solver, with so many `looks` of a gang at a node where it
    is to be begun late; `nothing` makes one that changes nothing.
    `breaches` says what is illegal in an answer, `worse` whether the first of two is worth
    less than the second, `explain` adds the reasons of gangs without a place. `own` and
    `explain` take the moment (monotonic seconds) at which to hand over what they have.
    """

    task: Task
    snapshot: Snapshot
    kind: type[P]
    own: Callable[[Extensions, float], P]
    nothing: Callable[[], P]
    breaches: Callable[[P, Extensions], Sequence[Breach]]
    worse: Callable[[P, P], bool]
    explain: Callable[[P, Extensions, float], P]
    looks: int = 0


class IllegalPlanError(Exception):
    """A plan of our own does not pass the validator."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """The functions that the parent calls; tests bring their own.

    `greedy` and `explain` take the moment (monotonic seconds) at which they hand over what
    they have.
    """

    greedy: Callable[[Snapshot, Extensions, float], Plan]
    validate: Callable[[Snapshot, Plan, Extensions], tuple[Breach, ...]]
    who_values: Callable[[Snapshot, Plan], Mapping[int, int]]
    explain: Callable[[Snapshot, Plan, Extensions, float], Plan]
    extensions: Callable[[], Extensions]

    def legal_greedy(self, snapshot: Snapshot, extensions: Extensions, until: float) -> Plan:
        """Make the greedy plan, without the gangs to which the validator objects by name.

        Raises `IllegalPlanError` where it objects to the rest as well.
        """
        plan = self.greedy(snapshot, extensions, until)
        breaches = self.validate(snapshot, plan, extensions)
        culprits = _culprits(breaches)
        if culprits:
            plan = _without(plan, culprits)
            breaches = self.validate(snapshot, plan, extensions)
        if breaches:
            raise IllegalPlanError(f"{len(breaches)} breaches, the first: {breaches[0]}")
        return plan

    def places_less(self, snapshot: Snapshot, plan: Plan, rival: Plan) -> bool:
        """Whether `plan` is worth less in the highest priority in which the two differ."""
        values, others = self.who_values(snapshot, plan), self.who_values(snapshot, rival)
        for priority in sorted({*values, *others}, reverse=True):
            mine, theirs = values.get(priority, 0), others.get(priority, 0)
            if mine != theirs:
                return mine < theirs
        return False


def _culprits(breaches: Iterable[Breach]) -> dict[GangKey, str]:
    """The gangs that breaches name, each with the first of its own."""
    found: dict[GangKey, str] = {}
    for breach in breaches:
        if breach.gang is not None:
            about = f"{breach.subject} " if breach.subject else ""
            found.setdefault(breach.gang, f"{about}{breach.detail}")
    return found


def _without(plan: Plan, culprits: Mapping[GangKey, str]) -> Plan:
    """`plan` with the culprits waiting, for the reason given with each."""
    kept = tuple(one for one in plan.placements if one.gang not in culprits)
    dropped = sum(one.score for one in plan.placements if one.gang in culprits)
    refused = tuple(
        Waiting(gang, Reason(ReasonKind.INVALID, why)) for gang, why in culprits.items()
    )
    waiting = tuple(one for one in plan.waiting if one.gang not in culprits)
    return replace(
        plan, placements=kept, waiting=waiting + refused, objective=plan.objective - dropped
    )


def batch_call(steps: Fallback, snapshot: Snapshot) -> GuardedCall[Plan]:
    """What a batch asks, with the steps around it."""
    gangs = len(snapshot.gangs)
    return GuardedCall(
        BatchTask(),
        snapshot,
        Plan,
        own=lambda extensions, until: steps.legal_greedy(snapshot, extensions, until),
        nothing=lambda: nothing_placed(snapshot),
        breaches=lambda plan, extensions: steps.validate(snapshot, plan, extensions),
        worse=lambda plan, rival: steps.places_less(snapshot, plan, rival),
        explain=lambda plan, extensions, until: steps.explain(snapshot, plan, extensions, until),
        looks=gangs * len(snapshot.fabric.nodes) if gangs > MANY_GANGS else 0,
    )


def own_steps() -> Fallback:
    """Load the product's own functions."""
    from fourleaf.model.extensions import load
    from fourleaf.model.validator import validate, who_values
    from fourleaf.solver.batch.greedy import greedy_plan
    from fourleaf.solver.explain.explain import explain

    return Fallback(greedy_plan, validate, who_values, explain, load)


def nothing_placed(snapshot: Snapshot) -> Plan:
    """Make the plan that places no gang, which is legal whatever else is wrong."""
    waiting = tuple(Waiting(gang.key, _placeholder(gang)) for gang in snapshot.gangs)
    return Plan(PlanStatus.GREEDY, (), waiting)


def _placeholder(gang: Gang) -> Reason:
    return Reason(ReasonKind.NOT_PROVEN) if gang.hold is None else gang.hold.reason
