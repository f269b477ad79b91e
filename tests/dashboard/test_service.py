"""What pages ask for, where something fails behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from fourleaf.dashboard import service as boards
from fourleaf.dashboard.cycles import SchedulerCycles
from fourleaf.dashboard.service import Board
from fourleaf.dashboard.world.files import FileWorld
from tests.dashboard.test_queue_plan import Counting
from tests.dashboard.test_start_times import Searching
from tests.twins.virtual_clock import VirtualClock


class Stage:
    """A board of the examples, whose solver does as it is told."""

    def __init__(self, world: FileWorld) -> None:
        self.asker = Counting()
        self.asker.answer.set()
        self.told = 0
        self.expecting = Searching()
        cycles = SchedulerCycles((), VirtualClock())
        self.board = Board(world, self.asker, self.expecting, cycles, self._hear)

    def _hear(self) -> None:
        self.told += 1

    async def heard(self, times: int) -> None:
        """Wait until pages were told so often."""
        while self.told < times:
            await asyncio.sleep(0.001)


@pytest.fixture
async def stage(examples: FileWorld, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """Where a plan failed, the next one may be made at once."""
    monkeypatch.setattr(boards, "PLAN_RETRY_SECONDS", 0.0)
    made = Stage(examples)
    yield made
    await made.board.close()
    await made.expecting.close()


async def test_a_queue_that_cannot_be_planned_is_planned_later(stage: Stage) -> None:
    """The page shows the gangs all the same, is told to look again, and the next plan counts."""
    stage.asker.trouble = OSError("no process could be started")
    assert len(stage.board.queue().gangs) > 0
    await stage.heard(1)
    stage.asker.trouble = None
    stage.board.queue()
    await stage.heard(2)
    stage.board.queue()
    assert stage.asker.asked == 2


async def test_two_looks_at_a_queue_are_one_plan(stage: Stage) -> None:
    """The second one comes while the first is still planned."""
    stage.asker.answer.clear()
    stage.board.queue()
    await asyncio.sleep(0)
    stage.board.queue()
    stage.asker.answer.set()
    await stage.heard(1)
    assert stage.asker.asked == 1
