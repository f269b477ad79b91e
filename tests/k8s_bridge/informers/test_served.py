"""Kinds that are not served, come later, or are forbidden."""

from __future__ import annotations

from structlog.testing import capture_logs

from fourleaf.k8s_bridge.cluster.errors import NotFound, Refused
from fourleaf.k8s_bridge.cluster.kinds import (
    JOB_SETS,
    NATIVE_POD_GROUPS,
    NATIVE_POD_GROUPS_BETA,
    PODS,
)
from fourleaf.k8s_bridge.informers import Pulse, ReflectorState, Replaced, Selection
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

MISSING = NotFound("the server could not find the requested resource", 404)
FORBIDDEN = Refused("pods is forbidden", 403, "Forbidden")
GROUPS = Selection(NATIVE_POD_GROUPS, (NATIVE_POD_GROUPS_BETA,))


async def test_a_kind_that_is_not_served_is_absent_once() -> None:
    """A CRD that comes after 20 minutes: absent once, looked for every 18.75 s, then listed."""
    clock = VirtualClock()
    cluster = Scripted(clock, {})
    with capture_logs() as logs:
        async with reading(cluster, JOB_SETS, clock) as changes:
            await clock.advance(1200)
            assert told(changes) == ["absent"]
            assert cluster.times(LIST) == [18.75 * time for time in range(65)]
            cluster.scripts[JOB_SETS] = Script([listing(5, body("a", 3))])
            await clock.advance(20)
            assert told(changes) == ["absent", "=a@3"]
    assert [log["event"] for log in logs] == ["kind_not_served"]


async def test_what_every_server_serves_is_never_absent() -> None:
    """A proxy answers 404 to lists of pods for a while: what is known of them stays."""
    clock = VirtualClock()
    lists = [listing(5, body("a", 3)), *[MISSING] * 9, listing(9, body("a", 8))]
    cluster = Scripted(clock, {PODS: Script(lists, [[10.0, MISSING]])})
    pulse = Pulse(PODS, clock)
    async with reading(cluster, PODS, clock, pulse=pulse) as changes:
        await clock.advance(12)
        assert told(changes) == ["=a@3"]
        assert pulse.read().failing_since is not None
        await clock.advance(120)
        assert told(changes) == ["=a@3", "=a@8"]
        assert pulse.read().state is ReflectorState.FOLLOWING


async def test_a_kind_that_goes_away_is_absent() -> None:
    """A CRD that is deleted takes its objects along."""
    clock = VirtualClock()
    cluster = Scripted(clock, {JOB_SETS: Script([listing(5, body("a", 3)), MISSING], [[10.0]])})
    cluster.scripts[JOB_SETS].watches.append([MISSING])
    pulse = Pulse(JOB_SETS, clock)
    async with reading(cluster, JOB_SETS, clock, pulse=pulse) as changes:
        await clock.advance(11)
        assert told(changes) == ["=a@3", "absent"]
        assert pulse.read().state is ReflectorState.ABSENT
        assert pulse.read().synced_since is None


async def test_a_kind_that_is_listed_but_not_watched_is_no_rush() -> None:
    """Lists that work and watches that are not found come ever more rarely."""
    clock = VirtualClock()
    script = Script([listing(5)], [[MISSING], [MISSING], [MISSING]])
    cluster = Scripted(clock, {JOB_SETS: script})
    async with reading(cluster, JOB_SETS, clock):
        await clock.advance(10)
        assert cluster.times(LIST) == [0, 0.1, 0.3, 0.7]


async def test_the_alternative_that_is_served_is_followed() -> None:
    """Where only v1beta1 is served, its list is told, with its kind, and no absence."""
    clock = VirtualClock()
    cluster = Scripted(clock, {NATIVE_POD_GROUPS_BETA: Script([listing(5, body("g", 3))])})
    pulse = Pulse(NATIVE_POD_GROUPS, clock)
    async with reading(cluster, GROUPS, clock, pulse=pulse) as changes:
        await clock.advance(1)
        assert changes == [Replaced([body("g", 3)], "5", NATIVE_POD_GROUPS_BETA)]
        assert pulse.read().kind == NATIVE_POD_GROUPS_BETA


