"""Watches resume where they stopped, whatever stopped them."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Throttled
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import opened
from fourleaf.k8s_bridge.informers import Pulse, Timeouts
from tests.k8s_bridge.informers.scripted import (
    LIST,
    SILENCE,
    WATCH,
    Script,
    Scripted,
    body,
    bookmark,
    deleted,
    listing,
    put,
    reading,
    told,
)
from tests.twins.virtual_clock import VirtualClock


@pytest.mark.parametrize(
    ("last", "resumed"), [(put("b", 7), "7"), (bookmark(9), "9"), (deleted("a", 8), "8")]
)
async def test_resumes_from_the_last_version_seen(last: object, resumed: str) -> None:
    """After an end, the next watch starts from the last object or bookmark, with no new list."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([listing(5, body("a", 3))], [[last]])})
    async with reading(cluster, PODS, clock):
        await clock.advance(10)
        assert cluster.versions() == ["5", resumed]
        assert cluster.times(LIST) == [0]


async def test_events_become_changes_and_bookmarks_do_not() -> None:
    """Made and changed objects are put, deleted ones removed, bookmarks left out."""
    clock = VirtualClock()
    events = [put("a", 6), bookmark(7), deleted("a", 8), put("b", 9), SILENCE]
    cluster = Scripted(clock, {PODS: Script([listing(5, body("a", 3))], [events])})
    async with reading(cluster, PODS, clock) as changes:
        await clock.advance(1)
        assert told(changes) == ["=a@3", "+a@6", "-a@8", "+b@9"]


async def test_what_an_older_server_repeats_is_dropped() -> None:
    """After a@8, an a@6 from a server that lags behind must not bring the past back."""
    clock = VirtualClock()
    watches = [[put("a", 8)], [put("a", 6), deleted("a", 7), put("a", 9), SILENCE]]
    cluster = Scripted(clock, {PODS: Script([listing(5)], watches)})
    async with reading(cluster, PODS, clock) as changes:
        await clock.advance(10)
        assert told(changes) == ["=", "+a@8", "+a@9"]


async def test_a_server_that_was_restored_from_a_backup_is_found_out() -> None:
    """It takes the watch, and tells of older versions alone: after a minute a list is asked for.

    That is older too, so the kind is out of date after another minute.
    """
    clock = VirtualClock()
    older = [step for i in range(40) for step in (10.0, put("b", 500 + i), bookmark(500 + i))]
    lists = [listing(1000), listing(520)]
    cluster = Scripted(clock, {PODS: Script(lists, [[opened("1000"), *older]])})
    pulse = Pulse(PODS, clock)
    async with reading(cluster, PODS, clock, pulse=pulse) as changes:
        await clock.advance(69)
        assert cluster.times("list") == [0.0]
        await clock.advance(2)
        assert len(cluster.times("list")) > 1
        assert pulse.read().is_current(clock.monotonic())
        await clock.advance(60)
        assert not pulse.read().is_current(clock.monotonic())
        assert told(changes) == ["="]


async def test_a_server_that_lags_for_a_moment_is_followed() -> None:
    """It tells of older versions for 50 seconds, of a newer one, and of older ones again."""
    clock = VirtualClock()
    older = [step for i in range(5) for step in (10.0, put("b", 500 + i))]
    events = [*older, put("a", 1001), *older, SILENCE]
    cluster = Scripted(clock, {PODS: Script([listing(1000)], [events])})
    async with reading(cluster, PODS, clock) as changes:
        await clock.advance(110)
        assert told(changes) == ["=", "+a@1001"]
        assert len(cluster.times("list")) == 1


async def test_versions_are_compared_as_numbers() -> None:
    """10 comes after 9, though not in a dictionary."""
    clock = VirtualClock()
    watches = [[put("a", 9), put("a", 10), SILENCE]]
    cluster = Scripted(clock, {PODS: Script([listing(8)], watches)})
    async with reading(cluster, PODS, clock) as changes:
        await clock.advance(1)
        assert told(changes) == ["=", "+a@9", "+a@10"]


