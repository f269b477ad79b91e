"""Names of extra resources that decide where pods go, of all those that running pods hold.

Any pod may hold thousands of names that nothing else has heard of, and ports of its node: summed
up by node and sent with every question, they took seconds of each plan. A name decides something
where a node lists it, or where a gang that waits, or may move, asks for it.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from operator import is_

from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot


def with_names_that_count(snapshot: Snapshot) -> Snapshot:
    """The snapshot with no other name in what its running pods hold; itself where there is none."""
    names = _names(snapshot)
    running = tuple([_pod(pod, names) if pod.request.extra else pod for pod in snapshot.running])
    if all(map(is_, running, snapshot.running)):
        return snapshot
    found = replace(snapshot, running=running)
    # Worked out already by who follows the pods: to sum them up again would take longer.
    if (used := snapshot.__dict__.get("used")) is not None:
        found.take_used({node: _of_use(held, names) for node, held in used.items()})
    return found


def _names(snapshot: Snapshot) -> Set[str]:
    """Those that a node lists, wherever they are held, and those that a gang asks for."""
    # What is held is placed nowhere.
    waiting = (gang for gang in snapshot.gangs if gang.hold is None)
    gangs = (*waiting, *(one.gang for one in snapshot.standing))
    asked = (role.request for gang in gangs for role in gang.roles)
    return {name for one in (*snapshot.fabric.offers, *asked) for name, _ in one.extra}


def _pod(pod: RunningPod, names: Set[str]) -> RunningPod:
    request = _of_use(pod.request, names)
    return pod if request is pod.request else replace(pod, request=request)


def _of_use(amount: Resources, names: Set[str]) -> Resources:
    kept = tuple([one for one in amount.extra if one[0] in names])
    return amount if len(kept) == len(amount.extra) else replace(amount, extra=kept)
