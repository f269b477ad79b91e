"""Gangs that cannot start do not keep those behind them from being looked at."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, NODES, PODS, STORAGE_CLASSES
from fourleaf.k8s_bridge.cluster.memory.actors import gang, node, pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.scheduling.cycle import CycleReport
from fourleaf.k8s_bridge.scheduling.set_aside import SetAside
from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.readers.objects.annotations import BANDWIDTH
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.snapshot import Snapshot
from tests import small
from tests.k8s_bridge.relocation.bench import TEAM, Bench


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """One leaf of four nodes, and a batch of five gangs."""
    one = Bench(1, 1)
    spec = f"apiVersion: {API_VERSION}\nkind: SchedulerConfig\nspec: {{batch: {{size: 5}}}}\n"
    config: Body = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": spec}}
    await one.cluster.create(CONFIG_MAPS, "kube-system", config)
    yield one
    await one.stop()


def picky(name: str, pool: str, gpus: int = 1) -> Body:
    """A pod that wants nodes with the label pool=`pool`."""
    body = pod(name, gpus)
    body["spec"]["nodeSelector"] = {"pool": pool}
    return body


async def placed(bench: Bench) -> dict[str, str]:
    """Pod -> node."""
    pods = (await bench.cluster.list(PODS, TEAM)).items
    return {
        one["metadata"]["name"]: one["spec"]["nodeName"]
        for one in pods
        if one["spec"].get("nodeName")
    }


async def submitted(bench: Bench, *bodies: Body) -> None:
    """Submit pods, and give the scheduler five seconds."""
    await submit(bench.cluster, TEAM, list(bodies))
    await bench.clock.advance(5)


async def test_pods_that_fit_no_node_keep_nobody_from_starting(bench: Bench) -> None:
    """Twelve older pods name a label that no node has: the thirteenth starts all the same."""
    await bench.start()
    await submitted(bench, *[picky(f"wrong-{i:02}", "none") for i in range(12)])
    await submitted(bench, pod("good", 1))
    assert set(await placed(bench)) == {"good"}


def answered(world: Snapshot, *names: str, law: str = "selector") -> Plan:
    """A plan in which no node matches these gangs, and the others had no room in the batch."""
    hopeless = Reason(ReasonKind.NO_MATCHING_NODES, counts=(("nodes", 4), (law, 4)))
    full = Reason(ReasonKind.NOT_IN_BATCH)
    waiting = (Waiting(one.key, hopeless if one.key.name in names else full) for one in world.gangs)
    return Plan(PlanStatus.OPTIMAL, (), tuple(waiting))


def alike(**fields: Any) -> tuple[Gang, ...]:
    """Six gangs that ask for the same, `g0` to `g5`, in a batch of two."""
    return tuple(replace(small.gang(f"g{i}", 1), **fields) for i in range(6))


def left(aside: SetAside, world: Snapshot) -> str:
    """The gangs that are to be looked at."""
    return " ".join(one.key.name for one in aside.without(world)[0].gangs)


def test_what_holds_of_one_gang_holds_of_all_alike() -> None:
    """Of six alike one answers for all; a node more, and they are looked at again."""
    world = small.snapshot(small.fabric([[4]]), *alike(), batch={"size": 2})
    aside = SetAside()
    assert left(aside, world) == "g0 g1 g2 g3 g4 g5"
    aside.note(world, answered(world, "g0"))
    assert left(aside, world) == ""
    more = replace(world, fabric=small.fabric([[5]]))
    assert len(left(aside, more).split()) == 2
    two = replace(more, gangs=more.gangs[:2])
    aside.note(two, answered(two, "g0", "g1"))
    assert left(aside, more) == "", "the other four need not be looked at"


def test_the_last_of_a_long_queue_stand_aside_too() -> None:
    """Six that differ, two in a batch: after three cycles none is looked at, and none is next."""
    gangs = tuple(small.gang(f"g{i}", i + 1) for i in range(6))
    world = small.snapshot(small.fabric([[4]]), *gangs, batch={"size": 2})
    aside, is_next = SetAside(), []
    for number in (0, 2, 4):
        batch, _ = aside.without(world)
        is_next.append(aside.note(batch, answered(batch, f"g{number}", f"g{number + 1}")))
    assert is_next == [True, True, False]
    assert left(aside, world) == ""


def test_a_gang_that_goes_while_it_is_to_be_looked_at_again() -> None:
    """Of six owed a look after a node came, two have it; all others but one are deleted then.

    That one has its turn, beside one that comes anew.
    """
    world = small.snapshot(small.fabric([[4]]), *alike(), batch={"size": 2})
    aside = SetAside()
    aside.without(world)
    aside.note(world, answered(world, "g0"))
    assert left(aside, world) == ""
    more = replace(world, fabric=small.fabric([[5]]))
    first = left(aside, more).split()
    assert len(first) == 2
    last = next(one.key.name for one in more.gangs if one.key.name not in first)
    some = tuple(one for one in more.gangs if one.key.name in (*first, last))
    looked_at = left(aside, replace(more, gangs=(*some, small.gang("g9", 3)))).split()
    assert sorted(looked_at) == sorted([*first, last, "g9"])


def test_another_kind_namespace_or_rule_is_another_answer() -> None:
    """A larger gang, one elsewhere, and gangs of which a rule of the operator's own had a say."""
    one, other, elsewhere = alike()[0], small.gang("g1", 2), alike()[2]
    elsewhere = replace(elsewhere, key=GangKey("ops", "g2"))
    world = small.snapshot(small.fabric([[4]]), one, other, elsewhere, batch={"size": 1})
    aside = SetAside()
    assert left(aside, world) == "g0 g1 g2"
    aside.note(world, answered(world, "g0"))
    assert left(aside, world) == "g1 g2"
    ruled = small.snapshot(small.fabric([[4]]), *alike(), batch={"size": 2})
    aside = SetAside()
    assert left(aside, ruled)
    aside.note(ruled, answered(ruled, "g0", law="rule slow"))
    assert left(aside, ruled) == "g1 g2 g3 g4 g5"


