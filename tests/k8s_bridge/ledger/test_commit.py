"""A plan is bound gang by gang, each as a whole or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import DISRUPTION_BUDGETS, LEASES, NODES, PODS
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Target
from fourleaf.k8s_bridge.ledger import record_store
from fourleaf.k8s_bridge.ledger.epoch import Fenced
from fourleaf.k8s_bridge.ledger.formats.codec import gang_body, page_body, read_page
from fourleaf.k8s_bridge.ledger.names import FENCE, PAGES, page_name
from fourleaf.k8s_bridge.ledger.reconciler import ROLLBACK_WAIT_LIMIT_SECONDS
from fourleaf.k8s_bridge.ledger.records import GangLease, Page, Phase
from fourleaf.k8s_bridge.ledger.rollback import EVICTION_RETRY_SECONDS
from fourleaf.k8s_bridge.ledger.sealed import BadRecord
from tests.k8s_bridge.ledger.harness import (
    SYSTEM,
    TEAM,
    Death,
    Leader,
    World,
    annotation,
    on,
    target,
)


@pytest.fixture
async def world() -> World:
    """Four leaves of four nodes."""
    return await World().start()


async def test_narrow_and_wide_gangs_are_bound(world: World) -> None:
    """A gang in one leaf and one across two are bound; pages say so; no gang lease is left."""
    leader = await Leader(world, "a").take_over()
    narrow = await world.gang("narrow", on(0))
    wide = await world.gang("wide", on(1, 2))
    outcome = await leader.commit(narrow, wide)
    await leader.rest()
    assert len(outcome.committed) == 2
    world.check([narrow, wide])
    places = {body["metadata"]["name"]: body["spec"]["nodeName"] for body in world.pods()}
    assert places == {
        member.pod.name: member.node for one in (narrow, wide) for member in one.members
    }


async def test_writes_are_one_a_leaf_two_a_wide_gang_one_a_pod(world: World) -> None:
    """Three leaves, one wide gang and twelve pods take 3 + 2 + 12 writes until all are bound."""
    await Leader(world, "before").take_over()
    counted = Death(at=0)
    leader = await Leader(world, "a", counted).take_over()
    plan = [await world.gang("narrow", on(0)), await world.gang("wide", on(1, 2))]
    counted.writes.clear()
    await leader.commit(*plan)
    await leader.bindings()
    assert sorted(counted.writes) == sorted(
        [
            *["update leases/"] * 3,
            "create leases/",
            "update leases/",
            *["create pods/binding"] * 12,
        ]
    )


async def test_a_page_that_changed_drops_only_its_gangs(world: World) -> None:
    """Someone else writes one page: the wide gang on it is dropped whole, the other is bound."""
    leader = await Leader(world, "a").take_over()
    narrow = await world.gang("narrow", on(0))
    wide = await world.gang("wide", on(1, 2))
    page = next(page for page in world.pages() if page.leaf == "leaf-0-2")
    body = page_body(page, "stranger")
    body["metadata"]["annotations"]["note"] = "changed"
    await world.cluster.replace(
        LEASES, Target(SYSTEM, page_name(page.leaf, 0), "", page.version), body
    )
    outcome = await leader.commit(narrow, wide)
    await leader.rest()
    assert [str(one.gang) for one in outcome.rejected] == ["ml/wide"]
    assert outcome.rejected[0].conflict
    world.check([narrow, wide])
    again = await leader.commit(wide)
    await leader.rest()
    assert not again.rejected
    world.check([narrow, wide])


async def test_a_paused_leader_cannot_commit(world: World) -> None:
    """After a takeover the old leader's plan meets stale versions, and it learns that it lost."""
    old = await Leader(world, "old").take_over()
    gang = await world.gang("g", on(0))
    await Leader(world, "new").take_over()
    with pytest.raises(Fenced):
        await old.commit(gang)
    world.check([gang])
    assert not any(body["spec"].get("nodeName") for body in world.pods())


async def test_a_deleted_member_does_not_hold_up_the_others(world: World) -> None:
    """A pod that is deleted between commit and binding leaves; its replacement comes later."""
    leader = await Leader(world, "a").take_over()
    gang = await world.gang("g", on(0))
    await leader.decide(gang)
    await world.cluster.delete(PODS, gang.members[2].pod)
    await leader.rest()
    assert sum(bool(body["spec"].get("nodeName")) for body in world.pods()) == 3
    world.check()


async def test_a_dead_node_rolls_the_gang_back(world: World) -> None:
    """A node that dies between commit and binding: bound members are evicted, others fenced."""
    leader = await Leader(world, "a").take_over()
    gang = await world.gang("g", on(0, 1))
    outcome = await leader.decide(gang)
    world.true_pods.dead_nodes.add(gang.members[5].node)
    await leader.rest()
    assert len(leader.rolled) == 1
    assert "n-0-1-1 is not ready" in leader.rolled[0]
    assert [annotation(body, FENCE) for body in world.pods()] == list(outcome.committed)
    world.check([gang])


