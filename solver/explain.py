"""Why gangs wait: each law dropped in turn, and the plan asked again."""

from __future__ import annotations

from dataclasses import replace

from model.extensions import Extensions
from model.gang import Gang
from model.plan import Plan, Waiting
from model.reasons import Reason, ReasonKind
from model.snapshot import Snapshot
from solver.selection import select

NO_EXTENSIONS = Extensions()


def explain(snapshot: Snapshot, plan: Plan, extensions: Extensions = NO_EXTENSIONS) -> Plan:
    """Return the plan with the reason of every waiting gang filled in."""
    gangs = {gang.key: gang for gang in snapshot.gangs}
    left_out = select(snapshot).left_out

    def reason(gang: Gang) -> Reason:
        hold = gang.hold
        if hold is not None:
            return Reason(ReasonKind(hold.kind), hold.detail, hold.counts, unblock=hold.unblock)
        return Reason(left_out.get(gang.key, ReasonKind.NO_FREE_CAPACITY))

    waiting = tuple(Waiting(entry.gang, reason(gangs[entry.gang])) for entry in plan.waiting)
    return replace(plan, waiting=waiting)
