"""Virtual time passes in order, and only when nothing is left to do."""

from __future__ import annotations

import asyncio

import pytest

from tests.twins.virtual_clock import VirtualClock


async def test_advance_wakes_in_order_and_no_further() -> None:
    """Sleepers wake by due time, equal ones in the order they came, later ones not at all."""
    clock, woken = VirtualClock(), []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic()))

    tasks = [
        asyncio.create_task(sleeper(name, seconds))
        for name, seconds in (("late", 5), ("a", 2), ("b", 2), ("first", 1))
    ]
    await clock.advance(4)
    assert woken == [("first", 1), ("a", 2), ("b", 2)]
    assert clock.monotonic() == 4
    await clock.advance(1)
    assert woken[3:] == [("late", 5)]
    await asyncio.wait(tasks)


async def test_long_chains_of_work_take_no_time() -> None:
    """A thousand turns of the loop after a wakeup are done before the next second comes."""
    clock, seen = VirtualClock(), []

    async def busy() -> None:
        await clock.sleep(1)
        for _ in range(1000):
            await asyncio.sleep(0)
        seen.append(clock.monotonic())

    async def ticking() -> None:
        for _ in range(3):
            await clock.sleep(1)

    await asyncio.gather(asyncio.create_task(clock.run(busy())))
    assert seen == [1]
    busy_one, ticks = asyncio.create_task(busy()), asyncio.create_task(ticking())
    await clock.advance(3)
    assert seen == [1, 2]
    await asyncio.wait({busy_one, ticks})


async def test_run_jumps_over_hours_and_wall_time_goes_along() -> None:
    """A task that sleeps for a day returns a day later, by both clocks."""
    clock = VirtualClock(wall=1000)

    async def day() -> str:
        await clock.sleep(86_400)
        return "morning"

    assert await clock.run(day()) == "morning"
    assert (clock.monotonic(), clock.wall()) == (86_400, 87_400)


async def test_run_tells_a_deadlock_from_a_wait() -> None:
    """Where all wait and none sleeps, the run fails instead of hanging."""
    clock = VirtualClock()
    with pytest.raises(RuntimeError, match="all tasks wait and none sleeps"):
        await clock.run(asyncio.Event().wait())


async def test_run_ends_what_takes_too_long() -> None:
    """Work of 11 s is cancelled when it would pass 10 s; work of 10 s is not."""
    clock = VirtualClock()
    with pytest.raises(TimeoutError, match="not done within 10 s"):
        await clock.run(clock.sleep(11), within=10)
    await clock.run(clock.sleep(10), within=10)
    assert clock.monotonic() == 10


async def test_no_time_passes_while_the_clock_is_held() -> None:
    """A thread's real work takes no virtual second, though another task sleeps."""
    clock = VirtualClock()

    async def work() -> float:
        other = asyncio.create_task(clock.sleep(10))
        with clock.held():
            await asyncio.to_thread(sum, range(100_000))
            during = clock.monotonic()
        await other
        return during

    assert await clock.run(work()) == 0
    assert clock.monotonic() == 10


async def test_two_drivers_are_refused() -> None:
    """A second advance during the first would see the first one as work for ever."""
    clock = VirtualClock()

    async def nested() -> None:
        await clock.advance(1)

    with pytest.raises(RuntimeError, match="driven already"):
        await clock.run(nested())


async def test_a_cancelled_sleep_wakes_nobody() -> None:
    """Time does not stop at a moment for which nobody waits any more."""
    clock = VirtualClock()

    async def work() -> None:
        asleep = asyncio.create_task(clock.sleep(5))
        await asyncio.sleep(0)
        asleep.cancel()
        await clock.sleep(7)

    await clock.run(work())
    assert clock.monotonic() == 7
