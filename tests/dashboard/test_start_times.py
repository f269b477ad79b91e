"""The search for starts, and what becomes of it where it fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fourleaf.dashboard import serve
from fourleaf.dashboard import start_times as searched
from fourleaf.dashboard.sources.snapshot_files import FileSource
from fourleaf.dashboard.start_times import SEARCH_PAUSE_SECONDS, StartTimes
from fourleaf.model.extensions import ExtensionError
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.readers import open_paths
from fourleaf.model.resources import Resources
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.start import Start
from fourleaf.simulator.recording.files import RecordingFiles
from fourleaf.simulator.recording.look import look_at
from tests.cli.made import EXAMPLES
from tests.dashboard.made import moment, node
from tests.twins.virtual_clock import VirtualClock

KEY = GangKey("ml", "g")
LEAVES = [Leaf("l0", "s0", (node("a"),))]
GANGS = [Gang(KEY, (Role(("g-0",), Resources(gpus=8)),))]


class Searching(StartTimes):
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
async def start_times() -> AsyncIterator[Searching]:
    """A search that has rested."""
    made = Searching()
    yield made
    await made.close()


async def test_what_was_found_is_kept_for_a_version(start_times: Searching) -> None:
    """One look begins a search, pages hear of its end, and the next look has the answer."""
    look = moment(LEAVES, gangs=GANGS)
    assert start_times.starts(look) == {}
    await start_times.done()
    assert start_times.starts(look) == {KEY: Start(KEY, at=1000.0)}
    assert (start_times.heard, start_times.searches) == (1, 1)


@pytest.mark.parametrize(
    "trouble",
    [RuntimeError("the solver client is closed"), ExtensionError("term luck"), KeyError("gpu-7")],
)
async def test_a_search_that_fails_keeps_what_was_known(
    start_times: Searching, trouble: Exception
) -> None:
    """Pages are told, and the next look at it searches again once it has rested."""
    start_times.starts(moment(LEAVES, gangs=GANGS))
    await start_times.done()
    known = start_times.starts(moment(LEAVES, gangs=GANGS))
    await start_times.clock.advance(SEARCH_PAUSE_SECONDS)
    start_times.finds = trouble
    second = moment(LEAVES, gangs=GANGS, version=2)
    start_times.starts(second)
    await start_times.done()
    assert start_times.starts(second) == known
    assert (start_times.heard, start_times.searches) == (2, 2)
    await start_times.clock.advance(SEARCH_PAUSE_SECONDS)
    start_times.finds = {}
    start_times.starts(second)
    await start_times.done()
    assert start_times.starts(second) == {}
    assert start_times.searches == 3


async def test_what_stays_open_is_searched_for_ever_less_often(start_times: Searching) -> None:
    """Rests of 10, 20, 40 s between searches of one version; a new one waits 10 s again."""
    start_times.finds = {KEY: Start(KEY, proven=False)}
    first, second = (moment(LEAVES, gangs=GANGS, version=version) for version in (1, 2))
    for searches, rest in enumerate(
        (SEARCH_PAUSE_SECONDS, 2 * SEARCH_PAUSE_SECONDS, 4 * SEARCH_PAUSE_SECONDS), 1
    ):
        start_times.starts(first)
        await start_times.done()
        assert start_times.searches == searches
        await start_times.clock.advance(rest - 1)
        start_times.starts(first)
        assert not start_times.searching
        await start_times.clock.advance(1)
    start_times.starts(second)
    await start_times.done()
    start_times.finds = {KEY: Start(KEY, at=1000.0)}
    await start_times.clock.advance(SEARCH_PAUSE_SECONDS)
    start_times.starts(second)
    await start_times.done()
    await start_times.clock.advance(SEARCH_PAUSE_SECONDS)
    assert start_times.starts(second) == {KEY: Start(KEY, at=1000.0)}
    assert start_times.searches == 5


async def test_where_nobody_waits_nothing_is_searched(start_times: Searching) -> None:
    """What was known of gangs that have started is forgotten."""
    start_times.starts(moment(LEAVES, gangs=GANGS))
    await start_times.done()
    await start_times.clock.advance(SEARCH_PAUSE_SECONDS)
    assert start_times.starts(moment(LEAVES, version=2)) == {}
    assert start_times.searches == 1


def recorded(folder: Path, seconds: tuple[float, ...]) -> None:
    """Gangs of one pod that ran for so long, one after the other, on the only node."""
    files = RecordingFiles(folder)
    files.open()
    at = 100_000.0
    for number, ran in enumerate(seconds):
        role = Role((), Resources(gpus=8), bound=((f"old-{number}-0", "a"),))
        one = StandingGang(Gang(GangKey("ml", f"old-{number}"), (role,), created=at), started=at)
        for now, standing in ((at, [one]), (at + ran, [])):
            files.look(look_at(Snapshot(Fabric(tuple(LEAVES)), now=now), standing), {})
        at += ran + 1
    files.close()


async def test_a_recording_gives_ends_where_none_are_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is searched is told how long gangs ran that were like one, once the folder says so."""
    asked: list[Snapshot] = []

    def ask(client: Any, snapshot: Snapshot) -> Mapping[GangKey, Start]:
        asked.append(snapshot)
        return {}

    quiet = SimpleNamespace(wait_until_ready=lambda: None, close=lambda: None)
    monkeypatch.setattr(searched, "asking_client", lambda _: quiet)
    monkeypatch.setattr(searched, "ask_starts", ask)
    clock = VirtualClock()
    made = StartTimes(clock, lambda: None, tmp_path)
    for version in (1, 2):
        made.starts(moment(LEAVES, gangs=GANGS, version=version))
        while made.searching:
            await asyncio.sleep(0.001)
        if version == 1:
            recorded(tmp_path, seconds=(100.0, 200.0, 300.0))
            await clock.advance(SEARCH_PAUSE_SECONDS)
    await made.close()
    assert [gang.duration for one in asked for gang in one.gangs] == [None, 200.0]


async def test_the_recording_is_that_of_the_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder that trends begin with is the one that starts are expected by."""

    class Begun(Exception):
        pass

    def begun(clock: Any, found: Any, recording: Path | None) -> StartTimes:
        raise Begun(recording)

    monkeypatch.setattr(serve, "StartTimes", begun)
    source = FileSource("", open_paths([EXAMPLES]))
    with pytest.raises(Begun) as made:
        async with serve.serving(
            source, VirtualClock(), serve.DashboardOptions(recording=tmp_path)
        ):
            pass
    assert made.value.args == (tmp_path,)
