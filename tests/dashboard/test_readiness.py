"""When the dashboard says that it is ready."""

from __future__ import annotations

import asyncio
from typing import Any

from fourleaf.dashboard.readiness import Readiness
from fourleaf.dashboard.sources.snapshot_files import FileSource
from fourleaf.dashboard.sources.source import ClusterMoment
from tests.controlplane.waiting import eventually
from tests.dashboard.served import Served


class Reading:
    """A world that is still read until somebody says that it is known."""

    def __init__(self, source: FileSource) -> None:
        self._source = source
        self.unsynced: tuple[str, ...] = ("pods",)
        self.known = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    async def synced(self) -> None:
        """Wait for whoever says so."""
        await self.known.wait()


async def test_it_is_ready_once_a_page_was_shown(examples: FileSource) -> None:
    """Not while pods are read, not before the first page, and not while that is being drawn."""
    source, drawn = Reading(examples), asyncio.Event()
    readiness = Readiness(source)
    work = asyncio.create_task(readiness.run(drawn.wait))
    await asyncio.sleep(0)
    assert readiness.lacking == ("pods",)
    source.unsynced = ()
    source.known.set()
    await asyncio.sleep(0)
    assert readiness.lacking == ("the first page",)
    drawn.set()
    await work
    assert readiness.lacking == ()


async def test_what_is_not_up_to_date_later_is_said(examples: FileSource) -> None:
    """Pods are not heard of any more: traffic goes to another replica."""
    source = Reading(examples)
    source.known.set()
    source.unsynced = ()
    readiness = Readiness(source)
    await readiness.run(lambda: asyncio.sleep(0))
    source.unsynced = ("pods",)
    assert readiness.lacking == ("pods",)


async def test_a_page_that_cannot_be_drawn_keeps_nobody_out(examples: FileSource) -> None:
    """The other pages are of use, and that one says itself what is wrong."""

    async def broken() -> None:
        raise RuntimeError("no page today")

    readiness = Readiness(examples)
    await readiness.run(broken)
    assert readiness.lacking == ()


def test_the_map_was_drawn_before_anybody_asked(examples: FileSource) -> None:
    """Once it is ready, the cluster was looked at for pages, not once for its past alone."""
    source = Looked(examples)
    with Served(source) as dashboard:
        eventually(lambda: dashboard.get("/readyz")[0] == 200, "it is ready")
        assert source.looks > 1


class Looked:
    """A world that counts how often it is looked at."""

    def __init__(self, source: FileSource) -> None:
        self._source = source
        self.looks = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def moment(self) -> ClusterMoment:
        """One more look."""
        self.looks += 1
        return self._source.moment()
