"""One task for each kind, all of them begun, awaited and ended together."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous
from fourleaf.k8s_bridge.cluster.kinds import JOB_SETS, NODES, PODS, Kind
from fourleaf.k8s_bridge.informers import (
    Change,
    Informers,
    Pulse,
    ReflectorState,
    Selection,
    reflect,
)
from tests.k8s_bridge.informers.scripted import (
    SILENCE,
    Longest,
    Script,
    Scripted,
    body,
    bookmark,
    listing,
    put,
    reading,
    told,
)
from tests.twins.virtual_clock import VirtualClock


async def test_synced_waits_for_lists_and_for_absences() -> None:
    """Nodes at once, no JobSets at all, pods after 30 s: synced at 30 s, changes folded before."""
    clock = VirtualClock()
    scripts = {NODES: Script([listing(4)]), PODS: Script([30.0, listing(5, body("a", 3))])}
    seen: list[tuple[Kind, str]] = []

    def on_change(kind: Kind, change: Change) -> None:
        seen.append((kind, *told([change])))

    cluster = Scripted(clock, scripts)
    async with Informers(cluster, clock, [PODS, NODES, JOB_SETS], on_change) as informers:
        synced = asyncio.create_task(informers.synced())
        await clock.advance(29)
        assert not synced.done()
        await clock.advance(1)
        assert synced.done()
        assert sorted(seen, key=str) == sorted(
            [(NODES, "="), (PODS, "=a@3"), (JOB_SETS, "absent")], key=str
        )
        health = informers.health()
        assert {kind.plural: health[kind].state for kind in health} == {
            "pods": ReflectorState.FOLLOWING,
            "nodes": ReflectorState.FOLLOWING,
            "jobsets": ReflectorState.ABSENT,
        }


async def test_synced_waits_on_where_a_kind_is_followed_no_longer() -> None:
    """JobSets are left aside while pods are still being listed: they are waited for."""
    clock = VirtualClock()
    scripts = {PODS: Script([30.0, listing(5)]), JOB_SETS: Script([SILENCE])}
    cluster = Scripted(clock, scripts)
    seen: list[tuple[Kind, str]] = []

    def on_change(kind: Kind, change: Change) -> None:
        seen.append((kind, *told([change])))

    async with Informers(cluster, clock, [PODS, JOB_SETS], on_change) as informers:
        synced = asyncio.create_task(informers.synced())
        await clock.advance(5)
        informers.select([JOB_SETS], [])
        assert seen == [(JOB_SETS, "absent")]
        await clock.advance(24)
        assert not synced.done()
        await clock.advance(1)
        assert synced.done()


async def test_close_leaves_nothing_behind() -> None:
    """After close, no task is left and each watch is closed."""
    clock = VirtualClock()
    cluster = Scripted(clock, {NODES: Script([listing(4)]), PODS: Script([listing(5)])})
    before = asyncio.all_tasks()
    async with Informers(cluster, clock, [PODS, NODES, JOB_SETS], lambda *_: None) as informers:
        await clock.run(informers.synced(), within=600)
        await clock.advance(1)
        assert cluster.open == 2
    assert cluster.open == 0
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("turns", range(25))
async def test_a_cancellation_at_any_turn_leaves_nothing_behind(turns: int) -> None:
    """However far a reflection has got, cancelling it ends its tasks and its connection."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([listing(5)], [[put("a", 6)], [put("a", 7), SILENCE]])})
    before = asyncio.all_tasks()
    async with reading(cluster, PODS, clock):
        for _ in range(turns):
            await asyncio.sleep(0)
        if turns % 2:
            await clock.advance(0.1)
    assert cluster.open == 0
    assert asyncio.all_tasks() == before


async def test_a_reader_that_stops_closes_the_watch() -> None:
    """Leaving the loop inside `aclosing` closes all layers at once."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([listing(5)], [[put("a", 6), SILENCE]])})
    before = asyncio.all_tasks()
    async with aclosing(reflect(cluster, PODS, clock)) as changes:
        async for change in changes:
            if told([change]) == ["+a@6"]:
                break
    assert cluster.open == 0
    assert asyncio.all_tasks() == before


async def test_a_reader_that_takes_its_time_is_no_stall() -> None:
    """An hour between two events on the reader's side does not cut the watch."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([listing(5)], [[put("a", 6), put("a", 7), SILENCE]])})

    async def read() -> list[Change]:
        seen = []
        async with aclosing(reflect(cluster, PODS, clock, chance=Longest())) as changes:
            async for change in changes:
                seen.append(change)
                await clock.sleep(3600)
                if len(seen) == 3:
                    break
        return seen

    assert told(await clock.run(read(), within=20_000)) == ["=", "+a@6", "+a@7"]
    assert cluster.versions() == ["5"]


async def test_what_breaks_a_consumer_is_not_hidden() -> None:
    """An exception of `on_change` comes out of `synced`, of `broken` and of `close`."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([listing(5)])})

    def on_change(kind: Kind, change: Change) -> None:
        raise ZeroDivisionError(kind.plural)

    informers = Informers(cluster, clock, [PODS], on_change)
    informers.start()
    for wait in (informers.synced, informers.broken, informers.close):
        with pytest.raises(ZeroDivisionError, match="pods"):
            await clock.run(wait(), within=600)
    assert cluster.open == 0


def test_two_subjects_of_one_kind_are_refused() -> None:
    """Changes are told by kind, so a kind can be followed only once."""
    subjects = [PODS, Selection(PODS, namespace="ml")]
    with pytest.raises(ValueError, match=r"pods\. is there twice"):
        Informers(None, VirtualClock(), subjects, lambda *_: None)


async def test_health_tells_the_age_of_what_is_known() -> None:
    """A bookmark at 70 s: the age at 100 s is 30 s; what was never listed is not current."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([listing(5)], [[70.0, bookmark(6), SILENCE]])})
    pulse = Pulse(PODS, clock)
    assert not pulse.read().is_current(now=0)
    async with reading(cluster, PODS, clock, pulse=pulse):
        await clock.advance(100)
        health = pulse.read()
        assert (health.synced_since, health.last_heard, health.age(100)) == (0, 70, 30)
        assert health.is_current(now=100)


async def test_health_counts() -> None:
    """Two events, one end, one failure: as many are counted, and the last text is kept."""
    clock = VirtualClock()
    watches = [[put("a", 6), put("b", 7)], [Ambiguous("connection reset")], [SILENCE]]
    cluster = Scripted(clock, {PODS: Script([listing(5)], watches)})
    pulse = Pulse(PODS, clock)
    async with reading(cluster, PODS, clock, pulse=pulse):
        await clock.advance(10)
        health = pulse.read()
        assert (health.events, health.restarts, health.failures, health.relists) == (2, 2, 1, 0)
        assert (health.last_error, health.last_failed) == ("connection reset", 0.1)
