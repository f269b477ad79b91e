"""The solver process, for an event loop that must not wait for it."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.relocation import Budget, DefragPlan, PreemptionPlan, RepairPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.start import Start
from fourleaf.solver.forecast.ask import ask_start
from fourleaf.solver.process.client import SolverClient


class AsyncSolver:
    """Plans in the solver process, from a thread of its own. An async context manager."""

    def __init__(self, client: SolverClient | None = None) -> None:
        self._client = client or SolverClient()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="solver")

    async def __aenter__(self) -> AsyncSolver:
        self._client.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._client.close)
        self._thread.shutdown(wait=True)

    async def ready(self) -> None:
        """Wait until the process has loaded."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._client.wait_until_ready)

    async def plan(self, snapshot: Snapshot) -> Plan:
        """The plan for `snapshot`; see `SolverClient.plan`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._client.plan, snapshot)

    async def repair(self, snapshot: Snapshot) -> RepairPlan:
        """How the gangs that lost members live on; see `SolverClient.repair`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._client.repair, snapshot)

    async def preempt(self, snapshot: Snapshot, gang: GangKey) -> PreemptionPlan:
        """The victims to evict for a waiting gang; see `SolverClient.preempt`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._client.preempt, snapshot, gang)

    async def defragment(self, snapshot: Snapshot, budget: Budget) -> DefragPlan:
        """Moves that make room; see `SolverClient.defragment`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._client.defragment, snapshot, budget)

    async def earliest(self, snapshot: Snapshot, gang: GangKey) -> Start:
        """When and where a waiting gang could start; see `ask_start`."""
        (waiting,) = (one for one in snapshot.gangs if one.key == gang)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, ask_start, self._client, snapshot, waiting)


class Planner(Protocol):
    """Solves for gangs that stand; `snapshot.standing` are those that may be moved or evicted."""

    async def repair(self, snapshot: Snapshot) -> RepairPlan:
        """How the gangs that lost members live on, with the fewest moves."""

    async def preempt(self, snapshot: Snapshot, gang: GangKey) -> PreemptionPlan:
        """The fewest victims that let a waiting gang start."""

    async def defragment(self, snapshot: Snapshot, budget: Budget) -> DefragPlan:
        """Moves within the budget that let waiting gangs start, or make room for likely ones."""

    async def earliest(self, snapshot: Snapshot, gang: GangKey) -> Start:
        """When and where a waiting gang could start, if no further gang came."""
