"""For how long an object that is gone stays gone: longer than any request, and not for ever."""

from __future__ import annotations

from fourleaf.k8s_bridge.cache.tombstones import Tombstones
from tests.twins.virtual_clock import VirtualClock


async def test_what_is_gone_is_known_for_five_minutes() -> None:
    """At 299 s no answer from before its end brings it back; at 301 s it takes no memory."""
    clock = VirtualClock()
    gone = Tombstones(clock)
    gone.add("a")
    await clock.advance(299)
    gone.add("b")
    assert "a" in gone
    await clock.advance(2)
    gone.add("c")
    assert [one for one in "abc" if one in gone] == ["b", "c"]
