"""A page that hangs, and places on it that are kept: their gang waits for it, and nobody else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.ledger.names import page_name
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from fourleaf.k8s_bridge.scheduler import Scheduler
from tests.k8s_bridge.relocation.bench import TEAM, Bench, leaf_of
from tests.k8s_bridge.relocation.test_replicas import drain
from tests.k8s_bridge.scheduling.test_hanging_records import Hangs, is_bound_to
from tests.twins.virtual_clock import VirtualClock


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Two leaves of 4 nodes, and no scheduler yet."""
    bench = Bench(leaves=2)
    yield bench
    await bench.stop()


def undecided(scheduler: Scheduler) -> list[str]:
    """The gangs whose commits are being written."""
    assert scheduler._term is not None
    return [one.gang.name for one in scheduler._term.ledger.undecided.values()]


async def hung_repair(bench: Bench) -> tuple[Scheduler, Hangs]:
    """A gang of four nodes in leaf 0 has lost one; the page of leaf 1, where it goes, hangs."""
    hangs = Hangs(page_name("leaf-0-1", 0), "update")
    scheduler = await bench.start(answers=hangs)
    await bench.submit("g", 4)
    assert await bench.leaves("g") == [0]
    await bench.clock.advance(30)
    hangs.on = True
    bench.lose("n-0-0-0")
    await bench.clock.advance(60)
    assert hangs.count == 1
    return scheduler, hangs


async def test_places_kept_on_a_page_that_hangs_hold_up_nobody_else(bench: Bench) -> None:
    """A pod for another leaf starts in ten seconds, and one for its places waits for the page.

    Then the gang is in its places, and moves once more when it loses another node.
    """
    _, hangs = await hung_repair(bench)
    assert await is_bound_to(bench, "n-0-0-1")
    assert not await is_bound_to(bench, "n-0-1-1")
    assert await bench.places("g") == {}
    hangs.on = False
    hangs.go.set()
    await bench.clock.advance(5)
    assert await bench.leaves("g") == [1]
    assert len(await bench.places("g")) == 4
    assert await bench.open_relocations() == []
    bench.restore("n-0-0-0")
    await bench.clock.advance(30)
    bench.lose("n-0-1-0")
    await bench.clock.advance(60)
    assert await bench.leaves("g") == [0]


async def test_a_gang_that_is_being_seated_is_committed_once(bench: Bench) -> None:
    """Its page hangs for less than 5 s, so its places are kept, and pods come that have cycles run.

    Its devices have no numbers, so nothing but its commit says that they are given away.
    """
    await bench.config("{devices: {mode: count}}")
    hangs = Hangs(page_name("leaf-0-1", 0), "update")
    scheduler = await bench.start(answers=hangs)
    await bench.submit("g", 4)
    await bench.clock.advance(30)
    hangs.on = True
    bench.lose("n-0-0-0")
    while not hangs.count:
        await bench.clock.advance(0.25)
    for number in range(8):
        other = pod(f"other-{number}", 0, labels={"batch.kubernetes.io/job-name": "other"})
        await submit(bench.cluster, TEAM, [other])
        await bench.clock.advance(0.5)
        assert undecided(scheduler).count("g") == 1


async def test_a_gang_that_is_being_seated_is_planned_nowhere_else(bench: Bench) -> None:
    """Places were reserved for it; another scheduler takes one of them while its page hangs.

    The other leaf is free from then on. It waits for its page, or it would be in both.
    """
    await bench.config("{backfill: {afterSeconds: 5}}")
    hangs = Hangs("", "update")
    scheduler = await bench.start(answers=hangs)
    await bench.submit("a", 4)
    await bench.submit("b", 4)
    await bench.submit("big", 4)
    await bench.clock.advance(20)
    assert await bench.reservations() == [f"{TEAM}/big"]
    (body,) = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    nodes = sorted(seat.node for seat in read_relocation(body).seats)
    leaf = leaf_of(nodes[0])
    hangs.name, hangs.on = page_name(f"leaf-0-{leaf}", 0), True
    first, second = ("a", "b") if await bench.leaves("a") == [leaf] else ("b", "a")
    await bench.end(first)
    await bench.clock.advance(2)
    assert undecided(scheduler) == ["big"]
    labels = {"batch.kubernetes.io/job-name": "foreign"}
    foreign = pod("foreign", 8, "default-scheduler", labels=labels)
    foreign["spec"]["nodeName"] = nodes[0]
    await submit(bench.cluster, TEAM, [foreign])
    await bench.end(second)
    await bench.clock.advance(2)
    assert undecided(scheduler) == ["big"]
    assert await bench.places("big") == {}
    await bench.clock.advance(10)
    assert await bench.places("big") == {}
    told = (await bench.pods("big"))[0]["status"]["conditions"][0]["message"]
    assert "its places are being written down" in told