async def test_an_upgrade_moves_on_to_the_other_alternative() -> None:
    """When v1alpha2 is served no more, v1beta1 takes over with a full list."""
    clock = VirtualClock()
    old = Script([listing(5, body("g", 3)), MISSING], [[10.0, MISSING]])
    new = Script([listing(9, body("g", 8))])
    cluster = Scripted(clock, {NATIVE_POD_GROUPS: old, NATIVE_POD_GROUPS_BETA: new})
    async with reading(cluster, GROUPS, clock) as changes:
        await clock.advance(11)
        assert changes == [
            Replaced([body("g", 3)], "5", NATIVE_POD_GROUPS),
            Replaced([body("g", 8)], "9", NATIVE_POD_GROUPS_BETA),
        ]


async def test_a_refusal_is_logged_once_and_tried_ever_more_rarely() -> None:
    """A role that is granted after four minutes: one warning, few lists, then it follows.

    The waits of 1, 2, 4, ... s up to a minute are each a quarter longer by chance.
    """
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([FORBIDDEN])})
    pulse = Pulse(PODS, clock)
    with capture_logs() as logs:
        async with reading(cluster, PODS, clock, pulse=pulse) as changes:
            await clock.advance(240)
            assert changes == []
            assert cluster.times(LIST) == [0, 1.25, 3.75, 8.75, 18.75, 38.75, 78.75, 153.75, 228.75]
            assert pulse.read().state is ReflectorState.REFUSED
            assert pulse.read().last_error == "pods is forbidden"
            cluster.scripts[PODS].lists = [listing(5)]
            await clock.advance(75)
            assert told(changes) == ["="]
            assert pulse.read().state is ReflectorState.FOLLOWING
    assert [(log["log_level"], log["event"]) for log in logs] == [("warning", "refused")]


async def test_a_token_that_is_being_renewed_costs_no_minute() -> None:
    """After a 401 in a watch comes a list at once, and the refusal is over."""
    clock = VirtualClock()
    script = Script([listing(5), listing(7, body("a", 7))], [[Refused("unauthorized", 401)]])
    cluster = Scripted(clock, {PODS: script})
    pulse = Pulse(PODS, clock)
    with capture_logs() as logs:
        async with reading(cluster, PODS, clock, pulse=pulse) as changes:
            await clock.advance(1)
            assert cluster.times(LIST) == [0, 0.1]
            assert told(changes) == ["=", "=a@7"]
            assert pulse.read().state is ReflectorState.FOLLOWING
    assert [log["event"] for log in logs] == ["refused"]


async def test_a_watch_that_is_refused_lists_anew_ever_more_rarely() -> None:
    """Where lists are allowed and watches not, the state is refreshed rarely, with one line."""
    clock = VirtualClock()
    script = Script([listing(5)], [[FORBIDDEN], [FORBIDDEN], [put("a", 6), SILENCE]])
    cluster = Scripted(clock, {PODS: script})
    with capture_logs() as logs:
        async with reading(cluster, PODS, clock) as changes:
            await clock.advance(100)
            assert cluster.times(WATCH) == [0, 1.25, 3.75]
            assert told(changes) == ["=", "=", "=", "+a@6"]
    assert [log["event"] for log in logs] == ["refused"]


async def test_a_server_that_has_just_started_costs_no_minute() -> None:
    """Watches that are forbidden for a moment, each after a good while: a list soon each time."""
    clock = VirtualClock()
    script = Script([listing(5)], [[100.0, FORBIDDEN], [100.0, FORBIDDEN], [SILENCE]])
    cluster = Scripted(clock, {PODS: script})
    async with reading(cluster, PODS, clock):
        await clock.advance(300)
        assert cluster.times(WATCH) == [0, 101.25, 202.5]
