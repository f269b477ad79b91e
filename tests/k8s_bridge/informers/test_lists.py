"""Lists make missed changes visible, and never take the state back in time."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Gone, NotFound, Throttled
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Listing
from fourleaf.k8s_bridge.informers import Pulse, ReflectorState, Selection
from tests.k8s_bridge.informers.scripted import (
    LIST,
    SILENCE,
    WATCH,
    Script,
    Scripted,
    body,
    listing,
    put,
    reading,
    told,
)
from tests.twins.virtual_clock import VirtualClock

GONE = Gone("too old resource version", 410, "Expired")


@pytest.mark.parametrize("before", [[], [put("c", 6)]], ids=["as an answer", "in the middle"])
async def test_gone_brings_a_new_list(before: list[object]) -> None:
    """After a 410, b, which was deleted unseen, is missing from a new full list."""
    clock = VirtualClock()
    lists = [listing(5, body("a", 3), body("b", 4)), listing(20, body("a", 3))]
    cluster = Scripted(clock, {PODS: Script(lists, [[*before, GONE]])})
    async with reading(cluster, PODS, clock) as changes:
        await clock.advance(1)
        seen = told(changes)
        assert (seen[0], seen[-1]) == ("=a@3,b@4", "=a@3")
        assert len(seen) == 2 + len(before)
        assert cluster.versions() == ["5", "20"]


async def test_gone_again_and_again_is_no_rush() -> None:
    """Where each list is too old at once, lists come ever more rarely."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([listing(5)], [[GONE], [GONE], [GONE]])})
    async with reading(cluster, PODS, clock):
        await clock.advance(5)
        assert cluster.times(LIST) == [0, 0.1, 0.3, 0.7]


async def test_a_stale_list_is_asked_for_again() -> None:
    """After a@12, a list of version 9 without it is not told; the one of version 12 is."""
    clock = VirtualClock()
    lists = [listing(5), listing(9), listing(11), listing(12, body("a", 12))]
    cluster = Scripted(clock, {PODS: Script(lists, [[put("a", 12), GONE]])})
    pulse = Pulse(PODS, clock)
    async with reading(cluster, PODS, clock, pulse=pulse) as changes:
        await clock.advance(5)
        assert told(changes) == ["=", "+a@12", "=a@12"]
        assert pulse.read().stale == 2
        assert pulse.read().relists == 1
        assert "version 11 is older than 12" in pulse.read().last_error


async def test_only_a_first_list_may_come_from_a_cache() -> None:
    """With `cached` allowed, the list after a 410 is a quorum read all the same."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([listing(5)], [[GONE]])})
    async with reading(cluster, Selection(PODS, cached=True), clock):
        await clock.advance(5)
        assert [a.cached for a in cluster.asked if a.verb == LIST] == [True, False]


async def test_a_cache_that_lags_is_asked_no_more() -> None:
    """Served again after a 404, with a cache that is older than a@8: a quorum read follows."""
    clock = VirtualClock()
    lists = [Throttled("busy", 429), listing(5), listing(7), listing(8, body("a", 8))]
    watches = [[put("a", 8), NotFound("gone for now", 404)]]
    cluster = Scripted(clock, {PODS: Script(lists, watches)})
    async with reading(cluster, Selection(PODS, cached=True), clock) as changes:
        await clock.advance(5)
        assert told(changes) == ["=", "+a@8", "=a@8"]
        assert [a.cached for a in cluster.asked if a.verb == LIST] == [True, True, True, False]


async def test_lists_are_quorum_reads() -> None:
    """Without leave, nothing is read from a cache."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([listing(5)], [[GONE]])})
    async with reading(cluster, PODS, clock):
        await clock.advance(5)
        assert [a.cached for a in cluster.asked if a.verb == LIST] == [False, False]


async def test_lists_that_fail_are_tried_again() -> None:
    """A failure, then a server that asks for 7 s, then the list: at 0, 0.1 and 7.1 s."""
    clock = VirtualClock()
    lists = [Ambiguous("no answer"), Throttled("busy", 429, retry_after=7), listing(5)]
    cluster = Scripted(clock, {PODS: Script(lists)})
    async with reading(cluster, PODS, clock) as changes:
        await clock.advance(10)
        assert cluster.times(LIST) == [0, 0.1, 7.1]
        assert told(changes) == ["="]


async def test_a_list_without_an_answer_is_given_up() -> None:
    """A list that hangs is asked for again after 60 s and the first wait."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([SILENCE, listing(5)])})
    async with reading(cluster, PODS, clock) as changes:
        await clock.advance(61)
        assert cluster.times(LIST) == [0, 60.1]
        assert cluster.times(WATCH) == [60.1]
        assert told(changes) == ["="]


async def test_a_version_that_is_no_number_is_not_followed() -> None:
    """Versions that cannot be compared are an error that names kind and field, not a state."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([Listing([], "x1"), listing(5)])})
    pulse = Pulse(PODS, clock)
    async with reading(cluster, PODS, clock, pulse=pulse) as changes:
        await clock.advance(1)
        assert told(changes) == ["="]
        assert "pods: metadata.resourceVersion: 'x1'" in pulse.read().last_error


async def test_health_says_that_a_list_is_awaited() -> None:
    """While the list after a 410 hangs, the state is Listing, and what was known still counts."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([listing(5), SILENCE], [[7.0, GONE]])})
    pulse = Pulse(PODS, clock)
    async with reading(cluster, PODS, clock, pulse=pulse):
        await clock.advance(6)
        assert pulse.read().state is ReflectorState.FOLLOWING
        await clock.advance(4)
        assert pulse.read().state is ReflectorState.LISTING
        assert pulse.read().synced_since == 0