async def test_nor_where_the_part_of_a_namespace_is_full(bench: Bench) -> None:
    """The same where the batch has room, but each namespace may have two gangs in it."""
    spec = f"apiVersion: {API_VERSION}\nkind: SchedulerConfig\n"
    spec += "spec: {namespaces: {'*': {maxGangs: 2}}}\n"
    patch = {"data": {"config.yaml": spec}}
    await bench.cluster.patch(CONFIG_MAPS, Target("kube-system", CONFIG_MAP), patch)
    await bench.start()
    await submitted(bench, *[picky(f"wrong-{i:02}", "none") for i in range(12)])
    await submitted(bench, pod("good", 1))
    assert set(await placed(bench)) == {"good"}


async def test_a_full_pool_does_not_idle_another(bench: Bench) -> None:
    """Twelve older pods wait for a full pool; the pods behind them start in the other one.

    Of the twelve, one starts as soon as a pod of their pool ends, and one when a node comes.
    """
    bench.fabric = [_labelled(one, "a" if i else "b") for i, one in enumerate(bench.fabric)]
    await bench.start()
    await submitted(bench, *[picky(f"runs-{i}", "b", 8) for i in range(1)])
    await submitted(bench, *[picky(f"waits-{i:02}", "b", 8) for i in range(12)])
    await submitted(bench, *[picky(f"other-{i}", "a", 8) for i in range(3)])
    assert set(await placed(bench)) == {"runs-0", "other-0", "other-1", "other-2"}
    await bench.cluster.delete(PODS, Target(TEAM, "runs-0"))
    await bench.clock.advance(5)
    assert {"waits-00"} == {name for name in await placed(bench) if name.startswith("waits")}
    await bench.cluster.create(NODES, "", _labelled(node("n-new", "leaf-0-0", "spine-0"), "b"))
    await bench.clock.advance(5)
    assert len([name for name in await placed(bench) if name.startswith("waits")]) == 2


async def test_they_keep_their_reason(bench: Bench) -> None:
    """A gang that stands aside still says what it waits for, once, as one in the batch does."""
    scheduler = await bench.start()
    await submitted(bench, *[picky(f"wrong-{i:02}", "none") for i in range(12)])
    queue = scheduler.reporter.status().queue
    assert len(queue) == 12
    assert {one.reason.kind for one in queue} == {"NoMatchingNodes"}


class Batches:
    """How many gangs were sent to the solver, each time."""

    def __init__(self, bench: Bench) -> None:
        self.sizes: list[int] = []
        self._plan = bench.solved.plan
        bench.solved.plan = self.plan  # type: ignore[method-assign]

    async def plan(self, snapshot: Snapshot) -> Plan:
        """Note the size, and plan."""
        self.sizes.append(len(snapshot.gangs))
        return await self._plan(snapshot)


