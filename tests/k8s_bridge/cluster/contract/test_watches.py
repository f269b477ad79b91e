"""Watches."""

from __future__ import annotations

import asyncio

import pytest

from fourleaf.k8s_bridge.cluster.errors import Gone
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, PODS
from fourleaf.k8s_bridge.cluster.protocol import Binding, Target, WatchEvent
from tests.k8s_bridge.cluster.contract.bench import (
    PATIENCE,
    Bench,
    closing,
    make_pod,
    target,
    version_of,
    watched,
)


async def _create(bench: Bench, name: str, **labels: str) -> None:
    body = {"metadata": {"name": name, "labels": labels}}
    await bench.cluster.create(CONFIG_MAPS, bench.namespace, body)


async def _label(bench: Bench, name: str, value: str) -> None:
    patch = {"metadata": {"labels": {"app": value}}}
    await bench.cluster.patch(CONFIG_MAPS, Target(bench.namespace, name), patch)


async def test_watch_tells_what_happened_since(bench: Bench) -> None:
    """A watch from a list's version tells each later write once and in order."""
    await _create(bench, "before")
    version = (await bench.cluster.list(CONFIG_MAPS, bench.namespace)).version
    await _create(bench, "m")
    await _label(bench, "m", "x")
    await bench.cluster.delete(CONFIG_MAPS, Target(bench.namespace, "m"))
    events = await watched(bench, CONFIG_MAPS, version, 3)
    assert [event.type for event in events] == ["ADDED", "MODIFIED", "DELETED"]
    assert {event.object["metadata"]["name"] for event in events} == {"m"}
    versions = [int(version_of(event.object)) for event in events]
    assert versions == sorted(set(versions))
    assert versions[0] > int(version)


async def test_watch_waits_for_what_comes(bench: Bench) -> None:
    """A watch that has nothing to tell waits, and tells what happens then."""
    version = (await bench.cluster.list(CONFIG_MAPS, bench.namespace)).version
    task = asyncio.create_task(watched(bench, CONFIG_MAPS, version, 1))
    await asyncio.sleep(0.1)
    assert not task.done()
    await _create(bench, "m")
    (event,) = await task
    assert (event.type, event.object["metadata"]["name"]) == ("ADDED", "m")


async def test_watch_resumes_from_an_event(bench: Bench) -> None:
    """A watch from an event's version goes on with the next."""
    version = (await bench.cluster.list(CONFIG_MAPS, bench.namespace)).version
    for name in "abc":
        await _create(bench, name)
    first, second = await watched(bench, CONFIG_MAPS, version, 2)
    (third,) = await watched(bench, CONFIG_MAPS, version_of(second.object), 1)
    names = [event.object["metadata"]["name"] for event in (first, second, third)]
    assert names == ["a", "b", "c"]


async def test_watch_through_a_selector(bench: Bench) -> None:
    """An object comes as added when the selector begins to take it, and goes as deleted."""
    version = (await bench.cluster.list(CONFIG_MAPS, bench.namespace)).version
    await _create(bench, "other", app="y")
    await _create(bench, "m", app="y")
    await _label(bench, "m", "x")
    await _label(bench, "m", "y")
    added, deleted = await watched(bench, CONFIG_MAPS, version, 2, "app=x")
    assert (added.type, deleted.type) == ("ADDED", "DELETED")
    assert added.object["metadata"]["labels"] == {"app": "x"}
    assert deleted.object["metadata"]["labels"] == {"app": "x"}
    assert int(version_of(deleted.object)) > int(version_of(added.object))


async def test_deletion_carries_its_own_version(bench: Bench) -> None:
    """Even a pod that goes at once is marked first; it goes under a version of its own."""
    made = await make_pod(bench)
    version = version_of(made)
    await bench.cluster.delete(PODS, target(made))
    mark, event = await watched(bench, PODS, version, 2)
    assert (mark.type, event.type) == ("MODIFIED", "DELETED")
    assert mark.object["metadata"]["deletionTimestamp"]
    assert event.object["metadata"]["uid"] == made["metadata"]["uid"]
    assert int(version_of(event.object)) > int(version_of(mark.object)) > int(version)


async def test_watch_of_a_bound_pod_that_goes(bench: Bench) -> None:
    """A bound pod is seen as deleting, then as without grace, then as deleted."""
    made = await make_pod(bench)
    await bench.cluster.bind(Binding(target(made), "n1"))
    version = (await bench.cluster.list(PODS, bench.namespace)).version
    await bench.cluster.delete(PODS, target(made))
    await bench.finish(target(made))
    events = await watched(bench, PODS, version, 3)
    seen = [(e.type, e.object["metadata"]["deletionGracePeriodSeconds"]) for e in events]
    assert seen == [("MODIFIED", 30), ("MODIFIED", 0), ("DELETED", 0)]


async def test_watch_from_too_old_a_version(bench: Bench) -> None:
    """A watch from a version whose history is forgotten is gone from the start."""
    await _create(bench, "m")
    await bench.forget()
    with pytest.raises(Gone):
        await watched(bench, CONFIG_MAPS, "1", 1)


async def test_watch_from_zero_starts_with_what_is_there(bench: Bench) -> None:
    """A watch from version 0 tells what exists as added."""
    await _create(bench, "m")
    events = await watched(bench, CONFIG_MAPS, "0", 1)
    assert [event.type for event in events] == ["ADDED"]


async def test_bookmark_and_end(bench: Bench) -> None:
    """A watch is told how far it has got, by a version to resume from, and ends."""
    version = (await bench.cluster.list(CONFIG_MAPS, bench.namespace)).version
    await bench.hasten()

    async def until_it_ends() -> list[WatchEvent]:
        async with closing(bench.cluster.watch(CONFIG_MAPS, version, bench.namespace)) as events:
            return [event async for event in events]

    task = asyncio.create_task(until_it_ends())
    await asyncio.sleep(0.02)
    await _create(bench, "m")
    opened, added, *marks = await asyncio.wait_for(task, PATIENCE)
    assert opened == WatchEvent("OPENED", {"metadata": {"resourceVersion": version}})
    assert added.type == "ADDED"
    assert {event.type for event in marks} == {"BOOKMARK"}
    reached = version_of(marks[-1].object)
    assert int(reached) >= int(version_of(added.object))
    await _create(bench, "n")
    (event,) = await watched(bench, CONFIG_MAPS, reached, 1)
    assert event.object["metadata"]["name"] == "n"


async def test_a_watch_by_field(bench: Bench) -> None:
    """A pod comes into view when it is bound to the node that is watched, and others never do."""
    made = await make_pod(bench, "a")
    await make_pod(bench, "b", nodeName="n2")
    await bench.cluster.bind(Binding(target(made), "n1"))
    events = bench.cluster.watch(PODS, version_of(made), bench.namespace, fields="spec.nodeName=n1")
    async with closing(events) as stream:
        await asyncio.wait_for(anext(stream), PATIENCE)
        event = await asyncio.wait_for(anext(stream), PATIENCE)
    assert (event.type, event.object["metadata"]["name"]) == ("ADDED", "a")
