"""Waits end when they are due, whatever came before them."""

from __future__ import annotations

import asyncio

import pytest

from fourleaf.k8s_bridge.informers.watchdog import Watchdog
from tests.twins.virtual_clock import VirtualClock


@pytest.mark.parametrize("idle", [0, 3, 9.5, 10, 10.5, 47])
async def test_a_wait_is_due_by_its_own_beginning(idle: float) -> None:
    """After any time without a wait, a wait of at most 10 s ends 10 s after it began."""
    clock = VirtualClock()

    async def story() -> float:
        async with Watchdog(clock, 10) as watchdog:
            await watchdog.wait(asyncio.sleep(0))
            await clock.sleep(idle)
            with pytest.raises(TimeoutError):
                await watchdog.wait(asyncio.Event().wait())
        return clock.monotonic()

    assert await clock.run(story(), within=100) == idle + 10


async def test_one_watchdog_ends_several_waits() -> None:
    """Two waits in a row end at 10 and at 20 s; a short one between costs what it takes."""
    clock, ended = VirtualClock(), []

    async def story() -> None:
        async with Watchdog(clock, 10) as watchdog:
            for seconds in (99, 4, 99):
                try:
                    await watchdog.wait(clock.sleep(seconds))
                except TimeoutError:
                    ended.append(clock.monotonic())

    await clock.run(story(), within=100)
    assert ended == [10, 24]


async def test_a_cancellation_from_outside_stays_one() -> None:
    """Who cancels the waiting task sees it cancelled, not timed out, and no task is left."""
    clock = VirtualClock()
    before = asyncio.all_tasks()

    async def wait() -> None:
        async with Watchdog(clock, 10) as watchdog:
            await watchdog.wait(asyncio.Event().wait())

    task = asyncio.create_task(wait())
    await clock.advance(5)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert asyncio.all_tasks() == before