async def test_a_silent_watch_is_given_up() -> None:
    """An event at 50 s, then silence: the next watch starts 120 s later plus a wait of 0.1 s."""
    clock = VirtualClock()
    watches = [[50.0, put("a", 7), SILENCE], [put("b", 8), SILENCE]]
    cluster = Scripted(clock, {PODS: Script([listing(5)], watches)})
    pulse = Pulse(PODS, clock)
    async with reading(cluster, PODS, clock, pulse=pulse) as changes:
        await clock.advance(169.9)
        assert cluster.times(WATCH) == [0]
        await clock.advance(1)
        assert cluster.times(WATCH) == [0, 170.1]
        assert cluster.versions() == ["5", "7"]
        assert cluster.open == 1
        assert told(changes) == ["=", "+a@7", "+b@8"]
        assert pulse.read().last_error == "pods: watch: silent for 120 s"


async def test_bookmarks_keep_a_quiet_watch_alive() -> None:
    """With a bookmark each minute, an hour without objects is no stall."""
    clock = VirtualClock()
    minute = [step for n in range(60) for step in (60.0, bookmark(6 + n))]
    cluster = Scripted(clock, {PODS: Script([listing(5)], [[*minute, SILENCE]])})
    async with reading(cluster, PODS, clock):
        await clock.advance(3600)
        assert cluster.times(WATCH) == [0]


async def test_waits_double_up_to_a_bound() -> None:
    """Watches that fail at once come after 0.1, 0.2, 0.4 and then never more than 0.5 s."""
    clock = VirtualClock()
    watches = [[Ambiguous("cut")] for _ in range(6)]
    cluster = Scripted(clock, {PODS: Script([listing(5)], watches)})
    async with reading(cluster, PODS, clock, Timeouts(longest_retry=0.5)):
        await clock.advance(10)
        assert cluster.times(WATCH) == [0, 0.1, 0.3, 0.7, 1.2, 1.7, 2.2]


async def test_an_event_makes_waits_short_again() -> None:
    """Fail, fail, deliver and be cut: the wait after that is the first one again."""
    clock = VirtualClock()
    cut = Ambiguous("cut")
    watches = [[cut], [cut], [put("a", 6), cut], [cut]]
    cluster = Scripted(clock, {PODS: Script([listing(5)], watches)})
    async with reading(cluster, PODS, clock):
        await clock.advance(10)
        assert cluster.times(WATCH) == [0, 0.1, 0.3, 0.4, 0.6]


async def test_a_watch_that_lasted_is_no_failure() -> None:
    """Ends after 3 s each, without an event: every wait is the first one."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([listing(5)], [[3.0], [3.0], [3.0]])})
    async with reading(cluster, PODS, clock):
        await clock.advance(10)
        assert cluster.times(WATCH) == [0, 3.1, 6.2, 9.3]


async def test_a_watch_that_ends_at_once_is_not_repeated_in_a_rush() -> None:
    """A server that ends each watch cleanly and at once is asked ever more rarely."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([listing(5)], [[], [], []])})
    async with reading(cluster, PODS, clock):
        await clock.advance(10)
        assert cluster.times(WATCH) == [0, 0.1, 0.3, 0.7]


@pytest.mark.parametrize(("asked", "given"), [(17.0, 17.0), (86_400.0, 30.0)])
async def test_a_server_that_asks_for_time_gets_it(asked: float, given: float) -> None:
    """Retry-After is heeded where it is longer than our own wait, up to half a minute."""
    clock = VirtualClock()
    watches = [[Throttled("busy", 429, retry_after=asked)]]
    cluster = Scripted(clock, {PODS: Script([listing(5)], watches)})
    async with reading(cluster, PODS, clock):
        await clock.advance(400)
        assert cluster.times(WATCH)[:2] == [0, given]