async def test_a_place_is_lent_to_none_while_its_gang_is_being_bound(bench: Bench) -> None:
    """Places are free before their start is due, and the page hangs as their gang takes them.

    Another scheduler takes one of them, so they do not fit any more: a gang that would end in time
    is put on none of the others.
    """
    await bench.config("{backfill: {afterSeconds: 5}}")
    hangs = Hangs("", "update")
    scheduler = await bench.start(answers=hangs)
    await bench.submit("a", 4, expected_duration="300s")
    await bench.submit("b", 4, expected_duration="400s")
    await bench.submit("big", 4)
    await bench.clock.advance(20)
    (body,) = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    one = read_relocation(body)
    assert one.starts > bench.clock.wall()
    nodes = sorted(seat.node for seat in one.seats)
    leaf = leaf_of(nodes[0])
    hangs.name, hangs.on = page_name(f"leaf-0-{leaf}", 0), True
    await bench.end("a" if await bench.leaves("a") == [leaf] else "b")
    while not hangs.count:
        await bench.clock.advance(0.05)
    labels = {"batch.kubernetes.io/job-name": "foreign"}
    foreign = pod("foreign", 8, "default-scheduler", labels=labels)
    foreign["spec"]["nodeName"] = nodes[0]
    await submit(bench.cluster, TEAM, [foreign])
    await bench.submit("short", 3, expected_duration="10s")
    await bench.clock.advance(1)
    assert undecided(scheduler) == ["big"]
    hangs.on = False
    hangs.go.set()
    await bench.clock.advance(3)
    taken = set((await bench.places("big")).values())
    assert taken.isdisjoint((await bench.places("short")).values())


class Denied:
    """Updates of one page are refused while it is `on`."""

    def __init__(self, name: str) -> None:
        self.name, self.on = name, False

    async def before(self, request: ApiRequest) -> None:
        """Refuse it."""
        if self.on and request.verb == "update" and request.target.name == self.name:
            raise Refused("a policy denies it", 403, "Forbidden")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_a_gang_whose_seat_was_refused_is_seated_later(bench: Bench) -> None:
    """The page of its places takes no writes for a minute: it has them a minute after that."""
    denied = Denied(page_name("leaf-0-1", 0))
    await bench.start(answers=denied)
    await bench.submit("g", 4)
    await bench.clock.advance(30)
    denied.on = True
    bench.lose("n-0-0-0")
    await bench.clock.advance(60)
    assert await bench.places("g") == {}
    assert await bench.open_relocations() == ["g"]
    denied.on = False
    await bench.clock.advance(60)
    assert await bench.leaves("g") == [1]


