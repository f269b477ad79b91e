"""Everything that pages and the API ask for, in one place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import structlog

from fourleaf.dashboard.cycles import CyclesView, SchedulerCycles
from fourleaf.dashboard.past.cluster_past import ClusterPast
from fourleaf.dashboard.previews import DefragQuestion, DrainQuestion, defrag_preview, drain_preview
from fourleaf.dashboard.queue_plan import QueuePlans
from fourleaf.dashboard.solver_pool import SolverPool
from fourleaf.dashboard.sources.history import HistoryView
from fourleaf.dashboard.sources.source import ClusterSource
from fourleaf.dashboard.start_times import MOST_GANGS, StartTimes
from fourleaf.dashboard.views.fabric import FabricMap, FabricView
from fourleaf.dashboard.views.gang import (
    ElsewhereView,
    GangView,
    closed,
    gang_view,
    lifted,
    place_view,
    why_view,
)
from fourleaf.dashboard.views.gangs import GangsView, gangs_view
from fourleaf.dashboard.views.marks import Marks
from fourleaf.dashboard.views.moves_picture import MovesPicture
from fourleaf.dashboard.views.nearest import NearestView, nearest_view
from fourleaf.dashboard.views.node import NodeView, node_view
from fourleaf.dashboard.views.overview import OverviewView, overview_view
from fourleaf.dashboard.views.queue import QueueView, queue_view
from fourleaf.dashboard.views.trends import TrendsView, trends_view
from fourleaf.dashboard.what_if import Question, TriedView, tried
from fourleaf.model.extensions import ExtensionError, Extensions, load
from fourleaf.model.gang import GangKey

PLAN_RETRY_SECONDS = 5.0
"""Seconds after which a plan that failed may be tried again."""

_log = structlog.get_logger(__name__)


class DashboardService:
    """Answers about `source`, and nothing here changes it. `told` hears when more is known."""

    def __init__(
        self,
        source: ClusterSource,
        pool: SolverPool,
        start_times: StartTimes,
        cycles: SchedulerCycles,
        past: ClusterPast,
        told: Callable[[], None],
    ) -> None:
        self.source = source
        self._told = told
        self._planning: asyncio.Task[None] | None = None
        self._pool = pool
        self._start_times = start_times
        self._cycles = cycles
        self._past = past
        self._marks = Marks()
        self._extensions = _extensions()
        self._map = FabricMap(source.name, self._marks)
        self._fabric: FabricView | None = None
        self._plans = QueuePlans(pool)

    def overview(self) -> OverviewView:
        """What to look at first."""
        queue, heard = self.queue(), self._cycles.heard
        changes = self._past.changes
        return overview_view(self.source.moment(), self.source.live, queue, changes, heard)

    def trends(self, hours: int) -> TrendsView:
        """Figures over the last `hours`."""
        now = self.source.moment().snapshot.now
        return trends_view(now, hours, self._past, self._cycles.heard, self.source.live)

    def fabric(self) -> FabricView:
        """The map as it is now."""
        moment = self.source.moment()
        known = self._fabric
        if known is None or known.version != moment.version or known.unsynced != moment.unsynced:
            self._fabric = known = self._map.view(moment)
        return known

    def node(self, name: str) -> NodeView | None:
        """A node, None where there is none."""
        return node_view(self.source.moment(), name)

    def queue(self) -> QueueView:
        """The gangs that wait."""
        moment = self.source.moment()
        starts = self._start_times.starts(moment)
        plan = self._plans.known(moment)
        if plan is None and not self.source.live and self._planning is None:
            self._planning = asyncio.create_task(self._plan_queue())
        return queue_view(moment, starts, MOST_GANGS, plan)

    def gangs(self) -> GangsView:
        """All gangs."""
        return gangs_view(self.source.moment(), self._marks)

    def gang(self, key: GangKey) -> GangView | None:
        """A gang, None where there is none."""
        return gang_view(self.source.moment(), key, self._extensions)

    async def elsewhere(self, key: GangKey) -> ElsewhereView | None:
        """Where a gang would go if it were planned now, None where there is no such gang."""
        moment = self.source.moment()
        if any(one.key == key for one in moment.snapshot.gangs):
            snapshot, plan = moment.snapshot, await self._plans.plan(moment)
        else:
            alone = lifted(moment, key)
            if alone is None:
                return None
            fabric = moment.snapshot.fabric
            taken = (pod.node for pod in moment.snapshot.running if pod.gang == key)
            here = {fabric.leaves[fabric.leaf_of[n]].name for n in taken if n in fabric.leaf_of}
            shut = [n.name for leaf in fabric.leaves if leaf.name in here for n in leaf.nodes]
            snapshot = closed(alone[0], shut)
            plan = await self._pool.plan(snapshot)
        place = next((one for one in plan.placements if one.gang == key), None)
        waits = next((one for one in plan.waiting if one.gang == key), None)
        return ElsewhereView(
            status=plan.status.value,
            place=place_view(snapshot, place) if place else None,
            why=why_view(waits) if waits else None,
        )

    async def nearest(self, key: GangKey) -> NearestView | None:
        """What a gang that waits comes closest to, None where no such gang waits.

        Raises `BusyError`.
        """
        moment = self.source.moment()
        if all(one.key != key for one in moment.snapshot.gangs):
            return None
        plan = await self._plans.plan(moment)
        gangs = queue_view(moment, self._start_times.starts(moment), MOST_GANGS, plan).gangs
        entry = next(one for one in gangs if (one.namespace, one.name) == (key.namespace, key.name))
        return nearest_view(moment, entry, plan)

    async def history(self, key: GangKey) -> HistoryView | None:
        """What is recorded of a gang, None where there is none."""
        snapshot = self.source.moment().snapshot
        pods = [pod.name for pod in snapshot.running if pod.gang == key]
        for gang in snapshot.gangs:
            if gang.key == key:
                pods += [name for role in gang.roles for name in role.pods]
        if not pods:
            return None
        return await self.source.history(key, pods)

    async def cycles(self) -> CyclesView:
        """The newest cycles of the scheduler."""
        return await self._cycles.look()

    async def tried(self, question: Question) -> tuple[TriedView, MovesPicture | None]:
        """What would be, if, with a picture of it. Raises `BadInput` and `BusyError`."""
        moment = self.source.moment()
        return await tried(self.source, moment, self._pool, question, self._extensions)

    async def drain(self, question: DrainQuestion) -> tuple[dict[str, Any], MovesPicture | None]:
        """What would come of a drain, with a picture of it. Raises `BadInput` and `BusyError`."""
        return await drain_preview(self.source, self.source.moment(), self._pool, question)

    async def defrag(self, question: DefragQuestion) -> tuple[dict[str, Any], MovesPicture | None]:
        """What would come of a defragmentation, with a picture of it. Raises `BusyError`."""
        return await defrag_preview(self.source.moment(), self._pool, question)

    async def _plan_queue(self) -> None:
        """Let the solver say why gangs wait that no scheduler looks at."""
        try:
            await self._plans.plan(self.source.moment())
        except Exception:  # noqa: BLE001 - whatever it is, a later look may do better
            _log.exception("queue_not_planned")
            await asyncio.sleep(PLAN_RETRY_SECONDS)
            self._planning = None
        self._told()

    async def close(self) -> None:
        """End what is under way."""
        if self._planning is not None:
            self._planning.cancel()
            await asyncio.wait({self._planning})
        await self._plans.close()


def _extensions() -> Extensions:
    try:
        return load()
    except ExtensionError as error:
        _log.error("extensions_unusable", why=str(error))
        return Extensions()
