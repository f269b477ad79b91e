"""From changes to news."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from fourleaf.dashboard.change_feed import GATHER_SECONDS, ChangeFeed
from fourleaf.dashboard.event_stream import Hub
from fourleaf.dashboard.sources.snapshot_files import FileSource
from fourleaf.dashboard.views.fabric import FabricMap, FabricView
from fourleaf.dashboard.views.marks import Marks
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.model.fabric import Leaf
from tests.dashboard.made import moment, node, runs
from tests.twins.virtual_clock import VirtualClock


class Stage:
    """A follower, one reader, and a map that the test changes."""

    def __init__(self, source: FileSource, *names: str) -> None:
        self.marks = Marks()
        self.names = names
        self.view = self.look(1)
        self.hub = Hub()
        draw = lambda leaf, key: f"{key}!{leaf.name}"  # noqa: E731
        self.follower = ChangeFeed(source, self.hub, SystemClock(), lambda: self.view, draw)
        self.greeting = self.follower.greeting()
        self.reader = self.hub.join()

    def look(self, version: int, *busy: str) -> FabricView:
        """A leaf of one node for each name, with a gang on those that are `busy`."""
        leaves = [Leaf(f"l-{name}", "s", (node(name),)) for name in self.names]
        running = [runs(f"p-{name}", name, 8, "g") for name in busy]
        return FabricMap("here", self.marks).view(moment(leaves, running, version=version))

    def step(self) -> dict[str, Any]:
        """What is told of the map as it is now."""
        self.follower.step()
        message = self.reader.get_nowait()
        assert message is not None
        kind, data = message.decode().rstrip().split("\n")
        assert kind == "event: changed"
        return dict(json.loads(data.removeprefix("data: ")))


def test_only_what_looks_different_is_sent(examples: FileSource) -> None:
    """Of two leaves one gets a gang; then nothing changes; then it goes again."""
    stage = Stage(examples, "a", "b")
    assert stage.greeting == b'event: hello\ndata: {"version":1}\n\n'
    stage.view = stage.look(2, "b")
    told = stage.step()
    assert told["leaves"] == {"s/l-b": "s/l-b!l-b"}
    assert (told["version"], told["fabric"], told["totals"]["used"]) == (2, False, 8)
    assert (told["totals"]["running"], told["totals"]["runs"]) == (1, "gang runs")
    stage.view = stage.look(3, "b")
    assert stage.step()["leaves"] == {}
    stage.view = stage.look(4)
    assert list(stage.step()["leaves"]) == ["s/l-b"]


def test_another_fabric_is_loaded_as_a_whole(examples: FileSource) -> None:
    """A leaf has come: pages cannot patch that."""
    stage = Stage(examples, "a")
    stage.names = ("a", "b")
    stage.view = stage.look(2)
    told = stage.step()
    assert (told["fabric"], told["leaves"]) == (True, {})


def test_a_second_reader_builds_on_what_the_first_was_told(examples: FileSource) -> None:
    """It hears of the version that news build on, although the map has moved on since."""
    stage = Stage(examples, "a")
    stage.view = stage.look(2, "a")
    assert stage.follower.greeting() == b'event: hello\ndata: {"version":1}\n\n'
    assert list(stage.step()["leaves"]) == ["s/l-a"]
    assert stage.follower.greeting() == b'event: hello\ndata: {"version":2}\n\n'


def test_what_grows_old_by_itself_is_told(examples: FileSource) -> None:
    """Nothing changes, and pods are not heard of any more: pages load anew, once."""
    stage = Stage(examples, "a")
    stage.follower.step()
    assert stage.reader.empty()
    stage.view = stage.view.model_copy(update={"unsynced": ("pods",)})
    assert stage.step()["fabric"] is True
    stage.follower.step()
    assert stage.reader.empty()


async def test_one_bad_look_does_not_end_the_news(examples: FileSource) -> None:
    """The look after it is told as ever."""
    source, hub = Changing(examples), Hub()
    stage = Stage(examples, "a")
    looks: list[FabricView | None] = [stage.view, None, stage.look(2, "a")]

    def look() -> FabricView:
        found = looks.pop(0)
        if found is None:
            raise RuntimeError("no view today")
        return found

    follower = ChangeFeed(source, hub, SystemClock(), look, lambda leaf, _: leaf.name)
    follower.greeting()
    reader = hub.join()
    work = asyncio.create_task(follower.run())
    source.now.set()
    while len(looks) > 1:
        await asyncio.sleep(0.01)
    source.now.set()
    assert b"changed" in (await asyncio.wait_for(reader.get(), 10) or b"")
    work.cancel()


async def test_whoever_comes_does_not_wait_for_all_that_has_changed(examples: FileSource) -> None:
    """Nobody reads: of two changes at once, one look is kept ready, and nothing is told."""
    source, hub, looks = Changing(examples), Hub(), 0
    stage = Stage(examples, "a")

    def look() -> FabricView:
        nonlocal looks
        looks += 1
        return stage.view

    follower = ChangeFeed(source, hub, SystemClock(), look, lambda leaf, _: leaf.name)
    work = asyncio.create_task(follower.run())
    for _ in range(2):
        source.now.set()
        await asyncio.sleep(2 * GATHER_SECONDS)
    assert looks == 1
    work.cancel()


async def test_the_first_change_is_told_at_once_and_those_after_it_together(
    examples: FileSource,
) -> None:
    """A gang of three is bound pod by pod: its first pod is not held back, the others are one."""
    source, clock = Changing(examples), VirtualClock()
    stage = Stage(examples, "a", "b", "c")
    follower = ChangeFeed(source, stage.hub, clock, lambda: stage.view, lambda leaf, _: leaf.name)
    follower.greeting()
    work = asyncio.create_task(follower.run())
    for version, busy in enumerate(("a", "ab", "abc"), 2):
        stage.view = stage.look(version, *busy)
        source.now.set()
        await clock.advance(GATHER_SECONDS / 4)
    assert stage.reader.qsize() == 1
    await clock.advance(GATHER_SECONDS)
    assert stage.reader.qsize() == 2
    work.cancel()


class Changing:
    """A world of which somebody says when it has changed."""

    def __init__(self, source: FileSource) -> None:
        self._source = source
        self.now = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    async def changed(self) -> None:
        """Wait for whoever says so."""
        await self.now.wait()
        self.now.clear()
