"""The clocks of one machine against true time."""

from __future__ import annotations

import asyncio

from tests.simulation.clocks import MachineClock
from tests.twins.virtual_clock import START_SECONDS, VirtualClock


async def _woken(true: VirtualClock, machine: MachineClock, seconds: float) -> list[float]:
    """The true times at which a sleeper wakes; it is asleep when this returns."""
    times: list[float] = []

    async def sleep() -> None:
        await machine.sleep(seconds)
        times.append(round(true.monotonic(), 3))

    task = asyncio.create_task(sleep())
    await true.advance(0)
    task.add_done_callback(lambda done: done.result())
    return times


async def test_a_fast_clock_wakes_early() -> None:
    """13 s of a clock that runs 1.3 times as fast are 10 true ones; its wall clock may differ."""
    true = VirtualClock()
    machine = MachineClock(true, 1.3)
    times = await _woken(true, machine, 13)
    await true.advance(20)
    assert times == [10]
    assert round(machine.monotonic(), 3) == 26
    machine.jump = 3600
    assert machine.wall() == START_SECONDS + 3620


async def test_a_pause_delays_who_sleeps() -> None:
    """Paused from 1 s to 8 s, a sleep of 5 s ends at 8 s, and 8 s have passed on its clock."""
    true = VirtualClock()
    machine = MachineClock(true)
    times = await _woken(true, machine, 5)
    await true.advance(1)
    machine.pause()
    await true.advance(7)
    assert not times
    machine.resume()
    await true.advance(0)
    assert times == [8]
    assert machine.monotonic() == 8


async def test_a_suspended_machine_does_not_know() -> None:
    """Suspended from 1 s to 8 s, a sleep of 5 s ends at 12 s, when its clock says 5."""
    true = VirtualClock()
    machine = MachineClock(true)
    times = await _woken(true, machine, 5)
    await true.advance(1)
    machine.pause(suspended=True)
    await true.advance(7)
    assert machine.monotonic() == 1
    machine.resume()
    await true.advance(10)
    assert times == [12]
