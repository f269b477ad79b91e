"""Requests at a steady pace, whoever is late: the time of each runs from when it was due."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import aiohttp

from benchmarks.throughput.figures import percentile
from fourleaf.k8s_bridge.cluster.errors import ClusterError

Send = Callable[[int], Awaitable[None]]


@dataclass(slots=True)
class Seconds:
    """How long requests took, and what went wrong."""

    took: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def at(self, share: float) -> float:
        """Milliseconds that this share of the requests took at most."""
        return percentile(self.took, share) * 1000


async def paced(send: Send, rate: float, seconds: float) -> Seconds:
    """Start `rate` requests a second for so many seconds, and wait for all of them."""
    found = Seconds()
    start = time.perf_counter() + 0.1

    async def one(number: int) -> None:
        due = start + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        try:
            await send(number)
        except (OSError, TimeoutError, aiohttp.ClientError, ClusterError) as error:
            found.failures.append(f"{type(error).__name__}: {error}")
        else:
            found.took.append(time.perf_counter() - due)

    async with asyncio.TaskGroup() as group:
        for number in range(int(rate * seconds)):
            group.create_task(one(number))
    return found
