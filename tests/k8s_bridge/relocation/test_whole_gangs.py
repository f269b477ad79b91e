"""Gangs that have lost members, and can live on only as a whole, where lower ones stand.

The fabric is one spine of 2 leaves of 4 nodes, and a gang of 4 has to be in one of them. A gang
that waits may preempt after 5 s; 20 s of silence make a node dead, and pods have 30 s of grace
where their kubelet is gone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import DISRUPTION_BUDGETS, JOBS, LEASES, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation, Seat
from fourleaf.k8s_bridge.relocation.tenants.brief_stays import BriefStays
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.objects.annotations import DRAIN
from fourleaf.model.resources import Resources
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.relocation.test_refused_evictions import Answers
from tests.twins.jobs import job
from tests.twins.virtual_clock import VirtualClock

JOB_NAME = "batch.kubernetes.io/job-name"


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A scheduler that leads, and priorities."""
    bench = Bench(1, 2)
    await bench.classes(low=1, high=10, meek=10)
    await bench.start()
    yield bench
    await bench.stop()


async def stand(bench: Bench, top: str = "high", below: str = "low", **said: str) -> list[int]:
    """Two gangs of 4 fill the fabric; the leaves of `below`."""
    await bench.submit("top", 4, priority=top, movable="false", **said)
    await bench.submit("below", 4, priority=below, movable="false")
    return await bench.leaves("below")


async def lose(bench: Bench, how: str) -> None:
    """A member of `top` is lost for good: with its node, or its node is another one's by now."""
    body = (await bench.pods("top"))[1]
    if how == "its node":
        bench.lose(body["spec"]["nodeName"])
        return
    await bench.cluster.delete(PODS, Target(TEAM, body["metadata"]["name"]))
    other = pod("other", 8, "default-scheduler", labels={JOB_NAME: "other"})
    other["spec"]["nodeName"] = body["spec"]["nodeName"]
    await submit(bench.cluster, TEAM, [other])


WAYS = pytest.mark.parametrize("how", ["its node", "its pod"])


@WAYS
async def test_lower_gangs_make_way_for_a_gang_that_lost_a_member(bench: Bench, how: str) -> None:
    """It moves to the leaf of the lower gang, which waits from then on."""
    leaves = await stand(bench)
    await lose(bench, how)
    await bench.clock.advance(120)
    assert len(await bench.places("top")) == 4
    assert await bench.leaves("top") == leaves
    assert not await bench.places("below")
    assert not await bench.open_relocations()


@WAYS
async def test_members_that_live_stay_until_all_of_the_room_is_free(bench: Bench, how: str) -> None:
    """A pod of the lower gang takes 30 s to end: until then three members run as before."""
    leaves = await stand(bench)
    silent = (await bench.places("below"))[0]
    bench.kubelets.silent.add(silent)
    await lose(bench, how)
    before = {body["metadata"]["uid"] for body in await bench.pods("top")}
    while not await bench.dying("below"):
        await bench.clock.advance(1)
    await bench.clock.advance(20)
    assert len(await bench.dying("below")) == 1
    living = {uid for uid in (await bench.uids("top")).values() if uid in before}
    assert len(living) >= 3
    assert not (await bench.dying("top")) & living
    bench.kubelets.silent.discard(silent)
    await bench.clock.advance(60)
    assert await bench.leaves("top") == leaves
    assert len(await bench.places("top")) == 4


@pytest.mark.parametrize(
    ("top", "below", "policy"),
    [("low", "low", "move"), ("meek", "low", "move"), ("high", "low", "patch")],
)
async def test_for_whom_none_makes_way(bench: Bench, top: str, below: str, policy: str) -> None:
    """Of the same priority, one that preempts none, and one that may not move as a whole."""
    await stand(bench, top, below, repair_policy=policy)
    uids = await bench.uids("below")
    await lose(bench, "its node")
    await bench.clock.advance(120)
    assert await bench.uids("below") == uids
    assert not bench.solved.preemptions


@pytest.mark.parametrize("whose", ["top", "below"])
async def test_none_goes_where_a_budget_forbids_any_of_it(bench: Bench, whose: str) -> None:
    """A budget of none over the living members, or over those that would make way."""
    await stand(bench)
    uids = await bench.uids("below")
    budget = {"maxUnavailable": 0, "selector": {"matchLabels": {JOB_NAME: whose}}}
    body = {"metadata": {"name": whose}, "spec": budget}
    await bench.cluster.create(DISRUPTION_BUDGETS, TEAM, body)
    await bench.clock.advance(2)
    await lose(bench, "its node")
    await bench.clock.advance(120)
    assert await bench.uids("below") == uids
    assert not await bench.open_relocations()


