"""All gangs, those that run and those that wait, by name."""

from __future__ import annotations

from collections import Counter

from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.dashboard.view import View
from fourleaf.dashboard.views.marks import Marks, letters, style
from fourleaf.model.gang import GangKey


class GangLine(View):
    """One gang. `running` and `waiting` count its pods; `leaves` are those it stands on."""

    namespace: str
    name: str
    priority: int
    running: int
    waiting: int
    gpus: int
    leaves: tuple[str, ...]
    letters: str
    style: str


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
    waiting: Counter[GangKey] = Counter()
    for gang in snapshot.gangs:
        waiting[gang.key] = sum(len(role.pods) for role in gang.roles)
        gpus[gang.key] = gang.gpus
        priority[gang.key] = gang.priority
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
        )
        for key in sorted(running.keys() | waiting.keys())
    ]
    return GangsView(version=moment.version, gangs=tuple(lines))


def _first(leaves: set[int], key: GangKey) -> tuple[int, GangKey]:
    return min(leaves, default=-1), key
