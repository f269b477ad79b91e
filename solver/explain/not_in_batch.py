"""Gangs that the plan did not consider: held back while reading, or left out of the batch."""

from __future__ import annotations

from fourleaf.model.gang import Gang
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.solver.explain.context import Context
from fourleaf.solver.instance.gang_classes import gang_order


def not_considered(context: Context, gang: Gang) -> Reason | None:
    """The reason of a gang that is on hold or not in the batch."""
    if gang.hold is not None:
        return gang.hold.reason
    kind = context.selection.left_out.get(gang.key)
    if kind is ReasonKind.NAMESPACE_LIMIT:
        return _namespace_limit(context, gang)
    if kind is ReasonKind.NOT_IN_BATCH:
        return _not_in_batch(context, gang)
    return None


def _not_in_batch(context: Context, gang: Gang) -> Reason:
    ahead = context.ahead[gang.key]
    counts = (("ahead", ahead), ("batch", context.spec.batch.size))
    step = f"raise batch.size to {ahead + 1}"
    return Reason(ReasonKind.NOT_IN_BATCH, "", counts, unblock=(step,))


def _namespace_limit(context: Context, gang: Gang) -> Reason:
    namespace = gang.key.namespace
    policy = context.spec.namespace(namespace)
    same = [one for one in context.selection.batch if one.key.namespace == namespace]
    same = [one for one in same if gang_order(one) < gang_order(gang)]
    if policy.max_gangs is not None and len(same) >= policy.max_gangs:
        of_gangs = (("limit", policy.max_gangs), ("gangs", len(same)))
        step = f"raise namespaces.{namespace}.maxGangs above {policy.max_gangs}"
        return Reason(ReasonKind.NAMESPACE_LIMIT, "", of_gangs, unblock=(step,))
    members = sum(_members(one) for one in same)
    own = _members(gang)
    counts = (("limit", policy.max_members or 0), ("members", members), ("needed", own))
    step = f"raise namespaces.{namespace}.maxMembers to {members + own}"
    return Reason(ReasonKind.NAMESPACE_LIMIT, "", counts, unblock=(step,))


def _members(gang: Gang) -> int:
    return sum(len(role.pods) for role in gang.roles)