@pytest.mark.parametrize("spec", ["{preemption: {enabled: false}}", "{repair: {enabled: false}}"])
async def test_none_goes_where_the_config_wants_no_such_thing(spec: str) -> None:
    """No preemptions, or no repairs: all stay where they are."""
    bench = Bench(1, 2)
    await bench.config(spec)
    await bench.classes(low=1, high=10)
    await bench.start()
    await stand(bench)
    uids = await bench.uids("below")
    await lose(bench, "its node")
    await bench.clock.advance(120)
    assert await bench.uids("below") == uids
    await bench.stop()


async def test_it_waits_each_time_that_it_has_lost_a_node() -> None:
    """With `afterSeconds` of 100, none goes within 100 s of the first loss, nor of the second."""
    bench = Bench(1, 2)
    await bench.config("{preemption: {afterSeconds: 100}}")
    await bench.classes(low=1, high=10)
    await bench.start()
    await stand(bench)
    uids = await bench.uids("below")
    node = (await bench.places("top"))[1]
    for _ in range(2):
        bench.lose(node)
        await bench.clock.advance(60)
        assert await bench.uids("below") == uids
        bench.restore(node)
        await bench.clock.advance(600)
    assert await bench.uids("below") == uids
    await bench.stop()


async def test_room_that_a_repair_may_not_use_is_free_after_a_minute(bench: Bench) -> None:
    """A budget forbids to move the living once the lower pods end: these come back to their leaf.

    No other pod goes for the gang then.
    """
    leaves = await stand(bench)
    slow = (await bench.places("below"))[0]
    bench.kubelets.silent.add(slow)
    await lose(bench, "its node")
    while not await bench.dying("below"):
        await bench.clock.advance(1)
    budget = {"maxUnavailable": 0, "selector": {"matchLabels": {JOB_NAME: "top"}}}
    body = {"metadata": {"name": "top"}, "spec": budget}
    await bench.cluster.create(DISRUPTION_BUDGETS, TEAM, body)
    await bench.clock.advance(5)
    bench.kubelets.silent.discard(slow)
    await bench.clock.advance(150)
    assert await bench.leaves("below") == leaves
    assert len(await bench.places("below")) == 4
    evicted = [one["regarding"]["name"] for one in await bench.events("Evicted")]
    assert len(evicted) == 4
    await bench.clock.advance(900)
    assert len(await bench.events("Evicted")) == 4


async def test_a_node_that_comes_back_meanwhile_leaves_the_gang_where_it_is(bench: Bench) -> None:
    """A pod that makes way takes its time: the gang is whole again, and no place is kept."""
    await stand(bench)
    node = (await bench.places("below"))[0]
    bench.kubelets.silent.add(node)
    await lose(bench, "its node")
    uids = await bench.uids("top")
    while not await bench.dying("below"):
        await bench.clock.advance(1)
    bench.restore(*(await bench.places("top")).values())
    await bench.clock.advance(80)
    bench.kubelets.silent.discard(node)
    await bench.clock.advance(20)
    assert await bench.uids("top") == uids
    assert not await bench.open_relocations()
    assert len(await bench.places("below")) == 4


async def test_another_leader_goes_on(bench: Bench) -> None:
    """The lower gang has been told to go, and its pods take their time: the gang moves there."""
    leaves = await stand(bench)
    silent = (await bench.places("below"))[0]
    bench.kubelets.silent.add(silent)
    await lose(bench, "its node")
    while not await bench.dying("below"):
        await bench.clock.advance(1)
    await bench.succeed("b")
    assert await bench.open_relocations() == ["top"]
    bench.kubelets.silent.discard(silent)
    await bench.clock.advance(90)
    assert await bench.leaves("top") == leaves
    assert len(await bench.places("top")) == 4


async def test_none_goes_for_a_gang_that_is_whole(bench: Bench) -> None:
    """Its node is to be emptied, and it could leave for the places of a lower gang alone."""
    await stand(bench)
    uids = await bench.uids("below")
    drained = {"metadata": {"annotations": {DRAIN: "true"}}}
    node = (await bench.places("top"))[0]
    await bench.cluster.patch(NODES, Target("", node), drained)
    await bench.clock.advance(120)
    assert await bench.uids("below") == uids
    assert not bench.solved.preemptions


async def test_none_goes_where_the_job_would_end_of_the_repair(bench: Bench) -> None:
    """Three members that live would have to move, and the Job may lose none: all stay."""
    body = job("top", 4)
    del body["spec"]["backoffLimitPerIndex"]
    body["spec"]["backoffLimit"] = 0
    body["spec"]["template"]["spec"]["priorityClassName"] = "high"
    await add_namespace(bench.cluster, TEAM)
    await bench.cluster.create(JOBS, TEAM, body)
    await bench.clock.advance(3)
    await bench.submit("below", 4, priority="low", movable="false")
    uids = await bench.uids("below")
    await lose(bench, "its node")
    await bench.clock.advance(120)
    assert await bench.uids("below") == uids


