"""Higher gangs take the place of lower ones: the whole scheduler on the twin, in virtual time.

The fabric is one spine of 4 leaves of 4 nodes. A gang that waits may preempt after 5 s, and
pods take their 30 s of grace only where their kubelet is gone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Refused
from fourleaf.k8s_bridge.cluster.kinds import DISRUPTION_BUDGETS, JOBS, LEASES, NODES, PODS, Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import GANG, GANG_SIZE, pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target, WatchEvent
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from fourleaf.k8s_bridge.relocation.records import Purpose
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.twins.jobs import job


@pytest.fixture
async def bench(bench: Bench) -> Bench:
    """A scheduler that leads, and three priorities."""
    await bench.classes(low=1, middle=5, high=10, meek=10)
    return bench


async def relocations(bench: Bench) -> int:
    """How many are under way."""
    return len((await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items)


async def test_one_victim_goes_where_one_suffices(bench: Bench) -> None:
    """Four gangs of 4 fill the fabric; one of 4 comes: one goes, the lowest, and comes last."""
    for name in ("a", "b", "c"):
        await bench.submit(name, 4, priority="middle")
    await bench.submit("d", 4, priority="low")
    uids = {name: await bench.uids(name) for name in "abcd"}
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(15)
    assert len(await bench.places("top")) == 4
    assert {name for name in "abcd" if await bench.uids(name) != uids[name]} == {"d"}
    assert not await bench.places("d")
    assert not await relocations(bench)


@pytest.mark.parametrize(("theirs", "ours"), [("low", "meek"), ("high", "high")])
async def test_the_meek_and_equals_wait(bench: Bench, theirs: str, ours: str) -> None:
    """Nobody goes for `preemptionPolicy: Never`, nor for a gang of the same priority."""
    await bench.submit("a", 16, priority=theirs)
    uids = await bench.uids("a")
    await bench.submit("top", 4, priority=ours)
    await bench.clock.advance(60)
    assert await bench.uids("a") == uids


async def test_a_gang_that_has_lost_a_member_is_no_victim(bench: Bench) -> None:
    """The lowest gang has lost a node and waits for its return: another makes way, and is whole."""
    await bench.submit("hurt", 4, priority="low", repair_policy="wait")
    for name in ("a", "b", "c"):
        await bench.submit(name, 4, priority="middle")
    bench.lose((await bench.places("hurt"))[0])
    await bench.clock.advance(60)
    uids = {name: await bench.uids(name) for name in ("a", "b", "c")}
    hurt = await bench.places("hurt")
    await bench.submit("top", 2, priority="high")
    await bench.clock.advance(30)
    assert len(await bench.places("top")) == 2
    assert await bench.places("hurt") == hurt
    assert len([name for name in uids if await bench.uids(name) != uids[name]]) == 1


class Deaf(MemoryCluster):
    """No watch of nodes says anything after the first list."""

    async def watch(
        self, kind: Kind, version: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """Everything of other kinds."""
        async with aclosing(super().watch(kind, version, namespace, labels, fields)) as events:
            async for event in events:
                if kind is not NODES:
                    yield event


@pytest.mark.parametrize("closed", ["cordoned", "not ready", "deleted"])
async def test_nobody_goes_for_a_seat_that_has_been_closed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    """A node of the victim was closed long ago, which no watch has told: the API is asked."""
    deaf = lambda name: Deaf(bench.cluster.store, identity=name)  # noqa: E731
    monkeypatch.setattr(bench.cluster, "client", deaf)
    await bench.succeed("b")
    await bench.submit("a", 16, priority="low")
    uids = await bench.uids("a")
    for name in (await bench.places("a")).values():
        target = Target("", name)
        if closed == "cordoned":
            await bench.cluster.patch(NODES, target, {"spec": {"unschedulable": True}})
        elif closed == "deleted":
            await bench.cluster.delete(NODES, target)
        else:
            status = {"conditions": [{"type": "Ready", "status": "False", "reason": "Kubelet"}]}
            await bench.cluster.patch(NODES, target, {"status": status}, "status")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(60)
    assert await bench.uids("a") == uids


async def test_a_higher_gang_arriving_in_mid_preemption_takes_nothing_that_is_kept(
    bench: Bench,
) -> None:
    """The victim takes its time; a second gang gets a place of its own, by a second victim."""
    await bench.submit("a", 8, priority="low")
    await bench.submit("b", 8, priority="low")
    bench.kubelets.silent |= set((await bench.places("a")).values())
    bench.kubelets.silent |= set((await bench.places("b")).values())
    await bench.submit("first", 8, priority="middle")
    await bench.clock.advance(6)
    await bench.submit("second", 8, priority="high")
    await bench.clock.advance(20)
    bench.kubelets.silent.clear()
    await bench.clock.advance(30)
    assert len(await bench.places("first")) == 8
    assert len(await bench.places("second")) == 8
    assert not set((await bench.places("first")).values()) & set(
        (await bench.places("second")).values()
    )


async def test_what_a_budget_forbids_is_not_forced(bench: Bench) -> None:
    """A budget of none over the only victim: nothing is evicted or kept, and it is asked once."""
    await bench.submit("a", 16, priority="low")
    await bench.cluster.create(
        DISRUPTION_BUDGETS,
        TEAM,
        {"metadata": {"name": "all"}, "spec": {"maxUnavailable": 0, "selector": {}}},
    )
    uids = await bench.uids("a")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(300)
    assert await bench.uids("a") == uids
    assert not await relocations(bench)
    assert len(bench.solved.preemptions) == 1
    assert "PreemptionForbidden" in await bench.reasons()
    await bench.cluster.delete(DISRUPTION_BUDGETS, Target(TEAM, "all"))
    await bench.clock.advance(30)
    assert len(await bench.places("top")) == 4


async def test_the_victim_without_a_budget_goes(bench: Bench) -> None:
    """Of two equal gangs one has a budget of one pod: the other goes, and `top` stands."""
    await bench.submit("a", 8, priority="low")
    await bench.submit("b", 8, priority="low")
    uids = {name: await bench.uids(name) for name in "ab"}
    selector = {"matchLabels": {"batch.kubernetes.io/job-name": "b"}}
    spec = {"maxUnavailable": 1, "selector": selector}
    await bench.cluster.create(DISRUPTION_BUDGETS, TEAM, {"metadata": {"name": "b"}, "spec": spec})
    await bench.submit("top", 8, priority="high")
    await bench.clock.advance(30)
    assert len(await bench.places("top")) == 8
    assert await bench.uids("b") == uids["b"]


@pytest.mark.parametrize(("kept", "most"), [(["a", "b"], 4), (["a"], 0)])
async def test_two_victims_of_one_budget(bench: Bench, kept: list[str], most: int) -> None:
    """It lets four of eight pods go, or none of one gang; both gangs would have to: none does."""
    await bench.submit("a", 4, priority="low")
    await bench.submit("b", 4, priority="low")
    await bench.submit("c", 8, priority="middle")
    uids = {name: await bench.uids(name) for name in "ab"}
    names = {"key": "batch.kubernetes.io/job-name", "operator": "In", "values": kept}
    spec = {"maxUnavailable": most, "selector": {"matchExpressions": [names]}}
    await bench.cluster.create(DISRUPTION_BUDGETS, TEAM, {"metadata": {"name": "ab"}, "spec": spec})
    await bench.submit("top", 8, priority="middle")
    await bench.submit("wide", 8, priority="high")
    await bench.clock.advance(60)
    assert {name: await bench.uids(name) for name in "ab"} == uids


async def test_a_gang_that_the_api_would_refuse_evicts_nobody(bench: Bench) -> None:
    """A webhook denies the bindings of `top`: its dry run comes before any eviction."""
    bench.tasks.pop().cancel()

    class Denies:
        async def before(self, request: ApiRequest) -> None:
            if request.subresource == "binding" and request.target.name.startswith("top-"):
                raise Refused("webhook denied", 403, "Forbidden")

        async def after(self, request: ApiRequest, answer: Any) -> None:
            """Let what was done stand."""

    await bench.start("b", dry_run="auto", answers=Denies())
    await bench.clock.advance(30)
    await bench.submit("a", 16, priority="low")
    uids = await bench.uids("a")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(1800)
    assert await bench.uids("a") == uids


async def test_a_gang_that_was_refused_in_spite_of_its_dry_run_evicts_nobody(
    bench: Bench,
) -> None:
    """A webhook lets dry runs of `top` pass and denies its bindings; then its room is taken."""
    bench.tasks.pop().cancel()

    class Denies:
        async def before(self, request: ApiRequest) -> None:
            of_top = request.subresource == "binding" and request.target.name.startswith("top-")
            if of_top and not request.dry_run:
                raise Refused("webhook denied", 403, "Forbidden")

        async def after(self, request: ApiRequest, answer: Any) -> None:
            """Let what was done stand."""

    await bench.start("b", dry_run="auto", answers=Denies())
    await bench.clock.advance(30)
    await bench.submit("a", 12, priority="low")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(2)
    await bench.submit("b", 4, priority="low")
    await bench.clock.advance(30)
    uids = await bench.uids("a"), await bench.uids("b")
    assert len(await bench.places("b")) == 4
    await bench.clock.advance(500)
    assert (await bench.uids("a"), await bench.uids("b")) == uids


class Keeps:
    """A webhook that lets no pod whose name begins so be evicted."""

    def __init__(self, start: str) -> None:
        self.start = start

    async def before(self, request: ApiRequest) -> None:
        """Deny evictions, those of dry runs too."""
        if request.subresource == "eviction" and request.target.name.startswith(self.start):
            raise Refused("a webhook keeps it", 403, "Forbidden")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def test_another_goes_where_admission_keeps_one(bench: Bench) -> None:
    """A webhook keeps one of the four pods of the lowest gang: none of them goes, the next does."""
    bench.tasks.pop().cancel()
    await bench.start("b", answers=Keeps("a-1"))
    await bench.clock.advance(30)
    await bench.submit("a", 4, priority="low")
    await bench.submit("b", 4, priority="middle")
    await bench.submit("c", 8, priority="high")
    uids = {name: await bench.uids(name) for name in "abc"}
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(60)
    assert len(await bench.places("top")) == 4
    assert {name for name in "abc" if await bench.uids(name) != uids[name]} == {"b"}


async def test_none_goes_where_admission_keeps_one_of_all(bench: Bench) -> None:
    """The only gang that could go has a pod that a webhook keeps: no pod goes, and that is said."""
    bench.tasks.pop().cancel()
    await bench.start("b", answers=Keeps("a-7"))
    await bench.clock.advance(30)
    await bench.submit("a", 16, priority="low")
    uids = await bench.uids("a")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(1800)
    assert await bench.uids("a") == uids
    kept = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    assert {read_relocation(lease).purpose for lease in kept} <= {Purpose.RESERVATION}
    assert "PreemptionForbidden" in await bench.reasons()
    # Asked again after one minute, two, four, and every five once a place is kept: not each cycle.
    assert len(bench.solved.preemptions) <= 10


async def test_a_victim_that_never_ends_stops_no_other_preemption(bench: Bench) -> None:
    """`first` waits for a victim whose kubelets are silent: `second` has its own within 30 s."""
    await bench.submit("a", 8, priority="low")
    await bench.submit("b", 8, priority="middle")
    bench.kubelets.silent |= set((await bench.places("a")).values())
    await bench.submit("first", 8, priority="middle")
    await bench.clock.advance(10)
    assert len(await bench.dying("a")) == 8
    await bench.submit("second", 8, priority="high")
    await bench.clock.advance(30)
    assert len(await bench.places("second")) == 8
    assert not await bench.places("first")


async def test_who_is_gone_needs_no_places(bench: Bench) -> None:
    """The gang is deleted while its victims still end: nothing is kept any longer."""
    await bench.submit("a", 16, priority="low")
    bench.kubelets.silent |= set((await bench.places("a")).values())
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(10)
    assert await relocations(bench) == 1
    await bench.delete("top")
    await bench.clock.advance(5)
    assert not await relocations(bench)


async def test_two_budgets_for_one_pod_forbid_it_too(bench: Bench) -> None:
    """The API would answer 500 then: nothing is evicted, and no place is kept."""
    await bench.submit("a", 16, priority="low")
    uids = await bench.uids("a")
    for name in ("one", "two"):
        body = {"metadata": {"name": name}, "spec": {"maxUnavailable": 16, "selector": {}}}
        await bench.cluster.create(DISRUPTION_BUDGETS, TEAM, body)
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(300)
    assert await bench.uids("a") == uids
    assert not await relocations(bench)


async def test_a_victim_that_never_ends(bench: Bench) -> None:
    """Its kubelets do nothing: each member is evicted once, and in the end nothing is kept."""
    await bench.submit("a", 16, priority="low")
    silent = set((await bench.places("a")).values())
    bench.kubelets.silent |= silent
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(10)
    dying = await bench.dying("a")
    assert len(dying) == 16
    assert await relocations(bench) == 1
    await bench.clock.advance(620)
    assert await bench.dying("a") == dying
    assert not await bench.places("top")
    bench.kubelets.silent -= silent
    await bench.clock.advance(20)
    assert len(await bench.places("top")) == 4
    kept = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    # The victim has waited for so long by now that a place is kept for it in turn.
    assert {read_relocation(lease).purpose for lease in kept} <= {Purpose.RESERVATION}


async def test_an_attempt_without_victims_is_repeated_soon(bench: Bench) -> None:
    """Nobody could be evicted to any avail at first; once an equal has ended, a lower one goes.

    The window of 300 s is for gangs for whom somebody had to go.
    """
    await bench.submit("equal", 8, priority="high")
    await bench.submit("lower", 8, priority="low")
    await bench.submit("top", 16, priority="high")
    await bench.clock.advance(30)
    assert bench.solved.preemptions
    assert not any(plan.victims for plan in bench.solved.preemptions)
    await bench.end("equal")
    await bench.clock.advance(60)
    assert len(await bench.places("top")) == 16


async def test_a_victim_that_ends_slowly_is_the_only_one(bench: Bench) -> None:
    """Half an hour of grace to write a checkpoint: no other gang is told to go meanwhile."""
    for name in "abcd":
        body = job(name, 4)
        spec = body["spec"]["template"]["spec"]
        spec |= {"priorityClassName": "low", "terminationGracePeriodSeconds": 1800}
        await submit(bench.cluster, TEAM, [])
        await bench.cluster.create(JOBS, TEAM, body)
    await bench.clock.advance(5)
    uids = {name: await bench.uids(name) for name in "abcd"}
    bench.kubelets.silent |= {one["metadata"]["name"] for one in bench.fabric}
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(1800)
    assert len([name for name in "abcd" if await bench.uids(name) != uids[name]]) == 1
    bench.kubelets.silent.clear()
    await bench.clock.advance(60)
    assert len(await bench.places("top")) == 4


async def test_a_node_that_is_closed_while_victims_end_costs_no_window(bench: Bench) -> None:
    """The first four of four leaves' gangs end as a node of their leaf is cordoned: others go soon.

    Where that happens once more, the window of 300 s is waited for.
    """
    for name in "abcd":
        body = job(name, 4)
        body["spec"]["template"]["spec"]["priorityClassName"] = "low"
        await submit(bench.cluster, TEAM, [])
        await bench.cluster.create(JOBS, TEAM, body)
    await bench.clock.advance(5)
    bench.kubelets.silent |= {one["metadata"]["name"] for one in bench.fabric}
    await bench.submit("top", 4, priority="high")
    for evicted in (4, 8):
        for _ in range(60):
            await bench.clock.advance(0.5)
            if len(await bench.events("Evicted")) == evicted:
                break
        assert len(await bench.events("Evicted")) == evicted
        (record,) = (await bench.cluster.list(LEASES, labels=RELOCATIONS)).items
        closed = {"spec": {"unschedulable": True}}
        seat = read_relocation(record).seats[0]
        await bench.cluster.patch(NODES, Target("", seat.node), closed)
        await bench.clock.advance(1)
    await bench.clock.advance(200)
    assert len(await bench.events("Evicted")) == 8
    await bench.clock.advance(120)
    assert len(await bench.events("Evicted")) == 12
    bench.kubelets.silent.clear()
    await bench.clock.advance(60)
    assert len(await bench.places("top")) == 4


LONG_GRACE = pytest.param(10**9, 3600, marks=pytest.mark.deep)


@pytest.mark.parametrize(("grace", "patience"), [(30, 30), LONG_GRACE])
async def test_another_goes_where_one_never_ends(bench: Bench, grace: int, patience: float) -> None:
    """The lowest gang has its grace, an hour at most, and two minutes; then the next makes room."""
    body = job("a", 8, 8)
    spec = body["spec"]["template"]["spec"]
    spec |= {"priorityClassName": "low", "terminationGracePeriodSeconds": grace}
    await submit(bench.cluster, TEAM, [])
    await bench.cluster.create(JOBS, TEAM, body)
    await bench.clock.advance(3)
    await bench.submit("b", 8, priority="middle")
    uids = await bench.uids("b")
    bench.kubelets.silent |= set((await bench.places("a")).values())
    await bench.submit("top", 8, priority="high")
    await bench.clock.advance(patience + 115)
    assert await bench.uids("b") == uids
    await bench.clock.advance(30)
    assert len(await bench.places("top")) == 8


async def test_of_who_never_ends_no_more_are_told_to(bench: Bench) -> None:
    """Pods of one controller on all nodes: where one never ends, no other of them is told to."""
    owner = {"apiVersion": "example.org/v1", "kind": "Training", "name": "t", "uid": "u"}
    pods = [pod(f"t-{number}", namespace=TEAM) for number in range(16)]
    for one in pods:
        one["metadata"]["ownerReferences"] = [owner | {"controller": True}]
        one["spec"]["priorityClassName"] = "low"
    await submit(bench.cluster, TEAM, pods)
    await bench.clock.advance(3)
    bench.kubelets.silent |= {one["metadata"]["name"] for one in bench.fabric}

    async def told() -> int:
        items = (await bench.cluster.list(PODS, TEAM)).items
        return sum("deletionTimestamp" in one["metadata"] for one in items)

    await bench.submit("top", 1, priority="high")
    await bench.clock.advance(400)
    assert await told() == 1
    # They are asked again once ten minutes have passed.
    await bench.clock.advance(400)
    assert await told() == 2


async def test_who_fits_beside_another_once_a_victim_has_gone_needs_none(bench: Bench) -> None:
    """A gang of 8 makes way for one of 4 and takes its time: the second of 4 waits for the rest."""
    await bench.submit("a", 8, priority="low")
    await bench.submit("b", 8, priority="middle")
    uids = await bench.uids("b")
    silent = set((await bench.places("a")).values())
    bench.kubelets.silent |= silent
    await bench.submit("first", 4, priority="high")
    await bench.clock.advance(5)
    await bench.submit("second", 4, priority="high")
    await bench.clock.advance(60)
    assert await bench.uids("b") == uids
    bench.kubelets.silent -= silent
    await bench.clock.advance(10)
    assert [len(await bench.places(name)) for name in ("first", "second")] == [4, 4]
    assert await bench.uids("b") == uids


async def test_gangs_that_no_victim_helps_keep_no_other_waiting(bench: Bench) -> None:
    """Twelve older ones are looked at, one a second: `top` of another namespace comes second."""
    for number in range(4):
        await bench.submit(f"old-{number}", 4, priority="low")
    await bench.submit_hopeless("evil", 12, priority="high")
    await bench.submit("top", 2, priority="high")
    await bench.clock.advance(7)
    assert len(await bench.places("top")) == 2


async def gang_of(bench: Bench, namespace: str, name: str, gpus: int, cost: int) -> None:
    """A low gang of four pods at that cost for each, and time for it to be bound."""
    said = {GANG: name, GANG_SIZE: "4", "topology.scheduler/move-cost": str(cost)}
    pods = [pod(f"{name}-{i}", gpus, namespace=namespace, annotations=said) for i in range(4)]
    for one in pods:
        one["spec"]["priorityClassName"] = "low"
    await submit(bench.cluster, namespace, pods)
    await bench.clock.advance(2)


async def left_after_preemption(bench: Bench) -> set[str]:
    """The gangs that there are once `top` has taken the place of one of them."""
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(20)
    there = (await bench.cluster.list(PODS)).items
    return {one["metadata"]["name"].split("-")[0] for one in there}


async def test_a_cost_counts_beside_its_own_namespace_alone(bench: Bench) -> None:
    """`evil` says half a million and one, 67 and 133 % of its average; `other` twice the same."""
    costs = [("evil", 500_000), ("evil", 1_000_000), ("other", 7), ("other", 7)]
    for number, (namespace, cost) in enumerate(costs):
        await gang_of(bench, namespace, f"g{number}", 8, cost)
    assert await left_after_preemption(bench) == {"g1", "g2", "g3", "top"}


async def test_pods_without_gpus_make_no_others_dear(bench: Bench) -> None:
    """Beside 4 pods without GPUs at 1, those at 80 and at 100 are 89 and 111 % of the average.

    Pod by pod they would be 133 and 166 %, and the gang of `other` would go, at 100 %.
    """
    for name, gpus, cost in (("dust", 0, 1), ("g0", 8, 80), ("g1", 8, 100)):
        await gang_of(bench, "evil", name, gpus, cost)
    await gang_of(bench, "other", "g2", 8, 7)
    await gang_of(bench, "other", "g3", 8, 7)
    assert await left_after_preemption(bench) == {"dust", "g1", "g2", "g3", "top"}


async def test_who_overstays_is_evicted_first(bench: Bench) -> None:
    """`b` has said 10 s and runs for 80: it goes, although a move of it costs more."""
    await bench.submit("a", 8, priority="low", move_cost="1")
    await bench.submit("b", 8, priority="low", move_cost="100", expected_duration="10s")
    uids = await bench.uids("a")
    await bench.clock.advance(80)
    await bench.submit("top", 8, priority="high")
    await bench.clock.advance(15)
    assert len(await bench.places("top")) == 8
    assert await bench.uids("a") == uids


async def test_evictions_wait_for_a_plan_that_is_under_way_but_not_for_long() -> None:
    """It may find room that came meanwhile: no pod goes before it has come, or taken 2 s."""
    bench = Bench()
    plan, answers_from = bench.solved.plan, [0.0]

    async def late(snapshot: Snapshot) -> Plan:
        await bench.clock.sleep(max(0.0, answers_from[0] - bench.clock.monotonic()))
        return await plan(snapshot)

    bench.solved.plan = late  # type: ignore[method-assign]
    await bench.start()
    await bench.classes(low=1, high=10)
    for name in "abcd":
        await bench.submit(name, 4, priority="low")
    uids = {name: await bench.uids(name) for name in "abcd"}
    await bench.submit("top", 4, priority="high")
    # A cycle begins just before the 5 s have passed after which `top` may preempt.
    await bench.clock.advance(1.5)
    answers_from[0] = bench.clock.monotonic() + 600
    await submit(bench.cluster, "others", [pod("other")])
    await bench.clock.advance(1.8)
    assert {name: await bench.uids(name) for name in "abcd"} == uids
    await bench.clock.advance(2)
    assert {name: await bench.uids(name) for name in "abcd"} != uids
    await bench.stop()


class NotYet:
    """Binds no second member of Job b, for the API server is not able to."""

    async def before(self, request: ApiRequest) -> None:
        """Answer 500 to its binding."""
        if request.subresource == "binding" and request.target.name.startswith("b-1-"):
            raise Ambiguous("etcd has no leader", 500)

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Nothing is lost."""


async def test_a_gang_that_is_being_bound_is_no_victim() -> None:
    """The lowest of four gangs is still on its way: to evict what stands of it would be in vain."""
    bench = Bench()
    await bench.start(answers=NotYet())
    await bench.classes(low=1, middle=5, high=10)
    for name in "acd":
        await bench.submit(name, 4, priority="middle")
    await bench.submit("b", 4, priority="low")
    assert len(await bench.places("b")) == 3
    uids = await bench.uids("b")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(15)
    assert len(await bench.places("top")) == 4
    assert await bench.uids("b") == uids
    await bench.stop()
