"""News for many readers."""

from __future__ import annotations

import asyncio

import pytest

from dashboard import hub as hubs
from dashboard.hub import BEHIND, MOST, RESYNC, FullError, Hub


async def some(hub: Hub, reader: asyncio.Queue[bytes | None], count: int) -> list[bytes]:
    """The next `count` messages of a reader, which goes then."""
    found: list[bytes] = []
    news = hub.read(reader)
    async for message in news:
        found.append(message)
        if len(found) == count:
            break
    await news.aclose()  # type: ignore[attr-defined]
    return found


async def test_everybody_hears_everything_in_order() -> None:
    """And who has gone is forgotten."""
    hub = Hub()
    readers = [hub.join(), hub.join()]
    hub.send(b"a")
    hub.send(b"b")
    assert [await some(hub, one, 2) for one in readers] == [[b"a", b"b"]] * 2
    assert len(hub) == 0


async def test_a_slow_reader_is_told_to_load_anew() -> None:
    """It keeps nothing that is out of date, and holds nobody up."""
    hub = Hub()
    slow = hub.join()
    for number in range(BEHIND + 1):
        hub.send(str(number).encode())
    assert slow.qsize() == 1
    hub.send(b"next")
    assert await some(hub, slow, 2) == [RESYNC, b"next"]


async def test_no_more_readers_than_there_is_room_for() -> None:
    """The one too many is refused, and takes no place."""
    hub = Hub()
    for _ in range(MOST):
        hub.join()
    with pytest.raises(FullError):
        hub.join()
    assert len(hub) == MOST


async def test_all_end_when_it_closes() -> None:
    """Those who listen already, and those who come too late."""
    hub = Hub()
    early = hub.join()
    hub.close()
    late = hub.join()
    for reader in (early, late):
        assert [one async for one in hub.read(reader)] == []


async def test_silence_is_broken_by_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that proxies do not cut the line."""
    monkeypatch.setattr(hubs, "EVERY", 0.001)
    hub = Hub()
    assert await some(hub, hub.join(), 1) == [hubs.BEAT]
