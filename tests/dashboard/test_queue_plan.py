"""One plan for all who want it."""

from __future__ import annotations

import asyncio

import pytest

from fourleaf.dashboard.queue_plan import QueuePlans
from fourleaf.dashboard.solver_pool import BusyError, SolverPool
from fourleaf.model.fabric import Leaf
from fourleaf.model.plan import Plan, PlanStatus
from fourleaf.model.snapshot import Snapshot
from tests.dashboard.made import moment, node

LEAVES = [Leaf("l0", "s0", (node("a"),))]


class Counting(SolverPool):
    """Counts the questions, and answers or fails when it is told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.trouble: Exception | None = None
        self.answer = asyncio.Event()

    async def plan(self, snapshot: Snapshot) -> Plan:
        """A plan of nothing."""
        self.asked += 1
        await self.answer.wait()
        if self.trouble is not None:
            raise self.trouble
        return Plan(PlanStatus.OPTIMAL, (), ())


async def test_two_pages_at_once_are_one_question() -> None:
    """Both get the same plan, and so does a third one after them; a change is asked anew."""
    pool = Counting()
    plans, first = QueuePlans(pool), moment(LEAVES, version=1)
    both = [asyncio.create_task(plans.plan(first)) for _ in range(2)]
    await asyncio.sleep(0)
    assert plans.known(first) is None
    pool.answer.set()
    one, other = await asyncio.gather(*both)
    assert one is other is await plans.plan(first) is plans.known(first)
    assert pool.asked == 1
    second = moment(LEAVES, version=2)
    assert plans.known(second) is None
    await plans.plan(second)
    assert pool.asked == 2


async def test_who_goes_away_takes_nothing_from_the_others() -> None:
    """The first of two pages is closed before the answer."""
    pool = Counting()
    plans, look = QueuePlans(pool), moment(LEAVES)
    gone, stays = (asyncio.create_task(plans.plan(look)) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    pool.answer.set()
    assert (await stays).status is PlanStatus.OPTIMAL
    assert pool.asked == 1


async def test_a_failure_is_not_kept() -> None:
    """All who waited hear of it; whoever comes next asks again."""
    pool = Counting()
    pool.trouble = BusyError("8 questions wait already")
    pool.answer.set()
    plans, look = QueuePlans(pool), moment(LEAVES)
    for _ in range(2):
        with pytest.raises(BusyError):
            await plans.plan(look)
    assert plans.known(look) is None
    pool.trouble = None
    await plans.plan(look)
    assert pool.asked == 3


async def test_closing_ends_what_is_under_way() -> None:
    """Nobody waits for the solver when the dashboard stops."""
    plans = QueuePlans(Counting())
    waits = asyncio.create_task(plans.plan(moment(LEAVES)))
    await asyncio.sleep(0)
    await plans.close()
    with pytest.raises(asyncio.CancelledError):
        await waits
