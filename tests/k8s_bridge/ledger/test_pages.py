"""Pages that come to the end of their room, and pages of leaves that are gone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused, Throttled
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.binding import Binder, Bound
from fourleaf.k8s_bridge.ledger.formats import codec
from fourleaf.k8s_bridge.ledger.formats.codec import (
    PAGE_RESERVE_BYTES,
    entry_size,
    page_body,
    room_on,
)
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.names import CONTENT, page_name
from fourleaf.k8s_bridge.ledger.page_layout import laid_out
from fourleaf.k8s_bridge.ledger.permanent_refusal import PERMANENT_AFTER_SECONDS
from fourleaf.k8s_bridge.ledger.record_store import Records
from fourleaf.k8s_bridge.ledger.records import Entry, Member, Page
from fourleaf.model.gang import GangKey
from fourleaf.model.readers import Source, read
from tests.k8s_bridge.ledger.harness import SYSTEM, TEAM, Leader, World, on

LONG = "g" * 250


@pytest.fixture
async def world() -> World:
    """Four leaves of four nodes."""
    return await World().start()


def entry(number: int, node: str, name: str = LONG) -> Entry:
    """A gang of one pod with that name."""
    pod = Target(TEAM, name, f"{number:036}", "1000")
    return Entry(f"{number:012}", GangKey(TEAM, name), (Member(pod, node),))


def test_room_is_what_is_left_of_the_largest_record() -> None:
    """An entry takes from the room of a page exactly what it adds to its Lease."""
    page = Page("l", 0, ("n",), (entry(1, "n"),))
    more = entry(2, "n")
    longer = page.with_entries((*page.entries, more))
    assert room_on(page) - room_on(longer) == entry_size(more)
    content = page_body(page, "w")["metadata"]["annotations"][CONTENT]
    assert room_on(page) == codec.RECORD_LIMIT_BYTES - PAGE_RESERVE_BYTES - len(content)


async def test_what_no_longer_fits_is_dropped_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three gangs on one leaf, whose page has room for one, one is bound and two are not."""
    leader = await Leader(world, "a").take_over()
    plan = [await world.gang(f"one-{i}", [on(0)[i]]) for i in range(3)]
    page = next(page for page in leader.ledger.pages if page.leaf == "leaf-0-0")
    size = entry_size(Entry("c" * 12, plan[0].gang, plan[0].members))
    left = room_on(page) - size - size // 2
    monkeypatch.setattr(codec, "RECORD_LIMIT_BYTES", codec.RECORD_LIMIT_BYTES - left)
    outcome = await leader.commit(*plan)
    await leader.rest()
    assert [str(one.gang) for one in outcome.rejected] == ["ml/one-1", "ml/one-2"]
    assert all("is full" in one.why for one in outcome.rejected)
    world.check(plan)


async def test_a_leaf_whose_pods_have_long_names_gets_more_pages(world: World) -> None:
    """At 400 bytes a pod four nodes of 110 pods fit on a page; at 800 bytes two do."""
    objects = [{"apiVersion": "v1", "kind": "Node", **body} for body in world.records_of(NODES)]
    fabric = read([Source("world", objects=objects)]).snapshot.fabric
    leaf = fabric.leaves[0]
    assert {node.allocatable.pods for node in leaf.nodes} == {110}
    names = tuple(node.name for node in leaf.nodes)
    ledger = Ledger()
    ledger.put_page(Page(leaf.name, 0, names, tuple(entry(i, names[0]) for i in range(63))))
    assert [page.nodes for page in laid_out(fabric, ledger) if page.leaf == leaf.name] == [names]
    ledger.put_page(Page(leaf.name, 0, names, tuple(entry(i, names[0]) for i in range(64))))
    halves = [names[:2], names[2:]]
    assert [page.nodes for page in laid_out(fabric, ledger) if page.leaf == leaf.name] == halves
    short = tuple(entry(i, names[0], "short") for i in range(64))
    ledger.put_page(Page(leaf.name, 0, names, short))
    assert [page.nodes for page in laid_out(fabric, ledger) if page.leaf == leaf.name] == [names]


async def test_the_page_of_a_leaf_that_is_gone_is_deleted_once_it_holds_nothing(
    world: World,
) -> None:
    """Its nodes are gone: it stays while a pod of ours is left there, and goes after that."""
    leader = await Leader(world, "a").take_over()
    gang = await world.gang("g", on(0)[:1])
    await leader.commit(gang)
    await leader.rest()
    for node in on(0):
        await world.cluster.delete(NODES, Target("", node))
    await leader.keeping.lay_out(world.fabric_pages())
    assert [page.nodes for page in world.pages() if page.leaf == "leaf-0-0"] == [(on(0)[0],)]
    pod = gang.members[0].pod
    ended = {"status": {"phase": "Succeeded"}}
    await world.cluster.patch(PODS, Target(pod.namespace, pod.name), ended, "status")
    leader.ledger.wake(pod.uid)
    await leader.rest()
    await leader.keeping.lay_out(world.fabric_pages())
    assert [page.leaf for page in world.pages()] == ["leaf-0-1", "leaf-0-2", "leaf-0-3"]


