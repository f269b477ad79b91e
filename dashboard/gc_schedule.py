"""When garbage that refers to itself is searched for: while no page is open.

A search through all objects of a large cluster takes a fifth of a second in which no page is
answered. Python would begin one whenever there are a quarter more objects than after the last.
Searches through young objects alone take a few milliseconds, and go on as ever.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fourleaf.k8s_bridge.runtime.clock import Clock

NEVER = 2**31 - 1
"""So many searches through young objects before Python begins one through all."""
SHORTEST_PAUSE_SECONDS = 300.0
"""Seconds between two searches."""
LONGEST_PAUSE_SECONDS = 3600.0
"""Seconds after which one comes although pages are open: garbage is bounded too."""
POLL_SECONDS = 5.0
"""Seconds between two questions whether pages are open."""


@asynccontextmanager
async def collecting_while(idle: Callable[[], bool], clock: Clock) -> AsyncIterator[None]:
    """While open, search through all objects only where `idle` says that no page is open."""
    usual = gc.get_threshold()
    gc.set_threshold(usual[0], usual[1], NEVER)
    work = asyncio.create_task(_collect(idle, clock))
    try:
        yield
    finally:
        work.cancel()
        gc.set_threshold(*usual)


async def _collect(idle: Callable[[], bool], clock: Clock) -> None:
    last = clock.monotonic()
    while True:
        await clock.sleep(POLL_SECONDS)
        since = clock.monotonic() - last
        if since >= LONGEST_PAUSE_SECONDS or (since >= SHORTEST_PAUSE_SECONDS and idle()):
            gc.collect()
            last = clock.monotonic()
