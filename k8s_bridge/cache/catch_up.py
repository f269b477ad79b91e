"""Taking in what has changed by turns, before a reading has all of it at once."""

from __future__ import annotations

from typing import Protocol

from fourleaf.k8s_bridge.runtime.clock import Clock

MOST_TURNS_TO_READ = 10
"""Turns in which a thousand pods each are read; what waits and is left then is planned later."""
MOST_TURNS_FOR_BOUND = 400
"""The same where pods on nodes are left, of which a reading leaves none: some 40 seconds at most.

Other schedulers bind pods of thousands of amounts, of which a turn reads seven.
"""
READING_PAUSE_SECONDS = 0.02
"""Between two turns, for all else that uses the event loop."""


class TakesIn(Protocol):
    """What is read by turns."""

    @property
    def bound_left(self) -> range:
        """Numbers of the pods on nodes that are left: they are read in this order."""

    def take_in(self) -> bool:
        """Read some; whether there is more."""


async def catch_up(cache: TakesIn, clock: Clock) -> None:
    """Read what has changed, and let others have the event loop where that is much.

    Pods on nodes that change meanwhile are not waited for: a tenant may write all the time.
    """
    last = 0
    for turn in range(MOST_TURNS_FOR_BOUND):
        if not cache.take_in():
            break
        left = cache.bound_left
        if turn == 0:
            last = left.stop - 1
        if turn >= MOST_TURNS_TO_READ - 1 and not (left and left.start <= last):
            break
        await clock.sleep(READING_PAUSE_SECONDS)
