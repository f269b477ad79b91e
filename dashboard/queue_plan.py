"""The plan of all that wait, which several pages may want at once."""

from __future__ import annotations

import asyncio

from fourleaf.dashboard.solver_pool import SolverPool
from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.model.plan import Plan


class QueuePlans:
    """Plans each version of the cluster once; requests meanwhile wait for the same answer."""

    def __init__(self, pool: SolverPool) -> None:
        self._pool = pool
        self._version = 0
        self._task: asyncio.Task[Plan] | None = None

    def known(self, moment: ClusterMoment) -> Plan | None:
        """The plan of `moment`, None where it was not made yet."""
        task = self._of(moment)
        return task.result() if task is not None and task.done() else None

    async def plan(self, moment: ClusterMoment) -> Plan:
        """The plan of `moment`. Raises `BusyError`; after a failure, the next one asks anew."""
        task = self._of(moment)
        if task is None:
            task = self._task = asyncio.create_task(self._pool.plan(moment.snapshot))
            task.add_done_callback(_heard)
            self._version = moment.version
        # A caller that goes away does not take the answer from the others.
        return await asyncio.shield(task)

    async def close(self) -> None:
        """End what is under way."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def _of(self, moment: ClusterMoment) -> asyncio.Task[Plan] | None:
        """The task for this version, unless it has failed."""
        task = self._task
        if task is None or self._version != moment.version:
            return None
        failed = task.done() and (task.cancelled() or task.exception() is not None)
        return None if failed else task


def _heard(task: asyncio.Task[Plan]) -> None:
    """Log a failure that is not waited for any more."""
    if not task.cancelled():
        task.exception()
