"""Why gangs wait: each law dropped in turn, and the finished plan asked again.

For one gang against what the plan leaves, its own legal places decide exactly what is
possible, so no solver is needed: a law is dropped by asking on a fabric, a config or free
amounts without it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from math import inf

from fourleaf.model.extensions import NO_EXTENSIONS, Extensions
from fourleaf.model.gang import Gang
from fourleaf.model.plan import Plan, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.topology import natural_key
from fourleaf.solver.explain import matching_advice
from fourleaf.solver.explain.blockers import of_one_that_runs
from fourleaf.solver.explain.bound_elsewhere import bound_elsewhere
from fourleaf.solver.explain.context import Context
from fourleaf.solver.explain.left_out import LeftOut, as_counts, left_out_of
from fourleaf.solver.explain.let_in import Doors, LetIn
from fourleaf.solver.explain.no_matching_nodes import no_matching_nodes
from fourleaf.solver.explain.no_room_now import NoRoomNow
from fourleaf.solver.explain.quota_and_room import quota_and_room
from fourleaf.solver.explain.quota_and_uplinks import quota_exceeded
from fourleaf.solver.explain.too_large import ROLES_TO_TRY, larger_than_all, too_large
from fourleaf.solver.instance.candidates import Candidates
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.instance.gang_type import GangType
from fourleaf.solver.instance.time_share import SHARE_OF_ONE_GANG, TimeShareOver, time_share


def explain(
    snapshot: Snapshot, plan: Plan, extensions: Extensions = NO_EXTENSIONS, until: float = inf
) -> Plan:
    """Return the plan with the reason of every waiting gang filled in.

    A gang that `plan` calls invalid stays so. From `until` on (monotonic seconds) no further
    gang is asked about, nor is one of several for longer than its share of the time; those keep
    the reason that `plan` gives.
    """
    if not plan.waiting:
        return plan
    explainer = _Explainer(Context(snapshot, plan, extensions))
    gangs = explainer.context.gangs

    parts = SHARE_OF_ONE_GANG if len(plan.waiting) > 1 else 1

    def told(entry: Waiting) -> Waiting:
        gang = gangs.get(entry.gang)
        final = entry.reason.kind is ReasonKind.INVALID and gang is not None and gang.hold is None
        now = time.monotonic()
        if gang is None or final or now >= until:
            return entry
        try:
            with time_share(now + (until - now) / parts):
                reason = explainer.reason(gang)
        except TimeShareOver:
            return entry
        if reason.kind is ReasonKind.NOT_PROVEN:
            reason = replace(reason, detail=entry.reason.detail)
        return Waiting(entry.gang, reason)

    return replace(plan, waiting=tuple(told(entry) for entry in plan.waiting))


OTHER_LINE = "name devices in its line of the device map that no other pod has"
"""What lets a pod start whose map names devices that others have."""
_SHORT_OF_NODES = (
    ReasonKind.NO_MATCHING_NODES,
    ReasonKind.TOO_LARGE,
    ReasonKind.NO_FREE_CAPACITY,
    ReasonKind.NO_ADJACENT_LEAVES,
    ReasonKind.OUTRANKED,
)
"""Reasons that nodes which take no pods for want of a leaf could end."""
_BUSY = (
    ReasonKind.TOO_LARGE,
    ReasonKind.BOUND_ELSEWHERE,
    ReasonKind.NO_FREE_CAPACITY,
    ReasonKind.NO_ADJACENT_LEAVES,
    ReasonKind.UPLINK_FULL,
    ReasonKind.OUTRANKED,
)
"""Reasons that are about the nodes that match: which others are left out is said as well."""


class _Explainer:
    """Asks one gang after the other, and gangs that may stand at the same places once."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._busy: dict[tuple[GangType, Candidates], NoRoomNow] = {}
        self._never: dict[tuple[GangType, Candidates], Reason | None] = {}
        self._left_out: dict[GangType, LeftOut] = {}
        self._doors = Doors(context)
        self._let_in: dict[tuple[GangType, Candidates], tuple[LetIn, ...]] = {}

    def reason(self, gang: Gang) -> Reason:
        """The first reason that holds, with what else would let the gang start."""
        reason = self._reason(gang)
        steps: list[str] = []
        mapped = any(role.request.wants and role.request.wants.exact for role in gang.roles)
        if mapped and reason.kind in (ReasonKind.OUTRANKED, ReasonKind.NO_FREE_CAPACITY):
            steps.append(OTHER_LINE)
        few = len(gang.roles) <= ROLES_TO_TRY
        if reason.kind in _BUSY and few and self.context.shut:
            reason = self._with_left_out(reason, gang)
        refused = self.context.snapshot.fabric.refused
        if refused and reason.kind in _SHORT_OF_NODES:
            steps.append(matching_advice.refused_step(sorted(refused, key=natural_key)))
        reason = replace(reason, unblock=(*reason.unblock, *steps)) if steps else reason
        return of_one_that_runs(reason) if any(role.bound for role in gang.roles) else reason

    def _with_left_out(self, reason: Reason, gang: Gang) -> Reason:
        """The reason with the nodes that one thing alone leaves out, and who would let them in.

        Both are the same for all gangs that may stand at the same places.
        """
        context = self.context
        group = context.factory.of(gang)
        if group.kind not in self._left_out:
            self._left_out[group.kind] = left_out_of(context.fabric, context.shut, gang)
        left_out = self._left_out[group.kind]
        reason = replace(reason, counts=(*reason.counts, *as_counts(left_out)))
        if not left_out or reason.kind is ReasonKind.TOO_LARGE:
            return reason
        key = (group.kind, group.candidates)
        if key in self._let_in and not group.bound:
            found = self._let_in[key]
        else:
            try:
                found = self._doors.let_in(gang, left_out)
                if reason.kind is ReasonKind.BOUND_ELSEWHERE:
                    served = any(one.is_of_service for one in found)
                    found += () if served else self._doors.once_free(gang, left_out)
            except TimeShareOver:
                return reason
            self._let_in[key] = found
        first = [one for one in found if one.is_of_service]
        near = tuple(dict.fromkeys(miss for one in first[:1] for miss in one.near))
        later = (one.step for one in found if not one.is_of_service)
        return replace(
            reason,
            near=(*near, *(one for one in reason.near if one not in near)),
            unblock=(*(one.step for one in first), *reason.unblock, *later),
        )

    def _reason(self, gang: Gang) -> Reason:
        """The first reason that holds, from what never changes to what is busy now."""
        left_out = self.context.not_in_batch.reason(gang)
        reason = left_out or larger_than_all(self.context, gang)
        if reason is not None:
            return reason
        group = self.context.factory.of(gang)
        key = (group.kind, group.candidates)
        if key not in self._never:
            unmatched = no_matching_nodes(self.context.fabric, group)
            self._never[key] = unmatched or too_large(self.context, group)
        never = self._never[key]
        if never is not None:
            return never
        busy = self._busy_for(key, group)
        return (
            bound_elsewhere(self.context, group, busy.as_preferred if group.bound else None)
            or self._beyond_quota(gang, busy)
            or busy.reason(gang)
        )

    def _beyond_quota(self, gang: Gang, busy: NoRoomNow) -> Reason | None:
        """The quota, with what else it takes where room for the gang would still be missing."""
        quota = quota_exceeded(self.context, gang)
        if quota is None or busy.fits_after:
            return quota
        then = busy.reason(gang)
        return replace(
            quota, near=then.near, unblock=quota_and_room(self.context, gang, busy, then)
        )

    def _busy_for(self, key: tuple[GangType, Candidates], group: GangGroup) -> NoRoomNow:
        if group.bound:
            return NoRoomNow(self.context, group)
        if key not in self._busy:
            self._busy[key] = NoRoomNow(self.context, group)
        return self._busy[key]