async def test_a_fenced_pod_refuses_the_old_binding(world: World) -> None:
    """The fence changes the version that a delayed binding carries."""
    leader = await Leader(world, "a").take_over()
    gang = await world.gang("g", on(0))
    await leader.decide(gang)
    world.true_pods.dead_nodes.add(gang.members[0].node)
    await leader.rest()
    fenced = next(body for body in world.pods() if annotation(body, FENCE))
    assert fenced["metadata"]["name"] == "g-0"
    assert target(fenced).version != gang.members[0].pod.version


async def test_a_pod_bound_by_another_rolls_the_gang_back(world: World) -> None:
    """Somebody binds a member elsewhere first: the rest must not run without it."""
    leader = await Leader(world, "a").take_over()
    gang = await world.gang("g", on(0))
    await leader.decide(gang)
    await world.cluster.bind(Binding(gang.members[1].pod, "n-0-3-3"))
    await leader.rest()
    assert "bound to n-0-3-3 by another" in leader.rolled[0]
    await leader.keeping.lay_out(world.fabric_pages())
    world.check()
    assert [body["spec"]["nodeName"] for body in world.pods() if body["spec"].get("nodeName")] == [
        "n-0-3-3"
    ]
    assert not [body for body in world.pods() if body["metadata"]["name"] == "g-0"]


async def test_a_budget_is_asked_again_and_not_stormed(world: World) -> None:
    """A budget keeps two running members of a gang that goes back: it is asked after 2 s."""
    counted = Death(at=0)
    leader = await Leader(world, "a", counted).take_over()
    gang = await world.gang("g", on(0))
    await leader.decide(gang)
    budget = {"metadata": {"name": "keep"}, "spec": {"maxUnavailable": 0, "selector": {}}}
    await world.cluster.create(DISRUPTION_BUDGETS, TEAM, budget)
    for member in gang.members[:2]:
        await world.cluster.bind(Binding(member.pod, member.node))
    world.kubelets.step()
    world.true_pods.dead_nodes.update(member.node for member in gang.members[2:])
    for _ in range(20):
        await leader.keeping.run_once()
        await leader.bindings()
    assert counted.writes.count("create pods/eviction") == 2
    world.clock.now += EVICTION_RETRY_SECONDS
    for _ in range(20):
        await leader.keeping.run_once()
    assert counted.writes.count("create pods/eviction") == 4
    await world.cluster.delete(DISRUPTION_BUDGETS, Target(TEAM, "keep"))
    world.clock.now += ROLLBACK_WAIT_LIMIT_SECONDS
    await leader.rest()
    world.check([gang])


