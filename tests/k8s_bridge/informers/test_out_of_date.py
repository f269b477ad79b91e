"""When a kind is out of date: not in quiet times, and in time where the API says nothing of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from fourleaf.dashboard.sources.live_cluster import LiveSource
from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Refused
from fourleaf.k8s_bridge.cluster.kinds import PODS, Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster, actors
from fourleaf.k8s_bridge.cluster.protocol import Listing, WatchEvent, opened
from fourleaf.k8s_bridge.informers import Informers, Pulse
from tests.k8s_bridge.informers.scripted import SILENCE, Script, Scripted, listing, reading
from tests.twins.virtual_clock import VirtualClock


class Quiet(MemoryCluster):
    """Its watches are taken and say nothing after that; while it `refuses`, so are none."""

    refuses = False

    async def list(
        self,
        kind: Kind,
        namespace: str = "",
        labels: str = "",
        cached: bool = False,
        fields: str = "",
    ) -> Listing:
        """Nothing while it refuses."""
        if self.refuses:
            raise Refused("forbidden", 403)
        return await super().list(kind, namespace, labels, cached, fields)

    async def watch(
        self, kind: Kind, version: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """No bookmark."""
        if self.refuses:
            raise Refused("forbidden", 403)
        async with aclosing(super().watch(kind, version, namespace, labels, fields)) as events:
            async for event in events:
                if event.type != "BOOKMARK":
                    yield event


async def test_ten_quiet_minutes() -> None:
    """A cluster in which nothing happens is up to date all the time, for the first page too."""
    clock = VirtualClock()
    cluster = Quiet(clock=clock)
    await actors.add_nodes(cluster, actors.nodes(1, 2, 2))
    async with LiveSource("quiet", cluster, clock) as source:
        await clock.run(source.synced(), within=60)
        for _ in range(60):
            await clock.advance(10)
            assert source.unsynced == ()


async def test_a_kind_that_is_refused_after_quiet_times() -> None:
    """The API refuses everything at 200 s: nothing is said at 240 s, all is said at 305 s."""
    clock = VirtualClock()
    cluster = Quiet(clock=clock)
    async with Informers(cluster, clock, [PODS], lambda *_: None) as informers:
        await clock.run(informers.synced(), within=60)
        await clock.advance(200)
        cluster.refuses = True
        cluster.store.end_watches()
        await clock.advance(40)
        assert informers.out_of_date() == ()
        await clock.advance(65)
        assert informers.out_of_date() == ("pods",)


async def test_an_api_that_refuses() -> None:
    """Watches fail from the first second on: out of date after a minute, well after the next."""
    clock = VirtualClock()
    fails: list[WatchEvent | Exception | float] = [Ambiguous("connection refused")]
    cluster = Scripted(clock, {PODS: Script([listing(5)], [fails] * 10 + [[opened("5"), SILENCE]])})
    pulse = Pulse(PODS, clock)
    async with reading(cluster, PODS, clock, pulse=pulse):
        await clock.advance(59)
        assert pulse.read().is_current(clock.monotonic())
        await clock.advance(2)
        assert not pulse.read().is_current(clock.monotonic())
        await clock.advance(30)
        assert len(cluster.versions()) == 11
        assert pulse.read().is_current(clock.monotonic())


async def test_a_server_that_hangs() -> None:
    """No watch is answered: the silence is told from 150 s on, when the second one hangs too."""
    clock = VirtualClock()
    cluster = Scripted(clock, {PODS: Script([listing(5)])})
    pulse = Pulse(PODS, clock)
    async with reading(cluster, PODS, clock, pulse=pulse):
        await clock.advance(150)
        assert pulse.read().is_current(clock.monotonic())
        await clock.advance(1)
        health = pulse.read()
        assert health.failing_since == 120
        assert not health.is_current(clock.monotonic())


@pytest.mark.parametrize("lasts", [0.0, 1.0])
async def test_watches_that_are_taken_and_broken(lasts: float) -> None:
    """A server that takes each watch and breaks it within two seconds counts as failing."""
    clock = VirtualClock()
    broken = [[opened("5"), lasts, Ambiguous("etcd has no leader")] for _ in range(99)]
    cluster = Scripted(clock, {PODS: Script([listing(5)], broken)})
    pulse = Pulse(PODS, clock)
    async with reading(cluster, PODS, clock, pulse=pulse):
        await clock.advance(65)
        assert not pulse.read().is_current(clock.monotonic())
