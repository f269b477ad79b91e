"""All gangs, those that run and those that wait, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fourleaf.dashboard.past.bound_at import bound_at, made_at
from fourleaf.dashboard.sources.source import Body, ClusterMoment
from fourleaf.dashboard.view import View
from fourleaf.dashboard.views.marks import Marks, letters, style
from fourleaf.model.gang import GangKey
from fourleaf.model.snapshot import RunningPod


class GangLine(View):
    """One gang. `running` and `waiting` count its pods; `leaves` are those it stands on.

    `waited_seconds` until it was bound; `ends`, its expected end, in seconds since the epoch: each
    None where that is not known, or not yet.
    """

    namespace: str
    name: str
    priority: int
    running: int
    waiting: int
    gpus: int
    leaves: tuple[str, ...]
    letters: str
    style: str
    waited_seconds: int | None = None
    ends: float | None = None


class GangsView(View):
    """All gangs of ours by namespace and name."""

    version: int
    gangs: tuple[GangLine, ...]


def gangs_view(moment: ClusterMoment, marks: Marks) -> GangsView:
    """Every gang of `moment`; `marks` are those of the map."""
    snapshot = moment.snapshot
    fabric = snapshot.fabric
    running: Counter[GangKey] = Counter()
    gpus: Counter[GangKey] = Counter()
    priority: dict[GangKey, int] = {}
    where: dict[GangKey, set[int]] = {}
    for pod in snapshot.running:
        if pod.ours and pod.gang is not None:
            running[pod.gang] += 1
            gpus[pod.gang] += pod.request.gpus
            priority[pod.gang] = max(pod.priority, priority.get(pod.gang, pod.priority))
            if pod.node in fabric.leaf_of:
                where.setdefault(pod.gang, set()).add(fabric.leaf_of[pod.node])
    ends = _ends(snapshot.running)
    waited = _waited(moment)
    waiting: Counter[GangKey] = Counter()
    for gang in snapshot.gangs:
        waiting[gang.key] = sum(len(role.pods) for role in gang.roles)
        gpus[gang.key] = gang.gpus
        priority[gang.key] = gang.priority
        waited.pop(gang.key, None)
    marks.keep(sorted(running, key=lambda key: _first(where.get(key, set()), key)))
    lines = [
        GangLine(
            namespace=key.namespace,
            name=key.name,
            priority=priority[key],
            running=running[key],
            waiting=waiting[key],
            gpus=gpus[key],
            leaves=tuple(fabric.leaves[leaf].name for leaf in sorted(where.get(key, ()))),
            letters=letters(marks.of(key)) if key in running else "",
            style=style(marks.of(key)) if key in running else "",
            waited_seconds=_seconds(waited.get(key)),
            ends=ends.get(key),
        )
        for key in sorted(running.keys() | waiting.keys())
    ]
    return GangsView(version=moment.version, gangs=tuple(lines))


def _seconds(amount: float | None) -> int | None:
    return None if amount is None else max(0, round(amount))


def _ends(running: Iterable[RunningPod]) -> dict[GangKey, float]:
    """When gangs end of which every pod says so."""
    found: dict[GangKey, float] = {}
    unknown = set()
    for pod in running:
        if pod.gang is not None and pod.ours:
            if pod.ends is None:
                unknown.add(pod.gang)
            else:
                found[pod.gang] = max(pod.ends, found.get(pod.gang, pod.ends))
    return {key: at for key, at in found.items() if key not in unknown}


def _waited(moment: ClusterMoment) -> dict[GangKey, float]:
    """How long gangs that run had waited, from their first pod made until the last one bound."""
    pods: dict[GangKey, list[Body | None]] = {}
    for pod in moment.snapshot.running:
        if pod.gang is not None and pod.ours:
            pods.setdefault(pod.gang, []).append(moment.pods.get((pod.namespace, pod.name)))
    found = {}
    for key, bodies in pods.items():
        bound, made = bound_at(bodies), made_at(bodies)
        if bound is not None and made is not None:
            found[key] = bound - made
    return found


def _first(leaves: set[int], key: GangKey) -> tuple[int, GangKey]:
    return min(leaves, default=-1), key
