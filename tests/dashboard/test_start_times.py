"""The search for starts, and what becomes of it where it fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest

from fourleaf.dashboard.start_times import SEARCH_PAUSE_SECONDS, Expecting
from fourleaf.model.extensions import ExtensionError
from fourleaf.model.fabric import Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.start import Start
from tests.dashboard.made import node, sight
from tests.twins.virtual_clock import VirtualClock

KEY = GangKey("ml", "g")
LEAVES = [Leaf("l0", "s0", (node("a"),))]
GANGS = [Gang(KEY, (Role(("g-0",), Resources(gpus=8)),))]


class Searching(Expecting):
    """Finds what it is told to, without a solver; `heard` counts what pages are told."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.heard = 0
        self.searches = 0
        self.finds: Mapping[GangKey, Start] | Exception = {KEY: Start(KEY, at=1000.0)}
        super().__init__(self.clock, self._hear)

    def _hear(self) -> None:
        self.heard += 1

    def _asked(self, snapshot: Snapshot) -> Mapping[GangKey, Start]:
        self.searches += 1
        if isinstance(self.finds, Exception):
            raise self.finds
        return self.finds

    async def done(self) -> None:
        """Wait until the search has ended."""
        while self.searching:
            await asyncio.sleep(0.001)


@pytest.fixture
async def expecting() -> AsyncIterator[Searching]:
    """A search that has rested."""
    made = Searching()
    yield made
    await made.close()


async def test_what_was_found_is_kept_for_a_version(expecting: Searching) -> None:
    """One look begins a search, pages hear of its end, and the next look has the answer."""
    look = sight(LEAVES, gangs=GANGS)
    assert expecting.starts(look) == {}
    await expecting.done()
    assert expecting.starts(look) == {KEY: Start(KEY, at=1000.0)}
    assert (expecting.heard, expecting.searches) == (1, 1)


@pytest.mark.parametrize(
    "trouble",
    [RuntimeError("the solver client is closed"), ExtensionError("term luck"), KeyError("gpu-7")],
)
async def test_a_search_that_fails_keeps_what_was_known(
    expecting: Searching, trouble: Exception
) -> None:
    """Pages are told, and the next look at it searches again once it has rested."""
    expecting.starts(sight(LEAVES, gangs=GANGS))
    await expecting.done()
    known = expecting.starts(sight(LEAVES, gangs=GANGS))
    await expecting.clock.advance(SEARCH_PAUSE_SECONDS)
    expecting.finds = trouble
    second = sight(LEAVES, gangs=GANGS, version=2)
    expecting.starts(second)
    await expecting.done()
    assert expecting.starts(second) == known
    assert (expecting.heard, expecting.searches) == (2, 2)
    await expecting.clock.advance(SEARCH_PAUSE_SECONDS)
    expecting.finds = {}
    expecting.starts(second)
    await expecting.done()
    assert expecting.starts(second) == {}
    assert expecting.searches == 3


async def test_what_stays_open_is_searched_for_ever_less_often(expecting: Searching) -> None:
    """Rests of 10, 20, 40 s between searches of one version; a new one waits 10 s again."""
    expecting.finds = {KEY: Start(KEY, proven=False)}
    first, second = (sight(LEAVES, gangs=GANGS, version=version) for version in (1, 2))
    for searches, rest in enumerate(
        (SEARCH_PAUSE_SECONDS, 2 * SEARCH_PAUSE_SECONDS, 4 * SEARCH_PAUSE_SECONDS), 1
    ):
        expecting.starts(first)
        await expecting.done()
        assert expecting.searches == searches
        await expecting.clock.advance(rest - 1)
        expecting.starts(first)
        assert not expecting.searching
        await expecting.clock.advance(1)
    expecting.starts(second)
    await expecting.done()
    expecting.finds = {KEY: Start(KEY, at=1000.0)}
    await expecting.clock.advance(SEARCH_PAUSE_SECONDS)
    expecting.starts(second)
    await expecting.done()
    await expecting.clock.advance(SEARCH_PAUSE_SECONDS)
    assert expecting.starts(second) == {KEY: Start(KEY, at=1000.0)}
    assert expecting.searches == 5


async def test_where_nobody_waits_nothing_is_searched(expecting: Searching) -> None:
    """What was known of gangs that have started is forgotten."""
    expecting.starts(sight(LEAVES, gangs=GANGS))
    await expecting.done()
    await expecting.clock.advance(SEARCH_PAUSE_SECONDS)
    assert expecting.starts(sight(LEAVES, version=2)) == {}
    assert expecting.searches == 1
