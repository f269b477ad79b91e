"""Nodes die under gangs of Jobs: the whole scheduler on the twin, in virtual time.

The fabric is one spine of 4 leaves of 4 nodes, `n-0-LEAF-NODE`. Kubelets beat every 10 s, and
20 s of silence make a node dead, so 30 s are enough for everything.
"""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.errors import Throttled
from fourleaf.k8s_bridge.cluster.kinds import (
    CONFIG_MAPS,
    DISRUPTION_BUDGETS,
    EVENTS,
    LEASES,
    NODES,
    PODS,
)
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS
from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.k8s_bridge.relocation.bench import TEAM, Bench, leaf_of


async def test_a_lost_member_comes_back_in_the_same_leaf(bench: Bench) -> None:
    """A gang of 2 loses a node; 2 more are free in the leaf. One pod is new, the other stays."""
    await bench.submit("g", 2)
    before, uids = await bench.places("g"), await bench.uids("g")
    bench.lose(before[1])
    await bench.clock.advance(30)
    after = await bench.places("g")
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert leaf_of(after[1]) == leaf_of(before[0])
    assert (await bench.uids("g"))[0] == uids[0]
    assert not (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items


async def ending_at_once(is_set: bool, leaves: int = 4) -> Bench:
    """A cluster whose config says whether lost pods end at once."""
    bench = Bench(1, leaves)
    spec = f"spec: {{repair: {{endLostPodsAtOnce: {str(is_set).lower()}}}}}"
    text = f"apiVersion: {API_VERSION}\nkind: SchedulerConfig\n{spec}\n"
    body: Body = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": text}}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", body)
    await bench.start()
    return bench


@pytest.mark.parametrize("is_set", [False, True])
async def test_a_lost_pod_is_gone_at_once_where_the_config_says_so(is_set: bool) -> None:
    """Else it stays, terminating, for its kubelet ends nothing."""
    bench = await ending_at_once(is_set)
    await bench.submit("g", 2)
    bench.lose((await bench.places("g"))[1])
    await bench.clock.advance(30)
    assert len(await bench.places("g")) == 2
    assert len(await bench.dying("g")) == (not is_set)
    await bench.stop()


async def test_pods_that_live_have_their_time() -> None:
    """A gang of 8 loses a node: the lost pod is gone, three that move may write what they have."""
    bench = await ending_at_once(True)
    await bench.submit("g", 8)
    before = await bench.places("g")
    bench.kubelets.silent |= set(before.values())
    bench.lose(before[0])
    await bench.clock.advance(30)
    moving = {name for name in before.values() if leaf_of(name) == leaf_of(before[0])}
    assert len(await bench.dying("g")) == len(moving) - 1
    await bench.stop()


@pytest.mark.parametrize("is_set", [False, True])
async def test_who_was_to_end_on_a_node_that_dies_after_that(is_set: bool) -> None:
    """Three members move as living ones, and their nodes die too: no kubelet ends them.

    A StatefulSet makes no others before they are gone.
    """
    bench = await ending_at_once(is_set)
    await bench.submit("g", 8)
    before = await bench.places("g")
    leaf = [name for name in before.values() if leaf_of(name) == leaf_of(before[0])]
    bench.kubelets.silent |= set(leaf)
    bench.lose(before[0])
    await bench.clock.advance(25)
    bench.lose(*leaf)
    await bench.clock.advance(25)
    assert len(await bench.dying("g")) == (0 if is_set else len(leaf))
    await bench.stop()


async def test_next_door_half_a_gang_of_8_moves(bench: Bench) -> None:
    """On leaves 0 and 1 of which 0 loses a node, 1 and 2 are next: 3 pods move, 1 is new."""
    await bench.submit("g", 8)
    before, uids = await bench.places("g"), await bench.uids("g")
    assert await bench.leaves("g") == [0, 1]
    bench.lose("n-0-0-2")
    await bench.clock.advance(62)
    after, now = await bench.places("g"), await bench.uids("g")
    assert await bench.leaves("g") == [1, 2]
    assert len(set(after.values())) == 8
    stayed = {index for index in before if now[index] == uids[index]}
    assert stayed == {index for index, node in before.items() if leaf_of(node) == 1}


async def test_elsewhere_all_of_a_gang_of_8_moves(bench: Bench) -> None:
    """Leaves 0 and 1 each lose a node: all of it goes to leaves 2 and 3."""
    await bench.submit("g", 8)
    bench.lose("n-0-0-2", "n-0-1-0")
    await bench.clock.advance(62)
    assert await bench.leaves("g") == [2, 3]
    assert len(set((await bench.places("g")).values())) == 8