async def test_a_gang_that_starts_elsewhere_has_its_nodes_for_itself(bench: Bench) -> None:
    """A leaf is reserved for it; the other one comes free, and its page takes 2.5 s to be written.

    Who comes meanwhile is not put there beside it. Devices have no numbers, so nothing else would
    say that they are given away.
    """
    await bench.config("{devices: {mode: count}, backfill: {afterSeconds: 20}}")
    slow = SlowPage(bench.clock)
    await bench.start(answers=slow)
    for number in range(8):
        await bench.submit(f"s-{number}", 1)
    await bench.submit("big", 4)
    await bench.clock.advance(60)
    assert await bench.reservations() == ["ml/big"]
    leases = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    (record,) = map(read_relocation, leases)
    (reserved,) = {leaf_of(seat.node) for seat in record.seats}
    slow.name = page_name(f"leaf-0-{1 - reserved}", 0)
    for number in range(8):
        if await bench.leaves(f"s-{number}") == [1 - reserved]:
            await bench.end(f"s-{number}")
    for _ in range(200):
        if slow.begun:
            break
        await bench.clock.advance(0.05)
    await submit(
        bench.cluster, TEAM, [pod("new", 8, labels={"batch.kubernetes.io/job-name": "new"})]
    )
    await bench.clock.advance(30)
    assert await bench.leaves("big") == [1 - reserved]
    assert [body["spec"].get("nodeName") for body in await bench.pods("new")] == [None]
    # Nor is its own reservation given up as one whose gang has gone.
    assert await bench.events("RelocationGivenUp") == []


async def test_a_gang_that_starts_elsewhere_is_not_bound_to_its_reservation_too(
    bench: Bench,
) -> None:
    """The leaf that is reserved for it comes free while the page of the other one hangs."""
    await bench.config("{devices: {mode: count}, backfill: {afterSeconds: 20}}")
    hangs = Hangs("", "update")
    scheduler = await bench.start(answers=hangs)
    for number in range(8):
        await bench.submit(f"s-{number}", 1)
    await bench.submit("big", 4)
    await bench.clock.advance(60)
    (body,) = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    (reserved,) = {leaf_of(seat.node) for seat in read_relocation(body).seats}
    hangs.name, hangs.on = page_name(f"leaf-0-{1 - reserved}", 0), True
    small = {f"s-{number}": await bench.leaves(f"s-{number}") for number in range(8)}
    for name in (name for name, leaves in small.items() if leaves == [1 - reserved]):
        await bench.end(name)
    while not hangs.count:
        await bench.clock.advance(0.05)
    for name in (name for name, leaves in small.items() if leaves == [reserved]):
        await bench.end(name)
    for _ in range(10):
        assert undecided(scheduler).count("big") == 1
        await bench.clock.advance(0.25)
    hangs.on = False
    hangs.go.set()
    await bench.clock.advance(20)
    assert await bench.leaves("big") == [1 - reserved]


async def test_places_that_end_while_a_gang_is_bound_to_them_stay_its_own(bench: Bench) -> None:
    """One of its nodes is to be emptied while its page hangs, and so is the node of another gang.

    Its places are kept no longer, and its commit goes on: no pod is evicted to come to one of them.
    """
    await bench.config("{devices: {mode: count}, preemption: {afterSeconds: 1}}")
    await bench.classes(low=1, mid=10, high=10)
    hangs = Hangs("", "update")
    scheduler = await bench.start(answers=hangs)
    for name, size in (("fill", 4), ("m", 1), ("k", 1)):
        await bench.submit(name, size, priority="mid")
    await bench.submit("low", 2, priority="low")
    await bench.clock.advance(10)
    seats, uids = (await bench.places("low")).values(), await bench.uids("m")
    hangs.name, hangs.on = page_name(f"leaf-0-{leaf_of(min(seats))}", 0), True
    await bench.submit("high", 2, priority="high")
    while "high" not in undecided(scheduler):
        await bench.clock.advance(0.02)
    await bench.clock.advance(0.15)
    await drain(bench, min(seats))
    await drain(bench, (await bench.places("m"))[0])
    await bench.clock.advance(2.5)
    assert undecided(scheduler) == ["high"]
    hangs.on = False
    hangs.go.set()
    await bench.clock.advance(20)
    assert sorted((await bench.places("high")).values()) == sorted(seats)
    assert await bench.uids("m") == uids


class SlowPage:
    """The first write of a page takes 2.5 s, and counts once it has `begun`."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock, self.name, self.begun = clock, "", False

    async def before(self, request: ApiRequest) -> None:
        """Take a while."""
        is_it = (request.kind, request.verb) == (LEASES, "update")
        if is_it and self.name and request.target.name == self.name and not self.begun:
            self.begun = True
            await self.clock.sleep(2.5)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""
