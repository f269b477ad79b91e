"""The gangs that wait: in which order, why, and until when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.dashboard.view import View
from fourleaf.model.documents.queue import NOT_SEEN, queue_entry, told_of
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.reasons.json import reason_document
from fourleaf.model.start import Start, start_as_told
from fourleaf.solver.instance.gang_classes import gang_order


class StartView(View):
    """When a gang could start if no new one came.

    `state`: `expected` (then `seconds` from now, `proven` or not), `waits` (for `waitsFor`,
    whose end is unknown), `held` (not planned at all), `unknown` (looked for in vain),
    `searching`, or `later` (too far back in the queue to be looked at).
    """

    state: str
    seconds: int | None = None
    proven: bool = True
    waits_for: tuple[str, ...] = ()


class QueueEntry(View):
    """A gang that waits. `since` in seconds since the epoch; `reason` is "" where there is none."""

    position: int
    namespace: str
    name: str
    priority: int
    gpus: int
    pods: int
    since: float
    waited_seconds: int
    reason: str
    message: str
    unblock: tuple[str, ...]
    start: StartView


class QueueView(View):
    """All that wait, in the order of planning."""

    version: int
    now: float
    gangs: tuple[QueueEntry, ...]


def queue_view(
    moment: ClusterMoment, starts: Mapping[GangKey, Start], looked_at: int, plan: Plan | None = None
) -> QueueView:
    """The queue of `moment`, with the `starts` that are known of the first `looked_at` gangs.

    Where no scheduler has said why a gang waits, `plan` does.
    """
    snapshot = moment.snapshot
    entries = []
    for position, gang in enumerate(sorted(snapshot.gangs, key=gang_order), 1):
        told = queue_entry(gang, moment.pods)
        since = told.pop("since")
        start = starts.get(gang.key)
        if start is not None:
            start = start_as_told(start, told_of(gang, moment.pods))
        if plan is not None and told["message"] == NOT_SEEN:
            told |= _planned(moment, plan, gang.key)
        entries.append(
            QueueEntry(
                position=position,
                since=since,
                waited_seconds=max(0, round(snapshot.now - since)),
                start=_start(start, snapshot.now, position <= looked_at),
                **told,
            )
        )
    return QueueView(version=moment.version, now=snapshot.now, gangs=tuple(entries))


def _planned(moment: ClusterMoment, plan: Plan, key: GangKey) -> dict[str, Any]:
    """What `plan` says of a gang."""
    for waiting in plan.waiting:
        if waiting.gang == key:
            said = reason_document(waiting.reason)
            return {name: said[name] for name in ("reason", "message", "unblock")}
    fabric = moment.snapshot.fabric
    for placement in plan.placements:
        if placement.gang == key:
            leaves = sorted({fabric.leaf_of[node] for _, node in placement.pods})
            names = ", ".join(fabric.leaves[leaf].name for leaf in leaves)
            return {"message": f"planned now, it goes to {names}"}
    return {}


def _start(start: Start | None, now: float, looked_for: bool) -> StartView:
    if start is None:
        return StartView(state="searching" if looked_for else "later")
    if start.at is not None:
        seconds = max(0, round(start.at - now))
        return StartView(state="expected", seconds=seconds, proven=start.proven)
    if start.hold is not None:
        return StartView(state="held")
    if start.waits_for:
        waits = tuple(map(str, start.waits_for))
        return StartView(state="waits", waits_for=waits, proven=start.proven)
    return StartView(state="unknown", proven=start.proven)
