"""Commits that overlap: each waits for its own records; none is taken for what was left over."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.ledger.free_devices import held_devices
from fourleaf.k8s_bridge.ledger.names import page_name
from tests.k8s_bridge.ledger.harness import Held, Leader, World, on
from tests.twins.virtual_clock import VirtualClock


@pytest.fixture
async def world() -> World:
    """Four leaves of four nodes."""
    return await World().start()


async def leader_with(world: World, held: Held) -> Leader:
    """A leader, one kind of whose requests is held."""
    leader = Leader(world, "a")
    await leader.take_over()
    leader.cluster.interceptors.append(held)
    return leader


async def test_a_page_that_is_being_written_takes_the_next_gang_after_it(world: World) -> None:
    """A second gang of the leaf waits for the first one's write, one of another leaf does not."""
    held = Held("update", "page-leaf-0-0")
    leader = await leader_with(world, held)
    first, second = await world.gang("first", on(0)[:2]), await world.gang("second", on(0)[2:])
    other = await world.gang("other", on(1))
    writing = asyncio.ensure_future(leader.commit(first))
    await held.met.wait()
    waiting = asyncio.ensure_future(leader.commit(second))
    assert (await leader.commit(other)).committed
    assert not writing.done()
    assert not waiting.done()
    held.go.set()
    assert (await writing).committed
    assert (await waiting).committed
    await leader.rest()
    world.check([first, second, other])


async def test_what_is_being_decided_is_not_cleared_away(world: World) -> None:
    """A prepared gang lease is withdrawn where it was left over, not between its two writes."""
    held = Held("update", "gang-wide")
    leader = await leader_with(world, held)
    wide = await world.gang("wide", on(0, 1))
    writing = asyncio.ensure_future(leader.commit(wide))
    await held.met.wait()
    await leader.keeping.run_once()
    await leader.keeping.sweep()
    held.go.set()
    assert (await writing).committed
    await leader.rest()
    world.check([wide])


async def test_the_sweep_leaves_a_gang_lease_to_who_writes_it(world: World) -> None:
    """Its answer is on its way: what a sweep reads now would be older than what is known then."""
    held = Held("create", "gang-wide", answers=True)
    leader = await leader_with(world, held)
    wide = await world.gang("wide", on(0, 1))
    writing = asyncio.ensure_future(leader.commit(wide))
    await held.met.wait()
    await leader.keeping.sweep()
    assert not list(leader.ledger.leases)
    held.go.set()
    assert (await writing).committed
    await leader.rest()
    world.check([wide])


async def test_devices_are_taken_before_the_page_says_so(world: World) -> None:
    """The eight devices of a node are held from the moment at which its page is being written."""
    held = Held("update", "page-leaf-0-0")
    leader = await leader_with(world, held)
    pods = world.true_pods
    one = await world.gang("one", on(0)[:1])
    assert held_devices(leader.ledger, pods, on(0)[:2]) == {on(0)[0]: set(), on(0)[1]: set()}
    writing = asyncio.ensure_future(leader.commit(one))
    await held.met.wait()
    taken = held_devices(leader.ledger, pods, on(0)[:2])
    assert taken == {on(0)[0]: set(range(8)), on(0)[1]: set()}
    held.go.set()
    await writing
    await leader.rest()


async def test_a_gang_lease_that_hangs_holds_up_no_other_gang_of_its_page(world: World) -> None:
    """A gang of one node shares a page with a wide one, whose lease is not answered about.

    It is bound after a second; the entries of the wide one come with its lease, and not before.
    """
    held = Held("create", "gang-wide")
    leader = await leader_with(world, held)
    clock = leader.committer.trials.clock
    assert isinstance(clock, VirtualClock)
    wide = await world.gang("wide", [*on(0), *on(1)[:3]])
    small = await world.gang("small", on(1)[3:])
    writing = asyncio.ensure_future(leader.commit(wide, small))
    await held.met.wait()
    await clock.advance(0.9)
    assert [one.gang for page in world.pages() for one in page.entries] == []
    await clock.advance(0.2)
    assert [one.gang for page in world.pages() for one in page.entries] == [small.gang]
    await leader.bindings()
    assert sum(bool(body["spec"].get("nodeName")) for body in world.pods()) == 1
    assert [one.gang for one in leader.ledger.undecided.values()] == [wide.gang]
    held.go.set()
    assert len((await writing).committed) == 2
    await leader.rest()
    world.check([wide, small])


async def test_a_page_is_written_once_for_gangs_whose_leases_come_at_once(world: World) -> None:
    """A wide gang of two leaves and a small one in the second: two pages, two writes."""
    leader = Leader(world, "a")
    await leader.take_over()
    writes: list[str] = []

    class Counts:
        async def before(self, request: ApiRequest) -> None:
            """Count the pages."""
            if request.verb == "update" and request.target.name.startswith("page-"):
                writes.append(request.target.name)

        async def after(self, request: ApiRequest, answer: Any) -> None:
            """Answers pass."""

    leader.cluster.interceptors.append(Counts())
    wide = await world.gang("wide", [*on(0), *on(1)[:3]])
    small = await world.gang("small", on(1)[3:])
    assert len((await leader.decide(wide, small)).committed) == 2
    assert sorted(writes) == [page_name("leaf-0-0", 0), page_name("leaf-0-1", 0)]
    await leader.rest()


async def test_a_gang_whose_node_moves_to_another_page_meanwhile_is_planned_again(
    world: World,
) -> None:
    """Its page lists the node no more once it may be written: the gang is dropped as a whole."""
    held = Held("create", "gang-wide")
    leader = await leader_with(world, held)
    wide = await world.gang("wide", on(0, 1))
    writing = asyncio.ensure_future(leader.commit(wide))
    await held.met.wait()
    moved = on(1)[:1]
    nodes = {"leaf-0-1": tuple(on(1)[1:]), "leaf-0-2": (*on(2), *moved)}
    pages = [replace(page, nodes=nodes.get(page.leaf, page.nodes)) for page in world.fabric_pages()]
    await leader.keeping.lay_out(pages)
    held.go.set()
    outcome = await writing
    assert [one.conflict for one in outcome.rejected] == [True]
    await leader.keeping.lay_out(world.fabric_pages())
    await leader.rest()
    world.check([wide])
