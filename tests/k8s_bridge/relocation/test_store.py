"""The shelf of relocations when another leads by now, or writes meet what they did not expect."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, Conflict, Refused
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.epoch import Fenced
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.names import page_name
from fourleaf.k8s_bridge.ledger.record_store import Records
from fourleaf.k8s_bridge.ledger.records import Page
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, relocation_name
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.model.gang import GangKey
from tests.k8s_bridge.ledger.harness import SYSTEM, InstantClock

FIRST, SECOND = GangKey("ml", "first"), GangKey("ml", "second")


def relocation(gang: GangKey) -> Relocation:
    """One without seats or leavers."""
    return Relocation(gang, Purpose.REPAIR, (), ())


def stored(records: Records, ledger: Ledger, epoch: int, clock: InstantClock) -> RelocationStore:
    """A store whose writes run beside the test."""
    return RelocationStore(records, ledger, epoch, clock, asyncio.ensure_future, lambda: None)


class Answers:
    """Fails the first update with `error`, and says what was written."""

    def __init__(self, error: ClusterError | None = None) -> None:
        self.error = error
        self.written: list[str] = []

    async def before(self, request: ApiRequest) -> None:
        """Fail once."""
        if request.verb == "update" and self.error is not None:
            error, self.error = self.error, None
            raise error

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Note a write."""
        if request.writes:
            self.written.append(request.target.name)


class World:
    """One page in a store, and leaders of any epoch."""

    def __init__(self) -> None:
        self.cluster = MemoryCluster(clock=InstantClock())

    async def store(self, epoch: int, answers: Answers | None = None) -> RelocationStore:
        """That of a leader that has just written the page."""
        cluster = self.cluster.client(f"leader-{epoch}", *([answers] if answers else []))
        records, ledger = Records(cluster, SYSTEM, f"leader-{epoch}", InstantClock()), Ledger()
        found = (await self.cluster.list(LEASES, SYSTEM, "alloc.gpu.scheduling/record=page")).items
        version = found[0]["metadata"]["resourceVersion"] if found else ""
        if answers is not None:
            error, answers.error = answers.error, None
        ledger.put_page(await records.write_page(Page("leaf", 0, ("n",), (), epoch, version)))
        if answers is not None:
            answers.error, answers.written = error, []
        return stored(records, ledger, epoch, InstantClock())

    async def epochs(self) -> list[int]:
        """Those of all relocations."""
        found = (await self.cluster.list(LEASES, SYSTEM, RELOCATIONS)).items
        return [body["spec"]["leaseTransitions"] for body in found]


@pytest.fixture
def world() -> World:
    """An empty one."""
    return World()


async def test_a_replaced_leader_evicts_nobody(world: World) -> None:
    """The page says that another leads: whoever looks before an eviction stops there."""
    old, new = await world.store(1), await world.store(2)
    await new.take_over()
    assert await old.put(relocation(FIRST))
    await new.check_lead()
    with pytest.raises(Fenced):
        await old.check_lead()


async def test_a_page_made_behind_a_successors_back_says_nothing_of_it(world: World) -> None:
    """It is new, and has the epoch of the replaced leader: the other page is asked, or none is."""
    old = await world.store(1)
    await world.store(2)
    fresh = await old.records.write_page(Page("fresh", 0, (), (), 1))
    known, old.ledger = old.ledger, Ledger()
    for page in (fresh, *known.pages):
        old.ledger.founded = {page_name("fresh", 0)}
        old.ledger.put_page(page)
        with pytest.raises(Ambiguous if page is fresh else Fenced):
            await old.check_lead()


async def test_pages_that_are_all_gone_say_nothing(world: World) -> None:
    """The one that has deleted them may lead."""
    old = await world.store(1)
    for page in old.ledger.pages:
        await world.cluster.delete(LEASES, Target(SYSTEM, page_name(page.leaf, page.part)))
    with pytest.raises(Ambiguous, match="gone"):
        await old.check_lead()


async def test_a_sweep_deletes_what_came_late(world: World) -> None:
    """The record of the replaced leader is there until the next sweep, and not after it."""
    old, new = await world.store(1), await world.store(2)
    await new.take_over()
    assert await new.put(relocation(SECOND))
    assert await old.put(relocation(FIRST))
    assert sorted(await world.epochs()) == [1, 2]
    await new.sweep()
    assert await world.epochs() == [2]
    assert SECOND in new


async def test_a_sweep_tells_a_replaced_leader_that_it_is_one(world: World) -> None:
    """Its relocation stands, written by its successor: until then it goes on keeping the places."""
    old, new = await world.store(1), await world.store(2)
    assert await old.put(relocation(FIRST))
    await old.sweep()
    await new.take_over()
    assert FIRST in old
    with pytest.raises(Fenced):
        await old.sweep()


@pytest.mark.parametrize("error", [Conflict("try again", 409), Refused("no", 422)])
async def test_what_was_under_way_is_kept_where_it_cannot_be_claimed(
    world: World, error: ClusterError
) -> None:
    """A takeover that meets a conflict or a refusal loses no place that somebody waits for."""
    old = await world.store(1)
    assert await old.put(relocation(FIRST))
    new = await world.store(2, Answers(error))
    await new.take_over()
    assert FIRST in new
    assert await world.epochs() == [2 if isinstance(error, Conflict) else 1]
    assert await new.drop(FIRST)
    assert not await world.epochs()


async def test_all_are_drafted_before_the_first_is_written(world: World) -> None:
    """Drafts name pods as they are now; while one is written, others may take their names."""
    answers = Answers()
    store = await world.store(1, answers)
    written_before = []

    def drafts() -> Iterator[Relocation]:
        for gang in (FIRST, SECOND):
            written_before.append(len(answers.written))
            yield relocation(gang)

    assert len(await store.put_all(drafts())) == 2
    assert written_before == [0, 0]
    assert len(answers.written) == 2


class NoDeletes:
    """An API that deletes nothing; `count` says how often it was asked."""

    count = 0

    async def before(self, request: ApiRequest) -> None:
        """Refuse it."""
        if request.verb == "delete":
            self.count += 1
            raise Refused("a policy: keep it", 403)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_what_cannot_be_deleted_is_tried_every_half_minute(world: World) -> None:
    """However often it was refused: places that nobody needs are free soon after it may go."""
    store, api, clock = await world.store(1), NoDeletes(), InstantClock()
    cluster = world.cluster.client("leader-1", api)
    records = Records(cluster, SYSTEM, "leader-1", clock)
    mine = stored(records, store.ledger, 1, clock)
    assert await mine.put(relocation(FIRST))
    for _ in range(20):
        assert not await mine.drop(FIRST)
        clock.now += 30.1
    assert api.count == 20


async def test_a_gang_whose_relocation_has_the_same_name(world: World) -> None:
    """Its record is none of the other gang's, which waits until that has ended and not for ever."""
    stem = "llama-pretrain-on-the-whole-cluster-seve"
    theirs, ours = GangKey("other", f"{stem}1911b8"), GangKey("ml", f"{stem}b85cb")
    assert relocation_name(theirs) == relocation_name(ours)
    store = await world.store(1)
    assert await store.put(relocation(theirs))
    assert not await store.put(relocation(ours))
    assert [one.gang for one in store] == [theirs]
    assert await store.drop(theirs)
    assert await store.put(relocation(ours))
