"""What lets a gang start that has neither the quota nor the room: no more than it takes."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fourleaf.model.gang import Gang
from fourleaf.model.reasons.kinds import Reason
from fourleaf.model.reasons.text import cause
from fourleaf.solver.cpsat.constraints.quota import new_gpus
from fourleaf.solver.explain.blockers import ending
from fourleaf.solver.explain.context import Context
from fourleaf.solver.explain.no_room_now import NoRoomNow
from fourleaf.solver.explain.quota_and_uplinks import raise_step


def quota_and_room(context: Context, gang: Gang, busy: NoRoomNow, then: Reason) -> tuple[str, ...]:
    """Steps of which each is enough by itself; `then` is why it would wait under a higher quota."""
    further = then.unblock or (f"it still waits: {cause(then)}",)
    return tuple(step for one in further for step in _steps(context, gang, busy, one))


def _steps(context: Context, gang: Gang, busy: NoRoomNow, then: str) -> Iterator[str]:
    """What does for the quota beside `then`, which does for the room alone.

    The end of gangs of the same namespace gives quota back too, and those of lower priority make
    way once the quota allows it.
    """
    namespace = gang.key.namespace
    quota = context.spec.namespace(namespace).gpu_quota or 0
    used = quota - context.quota_now[namespace] + context.placed_gpus.get(namespace, 0)
    enough = used + new_gpus(gang)
    ends = busy.ends if (then,) == ending(busy.ends) else ()
    way = _make_way(context, gang, ends)
    left = enough - _given_back(context, namespace, ends)
    if way:
        verb = "makes" if len(ends) == 1 else "make"
        yield f"{raise_step(namespace, enough)}, and then {then} or {verb} way"
    if left <= quota:
        yield then
    elif not way:
        yield f"{raise_step(namespace, left)}, and then {then}"


def _make_way(context: Context, gang: Gang, ends: Collection[str]) -> bool:
    """Whether all of `ends` are gangs of lower priority that run, and gangs may be preempted."""
    pods = [one for one in context.snapshot.running if str(one.gang or one) in ends]
    return (
        context.spec.preemption.enabled
        and bool(ends)
        and {str(one.gang or one) for one in pods} == set(ends)
        and all(one.ours and one.priority < gang.priority for one in pods)
    )


def _given_back(context: Context, namespace: str, ends: Collection[str]) -> int:
    """GPUs of the namespace that those hold."""
    runs = sum(
        one.request.gpus
        for one in context.snapshot.running
        if one.namespace == namespace and str(one.gang or one) in ends
    )
    placed = (one.gang for one in context.plan.placements)
    mine = (one for one in placed if one.namespace == namespace and str(one) in ends)
    return runs + sum(new_gpus(context.gangs[one]) for one in mine)