async def test_where_nothing_has_changed_nothing_is_solved(bench: Bench) -> None:
    """Four pods wait for a pool that is not there: they are planned once, whatever else comes."""
    batches = Batches(bench)
    scheduler = await bench.start()
    await submitted(bench, *[picky(f"wrong-{i}", "none") for i in range(4)])
    batches.sizes.clear()
    cycles: list[CycleReport] = []
    scheduler.reporter.cycle = cycles.append  # type: ignore[method-assign]
    for number in range(5):
        body = {"metadata": {"name": f"disk-{number}"}, "provisioner": "disk.example.org"}
        await bench.cluster.create(STORAGE_CLASSES, "", body)
        await bench.clock.advance(5)
    assert len(cycles) == 5
    assert batches.sizes == []
    await submitted(bench, pod("good", 1))
    assert set(await placed(bench)) == {"good"}


async def test_room_that_helps_nobody_is_no_reason_to_plan_again(bench: Bench) -> None:
    """Twelve gangs wait for whole nodes; of two small pods on one node, one ends: 1 GPU is left.

    No gang is planned again for that; all are once the second one has ended too.
    """
    batches = Batches(bench)
    await bench.start()
    await submitted(bench, *[pod(f"big-{i}", 8) for i in range(3)])
    await submitted(bench, pod("small-0", 1), pod("small-1", 7))
    await submitted(bench, *[pod(f"waits-{i:02}", 8) for i in range(12)])
    batches.sizes.clear()
    await bench.cluster.delete(PODS, Target(TEAM, "small-0"))
    await bench.clock.advance(10)
    assert max(batches.sizes, default=0) <= 2
    await bench.cluster.delete(PODS, Target(TEAM, "small-1"))
    await bench.clock.advance(10)
    assert len([name for name in await placed(bench) if name.startswith("waits")]) == 1


async def test_room_that_was_not_taken_is_offered_again(bench: Bench) -> None:
    """Of five pods for one node, the first is refused its binding: the second one starts instead.

    Three more, which fit nowhere, make the batch a full one.
    """
    bench.fabric = bench.fabric[:1]
    refuses = Refuses("first")
    await bench.start(dry_run="always", answers=refuses)
    others = [pod(f"other-{i}", 8) for i in range(4)]
    await submitted(bench, pod("first", 8), *others, *[picky(f"z-{i}", "none") for i in range(3)])
    assert refuses.asked
    assert len(await placed(bench)) == 1


async def test_a_quota_that_was_not_used_is_offered_again(bench: Bench) -> None:
    """A gang that the API refuses would use up the quota: two pods behind it start all the same.

    Five more, which fit nowhere, make the batch a full one, and something changes all the time.
    """
    quota = "namespaces: {ml: {gpuQuota: 32}}"
    spec = f"spec: {{batch: {{size: 5}}, {quota}}}"
    text = f"apiVersion: {API_VERSION}\nkind: SchedulerConfig\n{spec}\n"
    patch: Body = {"data": {"config.yaml": text}}
    await bench.cluster.patch(CONFIG_MAPS, Target("kube-system", CONFIG_MAP), patch)
    await bench.start(dry_run="always", answers=Refuses("bad-0"))
    wrong = [picky(f"z-{i}", "none") for i in range(5)]
    await submitted(bench, *gang("bad", 4), pod("good-0", 1), pod("good-1", 1), *wrong)
    for number in range(10):
        await submitted(bench, picky(f"later-{number}", "none"))
    assert set(await placed(bench)) == {"good-0", "good-1"}


