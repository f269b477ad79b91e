"""Records of several formats side by side: nobody loses, frees or touches what it cannot read."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.cluster.kinds import LEASES, NODES
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.commit import CommitRequest
from fourleaf.k8s_bridge.ledger.epoch import Fenced
from fourleaf.k8s_bridge.ledger.formats.codec import gang_body, page_body, read_gang
from fourleaf.k8s_bridge.ledger.names import ABOUT, FORMAT, GANG, PAGE, page_name
from fourleaf.k8s_bridge.ledger.record_store import Formats
from fourleaf.k8s_bridge.ledger.records import Phase
from tests.k8s_bridge.ledger.harness import SYSTEM, Death, Killed, Leader, World, on

OLD = Formats(known=(1,))
NEW = Formats()
RAISED = Formats(configured=lambda: 2)
TOUCHED = 40
"""Writes after which every leader of these tests is done."""


@pytest.fixture
async def world() -> World:
    """Four leaves of four nodes."""
    return await World().start()


def formats_of(world: World) -> dict[str, str]:
    """Name -> format of every record."""
    every = [*world.leases(PAGE), *world.leases(GANG)]
    return {
        body["metadata"]["name"]: body["metadata"]["annotations"].get(FORMAT, "1") for body in every
    }


def sealed_to_old(world: World) -> dict[str, Body]:
    """The records that the old version cannot read, as they stand."""
    every = [*world.leases(PAGE), *world.leases(GANG)]
    return {
        body["metadata"]["name"]: body
        for body in every
        if FORMAT in body["metadata"]["annotations"]
    }


async def rewritten(world: World, body: Body) -> None:
    """Write a Lease as `body` says, at the version that it says."""
    metadata = body["metadata"]
    target = Target(SYSTEM, metadata["name"], "", metadata["resourceVersion"])
    await world.cluster.replace(LEASES, target, body)


async def raised(world: World, leaf: str) -> None:
    """Somebody writes the page of a leaf in format 2, and changes nothing else."""
    page = next(one for one in world.pages() if one.leaf == leaf)
    await rewritten(world, page_body(replace(page, format=2), "newer"))


async def reign(leader: Leader, *plan: CommitRequest) -> None:
    """Lead for a while: commit, bind, tidy, look again; whatever is sealed stays open."""
    await leader.take_over()
    await leader.commit(*plan)
    for _ in range(5):
        await leader.bindings()
        leader.world.kubelets.step()
        await leader.keeping.run_once()
    await leader.keeping.sweep()
    await leader.keeping.lay_out(leader.world.fabric_pages())


async def test_upgrade_and_rollback_step_by_step(world: World) -> None:
    """Old, new, raised, lowered, old again: each finds what was there and goes on with it."""
    gangs = [await world.gang(f"g{i}", on(i)) for i in range(4)]
    for number, formats in enumerate((OLD, NEW, RAISED)):
        leader = await Leader(world, f"l{number}", None, formats).take_over()
        await leader.commit(gangs[number])
        await leader.rest()
        await leader.keeping.convert()
        world.check(gangs)
        assert set(formats_of(world).values()) == {str(formats.written)}
    lowered = await Leader(world, "lowered", None, NEW).take_over()
    await lowered.rest()
    assert set(formats_of(world).values()) == {"1"}
    last = await Leader(world, "last", None, OLD).take_over()
    await last.commit(gangs[3])
    await last.rest()
    world.check(gangs)
    assert all(body["spec"].get("nodeName") for body in world.pods())


async def test_records_follow_a_change_of_mind(world: World) -> None:
    """One leader rewrites all records as the wish changes, while a wide commit is under way."""
    wish = [1]
    leader = await Leader(world, "a", None, Formats(configured=lambda: wish[0])).take_over()
    wide = await world.gang("wide", on(0, 1))
    await leader.decide(wide)
    for number in (2, 1, 2):
        wish[0] = number
        await leader.keeping.convert()
        assert set(formats_of(world).values()) == {str(number)}
    await leader.rest()
    world.check([wide])
    assert all(body["spec"].get("nodeName") for body in world.pods())


@pytest.mark.parametrize("after", [False, True])
async def test_killed_while_it_raises_and_followed_by_the_old(after: bool) -> None:
    """At every write: the old one changes no record of format 2, and the next new one ends it all.

    The old one is asked to place a gang on the last leaf meanwhile; it does, or refuses whole.
    """
    refused = placed = 0
    for at in range(1, TOUCHED):
        world = await World().start()
        plan = [await world.gang("wide", on(0, 1)), await world.gang("narrow", on(2))]
        last = await world.gang("last", on(3))
        victim = Leader(world, "victim", Death(at, after), RAISED)
        with contextlib.suppress(Killed):
            await victim.take_over()
            await victim.commit(*plan)
            await victim.rest()
        await victim.stop()
        before = sealed_to_old(world)
        old = Leader(world, "old", None, OLD)
        await reign(old, last)
        assert sealed_to_old(world) == before
        heir = await Leader(world, "heir", None, NEW).take_over()
        await heir.rest()
        world.check([*plan, last])
        unbound = [one for one in (*plan, last) if not bound(world, one)]
        placed, refused = placed + (last not in unbound), refused + (last in unbound)
        await heir.commit(*unbound)
        await heir.rest()
        world.check([*plan, last])
        assert all(body["spec"].get("nodeName") for body in world.pods())
    assert placed
    assert refused


async def test_a_sealed_gang_lease_keeps_its_entries(world: World) -> None:
    """Its pages can be read, the record that decides cannot: nothing of it is void, or bound."""
    leader = await Leader(world, "a", None, NEW).take_over()
    wide = await world.gang("wide", on(0, 1))
    await leader.decide(wide)
    (body,) = world.leases(GANG)
    await rewritten(world, gang_body(replace(read_gang(body), format=2), "newer"))
    old = Leader(world, "old", None, OLD)
    await reign(old)
    held = [entry.gang for page in world.pages() for entry in page.entries]
    assert held == [wide.gang, wide.gang]
    assert not any(body["spec"].get("nodeName") for body in world.pods())
    assert old.ledger.sealed_gangs == {wide.gang}
    (commit,) = old.ledger.commits()
    assert commit.phase is Phase.COMMITTED
    heir = await Leader(world, "heir", None, NEW).take_over()
    await heir.rest()
    world.check([wide])
    assert all(body["spec"].get("nodeName") for body in world.pods())


async def test_a_sealed_page_holds_up_the_rest_of_its_gang(world: World) -> None:
    """The gang lease can be read, one of its pages cannot: it is neither bound nor dropped."""
    leader = await Leader(world, "a", None, NEW).take_over()
    wide = await world.gang("wide", on(0, 1))
    await leader.decide(wide)
    await raised(world, "leaf-0-1")
    old = Leader(world, "old", None, OLD)
    await reign(old)
    assert len(world.gang_leases()) == 1
    assert not any(body["spec"].get("nodeName") for body in world.pods())
    assert old.ledger.sealed_gangs == {wide.gang}
    heir = await Leader(world, "heir", None, NEW).take_over()
    await heir.rest()
    world.check([wide])


async def test_nothing_is_committed_on_a_sealed_page(world: World) -> None:
    """A gang for its nodes is refused, and told so; no gang lease is left behind."""
    await Leader(world, "a", None, NEW).take_over()
    await raised(world, "leaf-0-1")
    old = await Leader(world, "old", None, OLD).take_over()
    wide, free = await world.gang("wide", on(0, 1)), await world.gang("free", on(2))
    outcome = await old.commit(wide, free)
    await old.rest()
    name = page_name("leaf-0-1", 0)
    assert [(one.gang, one.why) for one in outcome.rejected] == [
        (wide.gang, f"page {name} cannot be read by this version")
    ]
    assert not outcome.rejected[0].conflict
    world.check([wide, free])
    assert old.ledger.sealed.nodes == set(on(1))


async def test_a_node_of_a_sealed_page_is_taken_up_by_no_other(world: World) -> None:
    """It is relabelled to another leaf; the page that lists it cannot let go of it."""
    await Leader(world, "a", None, NEW).take_over()
    await raised(world, "leaf-0-1")
    old = await Leader(world, "old", None, OLD).take_over()
    await _moved(world, "n-0-1-0", "n-0-2-0")
    await old.keeping.lay_out(world.fabric_pages())
    assert [page.leaf for page in world.pages() if "n-0-1-0" in page.nodes] == ["leaf-0-1"]
    heir = await Leader(world, "heir", None, NEW).take_over()
    assert [page.leaf for page in world.pages() if "n-0-1-0" in page.nodes] == ["leaf-0-2"]
    await heir.rest()


async def test_no_page_takes_up_nodes_while_one_says_nothing(world: World) -> None:
    """A page of an unknown format without an envelope may list any node."""
    await Leader(world, "a", None, NEW).take_over()
    name = page_name("leaf-0-1", 0)
    await _said(world, name, {FORMAT: "4", ABOUT: "?"})
    leader = await Leader(world, "b", None, NEW).take_over()
    await _moved(world, "n-0-1-0", "n-0-2-0")
    await leader.keeping.lay_out(world.fabric_pages())
    readable = [body for body in world.leases(PAGE) if body["metadata"]["name"] != name]
    listed = [node for body in readable for node in leader.records.page(body).nodes]
    assert sorted(listed) == sorted(on(0, 2, 3))


@pytest.mark.parametrize(
    "change", [{FORMAT: "4"}, {FORMAT: "3"}, {"alloc.gpu.scheduling/content": "{"}]
)
async def test_the_newest_version_meets_what_it_cannot_read(
    world: World, change: dict[str, str]
) -> None:
    """Format 4, or a known one with nonsense in it, is left alone for what its envelope says."""
    leader = await Leader(world, "a", None, RAISED).take_over()
    gang = await world.gang("g", on(1))
    await leader.commit(gang)
    await leader.rest()
    name = page_name("leaf-0-1", 0)
    await _said(world, name, change)
    before = _lease(world, name)
    other = Leader(world, "b", None, RAISED)
    await reign(other)
    assert _lease(world, name) == before
    assert other.ledger.sealed_gangs == {gang.gang}
    assert other.ledger.sealed.nodes == set(on(1))


async def test_epochs_rise_above_sealed_records(world: World) -> None:
    """A leader that can read nothing leads in a higher epoch all the same."""
    first = await Leader(world, "a", None, RAISED).take_over()
    old = await Leader(world, "old", None, OLD).take_over()
    assert old.epoch > first.epoch


async def test_a_replaced_leader_learns_it_from_a_sealed_record(world: World) -> None:
    """An old leader that stood still meets format 2 of a later epoch, and stops."""
    old = await Leader(world, "old", None, OLD).take_over()
    gang = await world.gang("g", on(0))
    await Leader(world, "new", None, RAISED).take_over()
    with pytest.raises(Fenced):
        await old.commit(gang)
    world.check([gang])


async def test_sealed_records_that_can_be_read_again_are_taken_up(world: World) -> None:
    """Somebody converts them while the old one leads: it notices, and uses the leaf."""
    await Leader(world, "a", None, NEW).take_over()
    await raised(world, "leaf-0-1")
    old = await Leader(world, "old", None, OLD).take_over()
    page = next(one for one in world.pages() if one.leaf == "leaf-0-1")
    await rewritten(world, page_body(replace(page, format=1), "newer"))
    await old.keeping.sweep()
    gang = await world.gang("g", on(1))
    await old.commit(gang)
    await old.rest()
    assert not old.ledger.sealed
    world.check([gang])


def bound(world: World, wanted: CommitRequest) -> bool:
    """Whether all its members stand somewhere."""
    seen = [world.true_pods.seen(member.pod.uid) for member in wanted.members]
    return all(one is not None and one.node for one in seen)


def _lease(world: World, name: str) -> Body:
    return next(body for body in world.leases(PAGE) if body["metadata"]["name"] == name)


async def _said(world: World, name: str, annotations: dict[str, str]) -> None:
    patch = {"metadata": {"annotations": annotations}}
    await world.cluster.patch(LEASES, Target(SYSTEM, name), patch)


async def _moved(world: World, node: str, beside: str) -> None:
    """Relabel a node to the leaf of another."""
    bodies = {body["metadata"]["name"]: body for body in world.records_of(NODES)}
    labels = bodies[beside]["metadata"]["labels"]
    kept = bodies[node]["metadata"]["labels"]
    same = {key: labels[key] for key in kept if key != "kubernetes.io/hostname"}
    await world.cluster.patch(NODES, Target("", node), {"metadata": {"labels": same}})
