"""What the parent does by itself around a solve: greedy plan, checks, reasons. Pure Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from model.extensions import Extensions
from model.gang import Gang
from model.plan import Plan, PlanStatus, Waiting
from model.reasons import Reason, ReasonKind
from model.snapshot import Snapshot
from model.validator import Breach
from solver.question import Question
from solver.tasks import Batch


class IllegalPlanError(Exception):
    """A plan of our own does not pass the validator."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The functions that the parent calls; tests bring their own."""

    greedy: Callable[[Snapshot, Extensions], Plan]
    validate: Callable[[Snapshot, Plan, Extensions], tuple[Breach, ...]]
    who_values: Callable[[Snapshot, Plan], Mapping[int, int]]
    explain: Callable[[Snapshot, Plan, Extensions], Plan]
    extensions: Callable[[], Extensions]

    def legal_greedy(self, snapshot: Snapshot, extensions: Extensions) -> Plan:
        """Make the greedy plan. Raises `IllegalPlanError` where the validator objects."""
        plan = self.greedy(snapshot, extensions)
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


def batch_question(steps: Steps, snapshot: Snapshot) -> Question[Plan]:
    """What a batch asks, with the steps around it."""
    return Question(
        Batch(),
        snapshot,
        Plan,
        own=lambda extensions: steps.legal_greedy(snapshot, extensions),
        nothing=lambda: nothing_placed(snapshot),
        breaches=lambda plan, extensions: steps.validate(snapshot, plan, extensions),
        worse=lambda plan, rival: steps.places_less(snapshot, plan, rival),
        explain=lambda plan, extensions: steps.explain(snapshot, plan, extensions),
    )


def own_steps() -> Steps:
    """Load the product's own functions."""
    from model.extensions import load
    from model.validator import validate, who_values
    from solver.explain import explain
    from solver.greedy import greedy_plan

    return Steps(greedy_plan, validate, who_values, explain, load)


def nothing_placed(snapshot: Snapshot) -> Plan:
    """Make the plan that places nobody, which is legal whatever else is wrong."""
    waiting = tuple(Waiting(gang.key, _placeholder(gang)) for gang in snapshot.gangs)
    return Plan(PlanStatus.GREEDY, (), waiting)


def _placeholder(gang: Gang) -> Reason:
    hold = gang.hold
    if hold is None:
        return Reason(ReasonKind.NOT_PROVEN)
    return Reason(ReasonKind(hold.kind), hold.detail, hold.counts, unblock=hold.unblock)