async def test_room_that_a_resize_gives_back(bench: Bench) -> None:
    """A pod that held 60 CPU of the only node asks for one: of twelve that want 30, two start.

    They are the oldest two.
    """
    bench.fabric = bench.fabric[:1]
    bench.fabric[0]["status"]["allocatable"]["cpu"] = "64"
    await bench.start()
    await submitted(bench, asking("big", 60))
    await submitted(bench, *[asking(f"waits-{i:02}", 30) for i in range(12)])
    assert set(await placed(bench)) == {"big"}
    store = bench.cluster.store
    record = store.find(PODS, Target(TEAM, "big"))
    body = record.whole()
    body["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1"
    store.write(record, body)
    await bench.clock.advance(5)
    assert set(await placed(bench)) == {"big", "waits-00", "waits-01"}


def asking(name: str, cpu: int) -> Body:
    """A pod of one GPU and so much CPU."""
    body = pod(name, 1)
    body["spec"]["containers"][0]["resources"]["requests"] = {"cpu": str(cpu)}
    return body


class Refuses:
    """Refuses to bind one pod, for good."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked = 0

    async def before(self, request: ApiRequest) -> None:
        """Stand in the way of its binding."""
        if request.subresource == "binding" and request.target.name == self.name:
            self.asked += 1
            raise Refused("a policy denied it", 422, "Invalid")

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Answers pass."""


def _labelled(body: Body, pool: str) -> dict[str, Any]:
    labels = {**body["metadata"].get("labels", {}), "pool": pool}
    return {**body, "metadata": {**body["metadata"], "labels": labels}}


async def test_ends_all_the_time_keep_no_gang_from_being_looked_at(bench: Bench) -> None:
    """A pod ends each second, a solve takes one: the last of 61 gangs is the one that fits.

    On each of 4 nodes 40 of 64 CPU are held, so that 60 gangs that want 30 never fit, while each
    end gives them the GPU that they want too. They ask for bandwidth, so that room alone does not
    tell whether they have a place. Five gangs make a batch: at most two of those come
    back in each, so that 20 batches are enough to come to the last one.
    """
    plan = bench.solved.plan

    async def slowly(snapshot: Snapshot) -> Plan:
        await bench.clock.sleep(1)
        return await plan(snapshot)

    for body in bench.fabric:
        body["status"]["allocatable"]["cpu"] = "64"
        body["metadata"]["annotations"] = {BANDWIDTH: "100Gbps"}
    await bench.start()
    await submitted(bench, *[asking(f"holds-{i}", 40) for i in range(4)])
    await submitted(bench, *[asking(f"ends-{i:02}", 0) for i in range(28)])
    await bench.clock.advance(30)
    assert len(await placed(bench)) == 32
    bench.tasks.pop().cancel()
    bench.solved.plan = slowly  # type: ignore[method-assign]
    first = [asking(f"first-{i:02}", 30) for i in range(60)]
    for body in first:
        body["metadata"]["annotations"] = {BANDWIDTH: "1Gbps"}
    await submitted(bench, *first)
    await bench.clock.advance(1)
    await submitted(bench, asking("last", 0))
    await bench.start("b")
    await bench.clock.advance(20)
    for number in range(28):
        await bench.cluster.delete(PODS, Target(TEAM, f"ends-{number:02}"))
        await bench.clock.advance(1)
    assert "last" in await placed(bench)
    assert not [name for name in await placed(bench) if name.startswith("first")]


def test_room_of_a_namespace_that_is_used_up_is_no_room_of_others() -> None:
    """120 urgent gangs, of which two at most are in a batch, keep no lower one from its look."""
    urgent = [
        replace(small.gang(f"u{i}", 1), key=GangKey("big", f"u{i}"), priority=9) for i in range(120)
    ]
    low = replace(small.gang("low", 1), key=GangKey("low", "low"))
    world = small.snapshot(
        small.fabric([[4]]), *urgent, low, batch={"size": 10}, namespaces={"big": {"maxGangs": 2}}
    )
    aside = SetAside()
    full = Reason(ReasonKind.NO_FREE_CAPACITY)
    aside.without(world)
    left_out = Waiting(low.key, Reason(ReasonKind.NOT_IN_BATCH))
    waiting = tuple(Waiting(gang.key, full) for gang in urgent)
    aside.note(world, Plan(PlanStatus.OPTIMAL, (), (*waiting, left_out)))
    one = replace(world, gangs=(low,))
    aside.note(one, Plan(PlanStatus.OPTIMAL, (), (Waiting(low.key, full),)))
    batch, _ = aside.without(replace(world, fabric=small.fabric([[5]])))
    assert low in batch.gangs
    assert len(batch.gangs) == 2


async def test_a_pod_that_ends_ends_a_fruitless_plan(bench: Bench) -> None:
    """One of four full nodes becomes free, and the pod that waits alone takes it."""
    await bench.start()
    await submitted(bench, *(pod(f"runs-{number}", 8) for number in range(4)))
    await submitted(bench, pod("waits", 8))
    await bench.cluster.delete(PODS, Target(TEAM, "runs-0"))
    await bench.clock.advance(5)
    assert "waits" in await placed(bench)
