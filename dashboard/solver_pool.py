"""The solver process, for pages: one question at a time, and only so many at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeVar

from fourleaf.k8s_bridge.scheduling.async_solver import AsyncSolver
from fourleaf.model.plan import Plan
from fourleaf.model.relocation import Budget, DefragPlan, RepairPlan
from fourleaf.model.snapshot import Snapshot

MOST_QUESTIONS = 8
"""Questions that may wait for their turn, the one that is answered included."""
QUESTION_SECONDS = 10.0
"""The most that one question may take of the solver, whatever the config allows."""

T = TypeVar("T")


class BusyError(Exception):
    """Too many questions wait already."""


class SolverPool:
    """Answers in a killable process, which starts with the first question."""

    def __init__(self, solver: AsyncSolver | None = None) -> None:
        self._solver = solver or AsyncSolver()
        self._lock = asyncio.Lock()
        self._waiting = 0

    async def close(self) -> None:
        """End the process."""
        await self._solver.__aexit__(None, None, None)

    async def plan(self, snapshot: Snapshot) -> Plan:
        """The plan for what waits in `snapshot`. Raises `BusyError`."""
        async with self._turn():
            return await self._solver.plan(bounded(snapshot))

    async def repair(self, snapshot: Snapshot) -> RepairPlan:
        """How the gangs that would lose members live on. Raises `BusyError`."""
        async with self._turn():
            return await self._solver.repair(bounded(snapshot))

    async def defragment(self, snapshot: Snapshot, moves: int) -> DefragPlan:
        """What at most `moves` moves win. Raises `BusyError`."""
        async with self._turn():
            return await self._solver.defragment(bounded(snapshot), Budget(moves))

    async def read(self, work: Callable[[], T]) -> T:
        """What slow `work` comes to, done beside the event loop. Raises `BusyError`."""
        async with self._turn(loads=False):
            return await asyncio.to_thread(work)

    @asynccontextmanager
    async def _turn(self, loads: bool = True) -> AsyncIterator[None]:
        if self._waiting >= MOST_QUESTIONS:
            raise BusyError(f"{MOST_QUESTIONS} questions wait already")
        self._waiting += 1
        try:
            async with self._lock:
                if loads:
                    await self._solver.ready()
                yield
        finally:
            self._waiting -= 1


def bounded(snapshot: Snapshot, seconds: float = QUESTION_SECONDS) -> Snapshot:
    """`snapshot` with at most `seconds` for the solver."""
    solver = snapshot.config.spec.solver
    if solver.time_limit_seconds <= seconds:
        return snapshot
    spec = snapshot.config.spec.model_copy(
        update={"solver": solver.model_copy(update={"time_limit_seconds": seconds})}
    )
    return replace(snapshot, config=snapshot.config.model_copy(update={"spec": spec}))
