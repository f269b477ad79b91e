"""The first page: who waits longest, GPUs by team, what has changed, what is unwell."""

from __future__ import annotations

from collections.abc import Mapping

from fourleaf.dashboard.cycles import CyclesView
from fourleaf.dashboard.past.recent_changes import RecentChange, RecentChanges
from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.dashboard.view import View
from fourleaf.dashboard.views.queue import QueueEntry, QueueView
from fourleaf.dashboard.views.unwell import unwell_lines
from fourleaf.dashboard.views.unwell_line import UnwellLine
from fourleaf.k8s_bridge.reporting.namespace_use import NamespaceUse, namespace_use
from fourleaf.model.gang import GangKey

MOST_WAITS = 8
"""Gangs that wait that the first page lists; the queue has all."""
MOST_TEAMS = 200
"""Namespaces that are listed one by one; the others are one line."""
MOST_CHANGES_SHOWN = 200
"""Changes that are listed, the newest."""
OTHERS = "others"
"""The name of the line of namespaces that are not listed."""


class TeamLine(View):
    """GPUs of a namespace: in use by pods on nodes, and waited for. `quota` is None without one.

    `longest_wait_seconds` leaves out gangs that are held back by something of their own.
    """

    namespace: str
    used: int
    quota: int | None
    waiting_gpus: int
    waiting_gangs: int
    longest_wait_seconds: int


class OverviewView(View):
    """What to look at. `waits` are the longest ones, `waiting` how many gangs wait in all.

    `known_since`: from when on `changes` are complete, in seconds since the epoch; None where
    nothing is known. `more_changes` counts those of the hour that are left out.
    """

    version: int
    now: float
    gpus: int
    used: int
    waiting: int
    waits: tuple[QueueEntry, ...]
    teams: tuple[TeamLine, ...]
    changes: tuple[RecentChange, ...]
    more_changes: int
    known_since: float | None
    unwell: tuple[UnwellLine, ...]


def overview_view(
    moment: ClusterMoment,
    live: bool,
    queue: QueueView,
    past: RecentChanges,
    cycles: CyclesView | None,
) -> OverviewView:
    """The first page of `moment`; `cycles` are as last heard, None where no scheduler is asked."""
    snapshot = moment.snapshot
    held = {gang.key for gang in snapshot.gangs if gang.hold is not None}
    longest = sorted(
        queue.gangs,
        key=lambda one: (GangKey(one.namespace, one.name) in held, -one.waited_seconds),
    )
    changes = past.newest(snapshot.now)
    return OverviewView(
        version=moment.version,
        now=snapshot.now,
        gpus=sum(node.allocatable.gpus for node in snapshot.fabric.nodes.values()),
        used=sum(pod.request.gpus for pod in snapshot.running),
        waiting=len(queue.gangs),
        waits=tuple(longest[:MOST_WAITS]),
        teams=tuple(team_lines(namespace_use(snapshot, snapshot.now))),
        changes=changes[:MOST_CHANGES_SHOWN],
        more_changes=max(0, len(changes) - MOST_CHANGES_SHOWN),
        known_since=past.since(snapshot.now),
        unwell=unwell_lines(moment, live, queue.gangs, cycles),
    )


def team_lines(uses: Mapping[str, NamespaceUse]) -> list[TeamLine]:
    """A line for each namespace with something to tell, who waits for most first."""
    told = [
        (name, use)
        for name, use in uses.items()
        if name != "*" and (use.used_gpus or use.pending_gangs or use.quota is not None)
    ]
    told.sort(key=lambda one: (-one[1].pending_gpus, -one[1].used_gpus, one[0]))
    rest = NamespaceUse()
    for _, use in told[MOST_TEAMS:]:
        rest = rest.with_other(use)
    lines = [_team(name, use) for name, use in told[:MOST_TEAMS]]
    return lines if rest.is_idle else [*lines, _team(OTHERS, rest)]


def _team(name: str, use: NamespaceUse) -> TeamLine:
    return TeamLine(
        namespace=name,
        used=use.used_gpus,
        quota=use.quota,
        waiting_gpus=use.pending_gpus,
        waiting_gangs=use.pending_gangs,
        longest_wait_seconds=max(0, round(use.longest_wait)),
    )
