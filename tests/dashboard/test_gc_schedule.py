"""When garbage is searched for."""

from __future__ import annotations

import gc

import pytest

from fourleaf.dashboard.gc_schedule import (
    LONGEST_PAUSE_SECONDS,
    NEVER,
    SHORTEST_PAUSE_SECONDS,
    collecting_while,
)
from tests.twins.virtual_clock import VirtualClock


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One entry for each search through all objects, which does not happen."""
    found: list[None] = []
    monkeypatch.setattr(gc, "collect", lambda: found.append(None))
    return found


async def test_it_waits_until_nobody_looks(searches: list[None]) -> None:
    """A page is open for twice the rest, then closed: one search, and the next after a rest."""
    clock, looks = VirtualClock(), True
    async with collecting_while(lambda: not looks, clock):
        await clock.advance(2 * SHORTEST_PAUSE_SECONDS)
        assert len(searches) == 0
        looks = False
        await clock.advance(SHORTEST_PAUSE_SECONDS - 1)
        assert len(searches) == 1
        await clock.advance(SHORTEST_PAUSE_SECONDS)
        assert len(searches) == 2


async def test_it_does_not_wait_for_ever(searches: list[None]) -> None:
    """A page that hangs on a wall is never closed."""
    clock = VirtualClock()
    async with collecting_while(lambda: False, clock):
        await clock.advance(LONGEST_PAUSE_SECONDS - 1)
        assert len(searches) == 0
        await clock.advance(LONGEST_PAUSE_SECONDS)
        assert len(searches) == 1


async def test_python_begins_none_itself_meanwhile() -> None:
    """Searches through young objects go on; afterwards all is as it was."""
    usual = gc.get_threshold()
    async with collecting_while(lambda: True, VirtualClock()):
        assert gc.get_threshold() == (*usual[:2], NEVER)
    assert gc.get_threshold() == usual