class Forbidding:
    """Forbids bindings until a moment of the clock."""

    def __init__(self, world: World, until: float) -> None:
        self.world = world
        self.until = until

    async def before(self, request: ApiRequest) -> None:
        """Forbid."""
        if request.subresource == "binding" and self.world.clock.now < self.until:
            raise Refused("forbidden", 403, "Forbidden")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Nothing."""


@pytest.mark.parametrize(
    ("seconds", "result"),
    [(PERMANENT_AFTER_SECONDS / 2, Bound.BOUND), (2 * PERMANENT_AFTER_SECONDS, Bound.IMPOSSIBLE)],
)
async def test_what_is_forbidden_for_a_moment_is_not_forbidden_for_good(
    world: World, seconds: float, result: Bound
) -> None:
    """A server that forbids for 2.5 s costs time; one that does for 10 s ends the commit."""
    gang = await world.gang("g", on(0)[:1])
    cluster = world.cluster.client("a", Forbidding(world, world.clock.now + seconds))

    async def stands() -> bool:
        return True

    answer = await Binder(cluster, world.true_pods, world.clock).bind("c", gang.members[0], stands)
    assert answer.result is result


class NoReads:
    """Reads of Leases are forbidden up to some time, and put off now and then."""

    def __init__(self, world: World, until: float, put_off_every: int = 0) -> None:
        self.world = world
        self.until = until
        self.put_off_every = put_off_every
        self.count = 0

    async def before(self, request: ApiRequest) -> None:
        """Forbid it."""
        if request.verb == "get" and self.world.clock.now < self.until:
            self.count += 1
            if self.put_off_every and self.count % self.put_off_every == 0:
                raise Throttled("too many requests", 429, "TooManyRequests")
            raise Refused("forbidden", 403, "Forbidden")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_a_read_that_is_forbidden_for_a_moment_is_repeated(world: World) -> None:
    """A server that forbids for 2.5 s answers in the end; one that does for 10 s has refused."""
    await Leader(world, "a").take_over()
    name = page_name("leaf-0-0", 0)

    def records(seconds: float) -> Records:
        forbidding = NoReads(world, world.clock.now + seconds)
        return Records(world.cluster.client("b", forbidding), SYSTEM, "b", world.clock)

    body = await records(PERMANENT_AFTER_SECONDS / 2).read(name)
    assert body is not None
    assert body["metadata"]["name"] == name
    with pytest.raises(Refused):
        await records(2 * PERMANENT_AFTER_SECONDS).read(name)


async def test_a_read_that_is_forbidden_and_put_off_in_turn_is_refused(world: World) -> None:
    """A 429 says nothing of it: half a minute of such answers is no moment that passes."""
    forbidding = NoReads(world, world.clock.now + 900, put_off_every=2)
    records = Records(world.cluster.client("b", forbidding), SYSTEM, "b", world.clock)
    began = world.clock.now
    with pytest.raises(Refused):
        await records.read(page_name("leaf-0-0", 0))
    assert world.clock.now < began + 30


async def test_a_page_that_has_changed_since_it_was_laid_out_is_laid_out_again(
    world: World,
) -> None:
    """It took a gang in between: what was made of the page before is not written, nor done."""
    leader = await Leader(world, "a").take_over()
    name = page_name("leaf-0-0", 0)
    before = leader.ledger.page(name)
    assert before is not None
    one = await world.gang("one", on(0)[:1])
    await leader.commit(one)
    laid = replace(before, nodes=(*before.nodes, "n-new"))
    assert not await leader.keeping._if_free(leader.keeping._put, laid)
    now = leader.ledger.page(name)
    assert now is not None
    assert await leader.keeping._if_free(leader.keeping._put, replace(now, nodes=laid.nodes))
    await leader.rest()
    world.check([one])


async def test_what_is_to_be_deleted_is_looked_at_again(world: World) -> None:
    """A gang lease that is committed, and whose gang is not bound, stays when its turn comes."""
    leader = await Leader(world, "a").take_over()
    wide = await world.gang("wide", on(0, 1))
    (commit,) = (await leader.decide(wide)).committed
    await leader.keeping._delete(commit)
    assert [one.commit for one in world.gang_leases()] == [commit]
    await leader.rest()
    world.check([wide])
