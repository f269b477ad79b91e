"""How many turns of reading others get the event loop between."""

from __future__ import annotations

import asyncio

import pytest

from fourleaf.k8s_bridge.cache.catch_up import (
    MOST_TURNS_FOR_BOUND,
    MOST_TURNS_TO_READ,
    catch_up,
)
from tests.twins.virtual_clock import VirtualClock


class Hasty(VirtualClock):
    """Waits for nothing but for others to have their turn."""

    async def sleep(self, seconds: float) -> None:
        """Give others their turn."""
        await asyncio.sleep(0)


class Cache:
    """Has so much to take in for so many turns; `turns` counts those that it was asked for."""

    def __init__(self, bound: int, others: int, more: int = 0) -> None:
        self.turns = 0
        self._more = more
        self._bound, self._all = bound, bound + others

    @property
    def bound_left(self) -> range:
        """Pods on nodes that are left: one is read in each turn, and `more` come in each."""
        return range(1 + self.turns, 1 + self._bound + self._more * (self.turns - 1))

    def take_in(self) -> bool:
        """Take in some; whether there is more."""
        self.turns += 1
        return self.turns < self._all


@pytest.mark.parametrize(
    ("bound", "others", "turns"),
    [
        (1, 0, 1),
        (3, 4, 7),
        (0, 50, MOST_TURNS_TO_READ),
        (50, 50, 50),
        (10_000, 0, MOST_TURNS_FOR_BOUND),
    ],
)
async def test_pods_on_nodes_are_all_taken_in_before_a_reading(
    bound: int, others: int, turns: int
) -> None:
    """Others are left after ten turns, and those that hold room are not: a reading has them all."""
    cache = Cache(bound, others)
    await catch_up(cache, Hasty())
    assert cache.turns == turns


async def test_pods_that_change_meanwhile_are_not_waited_for() -> None:
    """Two pods on nodes change in each turn: those that were left at first are read alone."""
    cache = Cache(50, 10_000, more=2)
    await catch_up(cache, Hasty())
    assert cache.turns == 50
