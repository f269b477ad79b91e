"""News for many readers."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from fourleaf.dashboard import event_stream as hubs
from fourleaf.dashboard.event_stream import MOST_BEHIND, MOST_READERS, RESYNC, FullError, Hub


def hello() -> bytes:
    """The greeting of all readers here."""
    return b"hello"


async def some(news: AsyncGenerator[bytes], count: int) -> list[bytes]:
    """The next `count` messages of a reader, which goes then."""
    found = [await anext(news) for _ in range(count)]
    await news.aclose()
    return found


async def test_everybody_hears_everything_in_order() -> None:
    """And who has gone is forgotten."""
    hub = Hub()
    readers = [hub.read(hello), hub.read(hello)]
    assert [await anext(one) for one in readers] == [b"hello"] * 2
    assert len(hub) == 2
    hub.send(b"a")
    hub.send(b"b")
    assert [await some(one, 2) for one in readers] == [[b"a", b"b"]] * 2
    assert len(hub) == 0


async def test_a_slow_reader_is_told_to_load_anew() -> None:
    """It keeps nothing that is out of date, and holds nobody up."""
    hub = Hub()
    slow = hub.read(hello)
    await anext(slow)
    for number in range(MOST_BEHIND + 1):
        hub.send(str(number).encode())
    hub.send(b"next")
    assert await some(slow, 2) == [RESYNC, b"next"]


async def test_no_more_readers_than_there_is_room_for() -> None:
    """The one too many is refused, and takes no place."""
    hub = Hub()
    for _ in range(MOST_READERS):
        hub.join()
    with pytest.raises(FullError):
        hub.need_room()
    assert [one async for one in hub.read(hello)] == []
    assert len(hub) == MOST_READERS


async def test_who_goes_before_the_first_word_takes_no_place() -> None:
    """The client is gone before its stream begins: Python never runs such a generator's end."""
    hub = Hub()
    news = hub.read(hello)
    await news.aclose()
    assert len(hub) == 0
    begun = hub.read(hello)
    await anext(begun)
    assert len(hub) == 1
    await begun.aclose()
    assert len(hub) == 0


async def test_who_may_not_look_any_more_hears_nothing_more() -> None:
    """The session ended between two messages; the place is free again."""
    hub, may = Hub(), [True, False]
    news = hub.read(hello, lambda: may.pop(0))
    await anext(news)
    hub.send(b"seen")
    hub.send(b"secret")
    assert [one async for one in news] == [b"seen"]
    assert len(hub) == 0


async def test_all_end_when_it_closes() -> None:
    """Those who listen already, and those who come too late."""
    hub = Hub()
    early, late = hub.read(hello), hub.read(hello)
    await anext(early)
    hub.close()
    assert [one async for one in early] == []
    assert [one async for one in late] == [b"hello"]


async def test_silence_is_broken_by_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that proxies do not cut the line."""
    monkeypatch.setattr(hubs, "BEAT_SECONDS", 0.001)
    hub = Hub()
    assert await some(hub.read(hello), 2) == [b"hello", hubs.BEAT]
