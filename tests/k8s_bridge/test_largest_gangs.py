"""The largest gang that is promised starts whole, and moves whole, on the twin."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from fourleaf.k8s_bridge.cluster.kinds import LEASES, NODES
from fourleaf.k8s_bridge.cluster.memory.actors import gang, nodes, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.formats.codec import read_gang, read_page
from fourleaf.k8s_bridge.ledger.formats.envelope import RECORD_LIMIT_BYTES
from fourleaf.k8s_bridge.ledger.names import GANGS, PAGES, RECORD
from fourleaf.k8s_bridge.relocation.codec import RELOCATION, RELOCATIONS, read_relocation
from fourleaf.model.gang import MOST_MEMBERS
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.k8s_bridge.relocation.bench import FAILOVER
from tests.k8s_bridge.relocation.bench import Bench as MovingBench
from tests.k8s_bridge.test_scheduler import TEAM, Bench


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """A line for each pod would take a third of the time."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.configure(**before)


class _Stops:
    """A leader that is gone after so many bindings: of what it asks then, nothing happens."""

    def __init__(self, bindings: int) -> None:
        self._left = bindings

    async def before(self, request: ApiRequest) -> None:
        """Count bindings; whatever comes after the last one waits for ever."""
        if self._left <= 0:
            await asyncio.Event().wait()
        if request.subresource == "binding":
            self._left -= 1

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


class _Relocations:
    """The records of relocations as they were created: format, seats, bytes of annotations.

    What comes after so many evictions waits for ever.
    """

    def __init__(self, evictions: int) -> None:
        self.written: set[tuple[int, int, int]] = set()
        self._left = evictions

    async def before(self, request: ApiRequest) -> None:
        """Count evictions, and read the record."""
        if self._left <= 0:
            await asyncio.Event().wait()
        if request.subresource == "eviction" and not request.dry_run:
            self._left -= 1

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Read the record as it is there."""
        labels = answer["metadata"].get("labels") or {} if isinstance(answer, dict) else {}
        if request.kind is LEASES and request.writes and labels.get(RECORD) == RELOCATION:
            one = read_relocation(answer)
            said = sum(map(len, answer["metadata"]["annotations"].values()))
            self.written.add((one.format, len(one.seats), said))


async def listed(bench: Bench | MovingBench, labels: str) -> list[Body]:
    """The Leases that the scheduler has written, of one sort."""
    return (await bench.cluster.list(LEASES, "kube-system", labels)).items


@pytest.mark.parametrize("killed", [False, pytest.param(True, marks=pytest.mark.deep)])
async def test_the_largest_gang_starts_whole(killed: bool) -> None:
    """4000 pods of one GPU on 500 nodes of 8: all run, and the pages have each once.

    Where the leader is gone after half of the bindings, the next one does the other half.
    """
    bench = Bench()
    for body in nodes(5, 10, 10):
        await bench.cluster.create(NODES, "", body)
    stops = [_Stops(MOST_MEMBERS // 2)] if killed else []
    await bench.start("a", client=bench.cluster.client("a", *stops))
    await submit(bench.cluster, TEAM, gang("g", MOST_MEMBERS, 1))
    await bench.clock.advance(2)
    if killed:
        assert len(await bench.places()) == MOST_MEMBERS // 2
        (body,) = await listed(bench, GANGS)
        assert read_gang(body).format == 3
        bench.tasks.pop().cancel()
        await bench.start("b")
        await bench.clock.advance(FAILOVER + 5)
    places = await bench.places()
    assert len(places) == MOST_MEMBERS
    assert set(Counter(places.values()).values()) == {8}
    await bench.clock.advance(5)
    pages = map(read_page, await listed(bench, PAGES))
    written = [one.pod.name for page in pages for entry in page.entries for one in entry.members]
    assert sorted(written) == sorted(places)
    assert not await listed(bench, GANGS)
    await bench.stop()


@pytest.mark.deep
@pytest.mark.parametrize("killed", [False, True])
async def test_the_largest_gang_moves_whole(killed: bool) -> None:
    """All 500 nodes of 8 under 4000 pods are drained: all 4000 stand on the 500 others.

    Its record is in format 3, and is gone in the end, as are all pods that had to leave. Where the
    leader is gone once half of the pods are evicted, the next one goes on with the record.
    """
    bench = MovingBench()
    bench.fabric = nodes(2, 50, 10)
    records = _Relocations(MOST_MEMBERS // 2 if killed else 2 * MOST_MEMBERS)
    await bench.start(answers=records)
    await bench.submit("g", MOST_MEMBERS, 1)
    before, old = await bench.uids("g"), set((await bench.places("g")).values())
    assert (len(before), len(old)) == (MOST_MEMBERS, 500)
    drained = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    for node in old:
        await bench.cluster.patch(NODES, Target("", node), drained)
    await bench.clock.advance(10)
    if killed:
        assert len(await listed(bench, RELOCATIONS)) == 1
        assert any(node in old for node in (await bench.places("g")).values())
        await bench.succeed("b")
        await bench.clock.advance(60)
    places = await bench.places("g")
    assert len(places) == MOST_MEMBERS
    assert old.isdisjoint(places.values())
    assert set(Counter(places.values()).values()) == {8}
    assert set((await bench.uids("g")).values()).isdisjoint(before.values())
    largest = max(records.written, key=lambda one: one[1])
    assert largest[:2] == (3, MOST_MEMBERS)
    assert largest[2] <= RECORD_LIMIT_BYTES
    assert not await listed(bench, RELOCATIONS)
    await bench.stop()