async def test_all_nodes_of_a_gang_of_8_die(bench: Bench) -> None:
    """What has lost all its nodes starts again elsewhere, by one plan, though found one by one."""
    await bench.submit("g", 8)
    bench.lose(*(await bench.places("g")).values())
    await bench.clock.advance(30)
    assert await bench.leaves("g") == [2, 3]
    placed = [one for plan in bench.solved.repairs for one in plan.placements]
    assert [len(one.pods) for one in placed] == [8]


class BusyFor:
    """Does not bind the member of this index of a Job for now."""

    def __init__(self, index: int) -> None:
        self.index = f"-{index}-"

    async def before(self, request: ApiRequest) -> None:
        """Stand in the way of its binding."""
        if request.subresource == "binding" and self.index in request.target.name:
            raise Throttled("busy", 429)

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Answers pass."""


@pytest.mark.parametrize(("size", "leaves"), [(4, 1), (8, 2)])
async def test_a_rack_dies_while_its_gang_is_being_bound(size: int, leaves: int) -> None:
    """All but one stand on it, and never end; all run in another rack a minute later."""
    bench = Bench(1, 2 * leaves)
    try:
        busy = BusyFor(3)
        await bench.start(answers=busy)
        await bench.submit("g", size)
        assert len(await bench.places("g")) == size - 1
        rack = await bench.leaves("g")
        assert len(rack) == leaves
        bench.lose(*(f"n-0-{leaf}-{node}" for leaf in rack for node in range(4)))
        await bench.clock.advance(30)
        busy.index = "none"
        await bench.clock.advance(60)
        assert len(await bench.dying("g")) == size - 1
        assert len(await bench.places("g")) == size
        assert not {*rack} & {*await bench.leaves("g")}
    finally:
        await bench.stop()


async def test_failures_that_go_on_do_not_put_off_repairs() -> None:
    """A node is found dead every 0.9 s all the time: the gang is whole in half a minute.

    Nodes that fail together are repaired together, so a second passes after each; three at most.
    """
    bench = Bench()
    try:
        scheduler = await bench.start()
        await bench.submit("g", 2)
        lost = (await bench.places("g"))[0]
        bench.lose(lost)
        for _ in range(33):
            await bench.clock.advance(0.9)
            term = scheduler._term
            assert term is not None
            assert term.parts is not None
            assert term.parts.nodes is not None
            term.parts.nodes.died.set()
        places = await bench.places("g")
        assert len(places) == 2
        assert lost not in places.values()
    finally:
        await bench.stop()


async def test_nowhere_the_others_stay_and_wait(bench: Bench) -> None:
    """Leaves 2 and 3 are taken: nobody is evicted until there is room, then it is used."""
    await bench.submit("g", 8)
    await bench.submit("h", 8)
    uids = await bench.uids("g")
    bench.lose("n-0-0-2")
    await bench.clock.advance(40)
    assert await bench.uids("g") == uids
    assert "NotRepaired" in await bench.reasons()
    await bench.finish("h")
    await bench.clock.advance(60)
    assert await bench.leaves("g") in ([1, 2], [2, 3])


async def test_gangs_without_a_repair_are_counted_until_they_need_none() -> None:
    """Its policy is to wait: it is counted while its node is dead, and told how to be moved."""
    bench = Bench()
    scheduler = await bench.start()
    await bench.submit("g", 2, repair_policy="wait")
    lost = (await bench.places("g"))[0]
    bench.lose(lost)
    await bench.clock.advance(40)
    assert scheduler.unrepaired == 1
    (said,) = await bench.events("NotRepaired")
    assert "To unblock: set topology.scheduler/repair-policy to move" in said["note"]
    bench.restore(lost)
    await bench.clock.advance(60)
    assert scheduler.unrepaired == 0
    await bench.stop()


async def test_a_gang_that_waits_to_leave_a_drained_node_is_not_counted() -> None:
    """It is whole and there is no other leaf: it is told so. Once the node is dead it counts."""
    bench = Bench(1, 1)
    scheduler = await bench.start()
    await bench.submit("g", 4)
    drained = {"metadata": {"annotations": {DRAIN: "true"}}}
    await bench.cluster.patch(NODES, Target("", "n-0-0-0"), drained)
    await bench.clock.advance(40)
    assert len(await bench.events("NotRepaired")) == 1
    assert scheduler.unrepaired == 0
    bench.lose("n-0-0-0")
    await bench.clock.advance(40)
    assert scheduler.unrepaired == 1
    await bench.stop()


async def test_a_kubelet_that_is_silent_on_a_living_host_moves_nothing(bench: Bench) -> None:
    """It does not beat for a minute, but the host answers."""
    await bench.submit("g", 2)
    uids, before = await bench.uids("g"), await bench.places("g")
    bench.heartbeats.silent |= set(before.values())
    await bench.clock.advance(60)
    assert await bench.uids("g") == uids


async def test_silence_of_everybody_moves_nothing(bench: Bench) -> None:
    """Nobody is heard for a minute, nobody can be asked: that is no failure of nodes."""
    await bench.submit("g", 2)
    uids = await bench.uids("g")
    bench.heartbeats.hushed = True
    bench.heartbeats.unreachable = {body["metadata"]["name"] for body in bench.fabric}
    await bench.clock.advance(60)
    bench.heartbeats.hushed = False
    await bench.clock.advance(15)
    assert await bench.uids("g") == uids


async def test_nobody_who_can_be_heard_makes_the_probe_worthless(bench: Bench) -> None:
    """The node is silent, and no host at all answers from here: the API has to say more."""
    await bench.submit("g", 2)
    uids, before = await bench.uids("g"), await bench.places("g")
    bench.heartbeats.unreachable = {body["metadata"]["name"] for body in bench.fabric}
    bench.heartbeats.silent = {before[1]}
    await bench.clock.advance(40)
    assert await bench.uids("g") == uids
    patch = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    await bench.cluster.patch(NODES, Target("", before[1]), patch, "status")
    await bench.clock.advance(10)
    assert (await bench.uids("g"))[1] != uids[1]


async def test_a_replacement_that_dies_is_replaced(bench: Bench) -> None:
    """The node that a lost member went to dies as well: it ends on the last one of the leaf."""
    await bench.submit("g", 2)
    before = await bench.places("g")
    bench.lose(before[1])
    await bench.clock.advance(30)
    second = (await bench.places("g"))[1]
    bench.lose(second)
    await bench.clock.advance(30)
    third = (await bench.places("g"))[1]
    assert third not in (before[1], second)
    assert leaf_of(third) == leaf_of(before[0])


async def test_the_return_of_the_old_node_disturbs_nothing(bench: Bench) -> None:
    """The member stays where it went, and the node is used again once it has been well."""
    await bench.submit("g", 4)
    before = await bench.places("g")
    bench.lose(before[3])
    await bench.clock.advance(70)
    after, uids = await bench.places("g"), await bench.uids("g")
    bench.restore(before[3])
    await bench.clock.advance(60)
    assert (await bench.places("g"), await bench.uids("g")) == (after, uids)
    await bench.submit("h", 12)
    assert len(await bench.places("h")) == 12


async def test_a_second_leader_goes_on_where_the_first_was(bench: Bench) -> None:
    """The first dies once it has evicted: the second seats the replacements, and evicts nobody."""
    await bench.submit("g", 8)
    bench.lose("n-0-0-2")
    for _ in range(400):
        await bench.clock.advance(0.1)
        if (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items:
            break
    await bench.succeed("b")
    await bench.clock.advance(40)
    assert await bench.leaves("g") == [1, 2]
    pods = (await bench.cluster.list(PODS, TEAM)).items
    assert len({pod["metadata"]["uid"] for pod in pods}) <= 8 + 1


async def test_what_a_budget_forbids_is_not_forced(bench: Bench) -> None:
    """Nobody may go, and the lost member has no place beside them: all stay, and it is said."""
    await bench.submit("g", 8)
    uids = await bench.uids("g")
    budget = {
        "metadata": {"name": "all"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {}}},
    }
    await bench.cluster.create(DISRUPTION_BUDGETS, TEAM, budget)
    bench.lose("n-0-0-2")
    await bench.clock.advance(60)
    assert await bench.uids("g") == uids
    events = (await bench.cluster.list(EVENTS)).items
    (said,) = [one["note"] for one in events if one["reason"] == "NotRepaired"]
    assert "disruption budget ml/all lets 0 go" in said


async def test_who_is_moved_off_a_node_does_not_come_back() -> None:
    """It was marked to be emptied, and uncordoned since: no pod starts there, and none moves."""
    bench = Bench(1, 1)
    await bench.start()
    node = Target("", "n-0-0-0")
    marks = {"metadata": {"annotations": {DRAIN: "true"}}}
    await bench.cluster.patch(NODES, node, {**marks, "spec": {"unschedulable": True}})
    await bench.clock.advance(30)
    await bench.cluster.patch(NODES, node, {"spec": {"unschedulable": None}})
    for number in range(4):
        await bench.submit(f"f{number}", 1, gpus=4)
    before = await bench.uids("f3")
    await bench.clock.advance(120)
    assert await bench.uids("f3") == before
    assert "n-0-0-0" not in (await bench.places("f3")).values()
    await bench.stop()
