"""What pages ask for, where something fails behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from fourleaf.dashboard import service as boards
from fourleaf.dashboard.cycles import SchedulerCycles
from fourleaf.dashboard.past.cluster_past import ClusterPast
from fourleaf.dashboard.service import DashboardService
from fourleaf.dashboard.sources.snapshot_files import FileSource
from tests.dashboard.test_queue_plan import Counting
from tests.dashboard.test_start_times import Searching
from tests.twins.virtual_clock import VirtualClock


class Stage:
    """A board of the examples, whose solver does as it is told."""

    def __init__(self, source: FileSource) -> None:
        self.pool = Counting()
        self.pool.answer.set()
        self.told = 0
        self.start_times = Searching()
        cycles = SchedulerCycles((), VirtualClock())
        past = ClusterPast(source, VirtualClock())
        told = self._hear
        self.service = DashboardService(source, self.pool, self.start_times, cycles, past, told)

    def _hear(self) -> None:
        self.told += 1

    async def heard(self, times: int) -> None:
        """Wait until pages were told so often."""
        while self.told < times:
            await asyncio.sleep(0.001)


@pytest.fixture
async def stage(examples: FileSource, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """Where a plan failed, the next one may be made at once."""
    monkeypatch.setattr(boards, "PLAN_RETRY_SECONDS", 0.0)
    made = Stage(examples)
    yield made
    await made.service.close()
    await made.start_times.close()


async def test_a_queue_that_cannot_be_planned_is_planned_later(stage: Stage) -> None:
    """The page shows the gangs all the same, is told to look again, and the next plan counts."""
    stage.pool.trouble = OSError("no process could be started")
    assert len(stage.service.queue().gangs) > 0
    await stage.heard(1)
    stage.pool.trouble = None
    stage.service.queue()
    await stage.heard(2)
    stage.service.queue()
    assert stage.pool.asked == 2


async def test_two_looks_at_a_queue_are_one_plan(stage: Stage) -> None:
    """The second one comes while the first is still planned."""
    stage.pool.answer.clear()
    stage.service.queue()
    await asyncio.sleep(0)
    stage.service.queue()
    stage.pool.answer.set()
    await stage.heard(1)
    assert stage.pool.asked == 1