async def test_none_goes_where_the_api_would_not_let_the_gang_move() -> None:
    """A webhook refuses to evict its members that live, as it says in a dry run."""
    bench = Bench(1, 2)
    await bench.classes(low=1, high=10)
    refused = Refused("webhook says no", 403, "Forbidden")
    await bench.start(answers=Answers("top-", refused))
    await stand(bench)
    uids = await bench.uids("below")
    await lose(bench, "its node")
    await bench.clock.advance(200)
    assert await bench.uids("below") == uids
    await bench.stop()


async def test_a_pod_by_itself_has_lower_ones_evicted(bench: Bench) -> None:
    """Its node is lost, and all others are taken: one pod of lower priority goes for it."""
    await bench.submit("top", 1, priority="high", movable="false")
    for number in range(7):
        await bench.submit(f"below{number}", 1, priority="low", movable="false")
    bench.lose((await bench.places("top"))[0])
    await bench.clock.advance(120)
    assert len(await bench.places("top")) == 1
    left = [number for number in range(7) if await bench.places(f"below{number}")]
    assert len(left) == 6


async def test_a_node_that_comes_back_each_time_has_ever_fewer_evicted(bench: Bench) -> None:
    """It is lost every 330 s: pods go for its gang at 0, 300, 900, 2100 and 4500 s of 2 h."""
    await stand(bench)
    node, before = (await bench.places("top"))[1], await bench.uids("top")
    while bench.clock.monotonic() < 7200:
        began, slow = bench.clock.monotonic(), set((await bench.places("below")).values())
        bench.kubelets.silent |= slow
        bench.lose(node)
        while not await bench.dying("below") and bench.clock.monotonic() < began + 60:
            await bench.clock.advance(1)
        await bench.clock.advance(5)
        bench.restore(node)
        await bench.clock.advance(20)
        bench.kubelets.silent -= slow
        await bench.clock.advance(began + 330 - bench.clock.monotonic())
    assert len(await bench.events("Evicted")) == 5 * 4
    assert await bench.uids("top") == before


class SlowDelete:
    """Every delete of a relocation's record takes 3 s."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    async def before(self, request: ApiRequest) -> None:
        """Let it take that long."""
        name = request.target.name
        if request.kind is LEASES and request.verb == "delete" and name.startswith("relocation"):
            await self.bench.clock.sleep(3)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_the_room_is_free_at_no_moment(bench: Bench) -> None:
    """The repair takes the place of the record that made its room: no delete comes between."""
    bench.tasks.pop().cancel()
    await bench.start("b", answers=SlowDelete(bench))
    await bench.clock.advance(15)
    await stand(bench)
    await lose(bench, "its node")
    await bench.clock.advance(600)
    evicted = [one["regarding"]["name"] for one in await bench.events("Evicted")]
    assert sum(name.startswith("below") for name in evicted) == 4
    assert len(await bench.places("top")) == 4


def test_a_gang_that_moves_is_not_gone() -> None:
    """Pods were evicted for it, and its member is made anew elsewhere: its namespace may."""
    gang, member = GangKey(TEAM, "top"), Target(TEAM, "top-0", "2")
    leaver = Leaver(Target(TEAM, "below-0", "1"), "n-0-1-0")
    clock = VirtualClock()
    nodes = {("", "n-0-1-0"): {"spec": {}}}
    gone: Any = SimpleNamespace(seen=lambda uid: None, objects={NODES: nodes})
    seat = Seat(member, (0, 0, 0), "", "n-0-1-0", Resources(gpus=8))
    for moves, is_barred in ((True, False), (False, True)):
        stays = BriefStays(gone, clock)
        stays.ended(Relocation(gang, Purpose.PREEMPTION, (seat,), (leaver,)), "")
        mover = (Leaver(member, "n-0-1-0"),) if moves else ()
        stays.hear([Relocation(gang, Purpose.REPAIR, (), mover)], (), 300.0)
        assert bool(stays.wait(GangKey(TEAM, "other"), 300.0)) is is_barred


@pytest.mark.parametrize(
    ("limit", "is_served"), [("gpuQuota: 32", True), ("maxEvictions: 0", False)]
)
async def test_what_the_namespace_of_the_gang_may_have(limit: str, is_served: bool) -> None:
    """It has 32 GPUs, with the lost pod, which is there still; no pod of others may go for it."""
    bench = Bench(1, 2)
    await bench.config(f"{{namespaces: {{ml: {{{limit}}}}}}}")
    await bench.classes(low=1, high=10)
    await bench.start()
    await bench.submit("top", 4, priority="high", movable="false")
    await bench.submit("below", 4, priority="low", namespace="others", movable="false")
    await lose(bench, "its node")
    leaves = await bench.leaves("top")
    await bench.clock.advance(120)
    assert (await bench.leaves("top") != leaves) is is_served
    assert len(await bench.places("below", namespace="others")) == (0 if is_served else 4)
    await bench.stop()