async def test_a_gang_whose_record_could_not_say_that_it_goes_back_is_not_begun(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of a tenant's choice may fit the limit in one phase alone: nothing is written then."""

    def body(lease: GangLease, *rest: Any) -> Body:
        if lease.phase is Phase.ROLLING_BACK:
            raise BadRecord("it would hold 256,001 bytes")
        return gang_body(lease, *rest)

    monkeypatch.setattr(record_store, "gang_body", body)
    leader = await Leader(world, "a").take_over()
    outcome = await leader.commit(await world.gang("g", on(0, 1)))
    await leader.rest()
    assert [one.why for one in outcome.rejected] == [
        "its gang lease was not written: it would hold 256,001 bytes"
    ]
    assert world.gang_leases() == []
    world.check()


async def test_a_gang_whose_lease_is_refused_has_no_entry(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two gangs on one page, the wide one has no gang lease: the page lists the other alone."""
    leader = await Leader(world, "a").take_over()
    narrow = await world.gang("narrow", on(0)[:2])
    wide = await world.gang("wide", [*on(0)[2:], *on(1)[:2]])

    async def refused(_: GangLease) -> GangLease:
        raise Refused("a policy denies it", 403, "Forbidden")

    monkeypatch.setattr(leader.committer.records, "write_lease", refused)
    outcome = await leader.commit(narrow, wide)
    assert [str(one.gang) for one in outcome.rejected] == ["ml/wide"]
    listed = {str(entry.gang) for page in world.pages() for entry in page.entries}
    assert listed == {"ml/narrow"}
    await leader.rest()
    world.check([narrow])


async def test_a_rollback_is_told_once_it_is_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page may not be written for a minute after a node died: until then no one is told."""
    leader = await Leader(world, "a").take_over()
    gang = await world.gang("g", on(0))
    await leader.decide(gang)
    world.true_pods.dead_nodes.add(gang.members[0].node)
    write, is_refused = leader.keeping.records.write_page, True

    async def refused(page: Page) -> Page:
        if is_refused:
            raise Refused("a policy denies it", 403, "Forbidden")
        return await write(page)

    monkeypatch.setattr(leader.keeping.records, "write_page", refused)
    for _ in range(20):
        await leader.keeping.run_once()
        await leader.bindings()
    assert leader.rolled == []
    is_refused = False
    world.clock.now += 2 * ROLLBACK_WAIT_LIMIT_SECONDS
    await leader.rest()
    assert len(leader.rolled) == 1
    world.check([gang])


async def test_a_budget_that_never_allows_is_asked_twice_a_minute(world: World) -> None:
    """Of an hour: waits are of up to 60 s at random, 30 s on the average, so 120 times for a pod.

    Waits of 600 s at most would be some 17, and of 6 s at most some 1,000.
    """
    counted = Death(at=0)
    leader = await Leader(world, "a", counted).take_over()
    gang = await world.gang("g", on(0))
    await leader.decide(gang)
    budget = {"metadata": {"name": "keep"}, "spec": {"maxUnavailable": 0, "selector": {}}}
    await world.cluster.create(DISRUPTION_BUDGETS, TEAM, budget)
    await world.cluster.bind(Binding(gang.members[0].pod, gang.members[0].node))
    world.kubelets.step()
    world.true_pods.dead_nodes.update(member.node for member in gang.members[1:])
    for _ in range(3600):
        await leader.keeping.run_once()
        await leader.bindings()
        world.clock.now += 1
    assert 80 <= counted.writes.count("create pods/eviction") <= 180


async def test_what_ended_is_freed(world: World) -> None:
    """Finished and deleted pods leave the pages, and a relabelled node changes its page."""
    leader = await Leader(world, "a").take_over()
    gang = await world.gang("g", on(0))
    await leader.commit(gang)
    await leader.rest()
    world.kubelets.finish(TEAM, ["g-0", "g-1"])
    await world.cluster.delete(PODS, Target(TEAM, "g-2"))
    world.kubelets.step()
    for member in gang.members:
        leader.ledger.wake(member.pod.uid)
    await leader.rest()
    world.check()
    left = [m.pod.name for page in world.pages() for e in page.entries for m in e.members]
    assert left == ["g-3"]


async def test_a_relabelled_node_changes_its_page(world: World) -> None:
    """A node moves to the page of its new leaf together with the pod that runs on it."""
    leader = await Leader(world, "a").take_over()
    gang = await world.gang("g", on(0))
    await leader.commit(gang)
    await leader.rest()
    label = {"metadata": {"labels": {"fabric.topograph.run/tier-0": "leaf-0-3"}}}
    await world.cluster.patch(NODES, Target("", "n-0-0-1"), label)
    await leader.keeping.lay_out(world.fabric_pages())
    world.check([gang])
    owner = {node: page.leaf for page in world.pages() for node in page.nodes}
    assert owner["n-0-0-1"] == "leaf-0-3"
    holder = next(
        p for p in world.pages() if any(m.pod.name == "g-1" for e in p.entries for m in e.members)
    )
    assert holder.leaf == "leaf-0-3"


async def test_pages_survive_a_deletion_by_hand(world: World) -> None:
    """A page that somebody deletes is written again, with the pods that run there."""
    leader = await Leader(world, "a").take_over()
    gang = await world.gang("g", on(0))
    await leader.commit(gang)
    await leader.rest()
    await world.cluster.delete(LEASES, Target(SYSTEM, page_name("leaf-0-0", 0)))
    other = await Leader(world, "b").take_over()
    await other.rest()
    world.check([gang])


async def test_a_page_that_makes_no_sense_holds_its_leaf_back(world: World) -> None:
    """Nobody is placed on the nodes of an unreadable page, and the page is left as it is."""
    leader = await Leader(world, "a").take_over()
    name = page_name("leaf-0-0", 0)
    patch = {"metadata": {"annotations": {"alloc.gpu.scheduling/content": "{"}}}
    await world.cluster.patch(LEASES, Target(SYSTEM, name), patch)
    gang = await world.gang("g", on(0))
    other = await Leader(world, "b").take_over()
    outcome = await other.commit(gang)
    assert [one.why for one in outcome.rejected] == ["no page lists node n-0-0-0"]
    listing = await world.cluster.list(LEASES, SYSTEM, PAGES)
    unread = [one for one in listing.items if one["metadata"]["name"] == name]
    assert unread[0]["metadata"]["annotations"]["alloc.gpu.scheduling/content"] == "{"
    assert len([read_page(one) for one in listing.items if one not in unread]) == 3
    assert leader.ledger.page(name) is not None


async def test_a_gang_lease_that_makes_no_sense_stops_nobody(world: World) -> None:
    """A page points to an unreadable gang lease: the entry is void, and the leaf can be used."""
    first = await Leader(world, "a").take_over()
    wide = await world.gang("wide", on(0, 1))
    await first.decide(wide)
    lease = Target(SYSTEM, world.gang_leases()[0].name)
    spoilt = {"metadata": {"annotations": {"alloc.gpu.scheduling/content": "{"}}}
    await world.cluster.patch(LEASES, lease, spoilt)
    second = await Leader(world, "b").take_over()
    await second.rest()
    outcome = await second.commit(wide)
    await second.rest()
    assert not outcome.rejected
    assert all(body["spec"].get("nodeName") for body in world.pods())
