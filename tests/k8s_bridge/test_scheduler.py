"""The whole scheduler on the twin, in virtual time: what users and operators would see."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, EVENTS, JOB_SETS, LEASES, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import (
    Kubelets,
    add_namespace,
    gang,
    node,
    nodes,
    pod,
    submit,
)
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Target
from fourleaf.k8s_bridge.election.gate import NotLeader
from fourleaf.k8s_bridge.leader import Leader
from fourleaf.k8s_bridge.reporting.audit import Audit
from fourleaf.k8s_bridge.reporting.conditions import pod_scheduled
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.reporting.reporter import Reporter
from fourleaf.k8s_bridge.runtime import logs
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.scheduler import Scheduler, SchedulerOptions
from fourleaf.k8s_bridge.scheduling.cycle import CycleReport
from fourleaf.model.config.spec import CONFIG_MAP
from fourleaf.model.extensions import BindingPlugin, Extensions, GangBinding
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.explain.explain import explain
from tests.k8s_bridge.ledger.harness import devices_of
from tests.twins.virtual_clock import VirtualClock

TEAM = "ml"


async def greedy(snapshot: Snapshot) -> Plan:
    """A legal plan with reasons, at once and without a process."""
    return explain(snapshot, greedy_plan(snapshot), Extensions())


class Bench:
    """A cluster of one spine of 4 leaves of 4 nodes, its kubelets, and schedulers."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.cluster = MemoryCluster(clock=self.clock)
        self.kubelets = Kubelets(self.cluster.store)
        self.metrics = SchedulerMetrics()
        self.audit: Audit | None = None
        self.tasks: list[asyncio.Task[Any]] = [asyncio.ensure_future(self.kubelets.run())]

    async def start(
        self,
        name: str = "a",
        solve: Any = greedy,
        client: MemoryCluster | None = None,
        plugins: Sequence[BindingPlugin] = (),
    ) -> Scheduler:
        """Start a scheduler, and let it take the lead where that is free."""
        options = SchedulerOptions(identity=name, dry_run="never")
        client = client or self.cluster.client(name)
        scheduler = Scheduler(
            client,
            self.clock,
            solve,
            options,
            lambda one: Reporter(one, self.metrics, self.audit),
            plugins=plugins,
        )
        self.tasks.append(asyncio.ensure_future(scheduler.run()))
        await self.clock.advance(1)
        return scheduler

    async def stop(self) -> None:
        """End everything."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def pods(self) -> dict[str, Body]:
        """All pods by name."""
        items = (await self.cluster.list(PODS)).items
        return {body["metadata"]["name"]: body for body in items}

    async def places(self) -> dict[str, str]:
        """The nodes of all bound pods, by the pods' names."""
        found = await self.pods()
        return {
            name: body["spec"]["nodeName"]
            for name, body in found.items()
            if body["spec"].get("nodeName")
        }

    async def condition(self, name: str) -> str:
        """What the pod's PodScheduled condition says."""
        for one in (await self.pods())[name]["status"].get("conditions", []):
            if one["type"] == "PodScheduled":
                return str(one.get("message", ""))
        return ""


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A cluster with nodes."""
    bench = Bench()
    for body in nodes(1, 4, 4):
        await bench.cluster.create(NODES, "", body)
    yield bench
    await bench.stop()


async def test_gangs_are_bound_by_the_leaf_rule(bench: Bench) -> None:
    """A gang of 4 gets one leaf, one of 8 two adjacent ones, and every pod its 8 devices."""
    await bench.start()
    await submit(bench.cluster, TEAM, [*gang("four", 4), *gang("eight", 8)])
    await bench.clock.advance(3)
    places = await bench.places()
    leaf = {name: int(place.split("-")[2]) for name, place in places.items()}
    assert len(places) == 12
    assert len({leaf[f"four-{i}"] for i in range(4)}) == 1
    pair = sorted({leaf[f"eight-{i}"] for i in range(8)})
    assert pair[1] == pair[0] + 1
    assert all(devices_of(body) == tuple(range(8)) for body in (await bench.pods()).values())


async def test_latency_is_measured_from_the_moment_in_which_pods_came(bench: Bench) -> None:
    """Nine tenths of a second after the full second that creationTimestamp says."""
    await bench.start()
    await bench.clock.advance(1.9 - bench.clock.wall() % 1)
    await submit(bench.cluster, TEAM, gang("four", 4))
    await bench.clock.advance(3)
    assert len(await bench.places()) == 4
    value = bench.metrics.registry.get_sample_value
    assert value("topology_scheduler_latency_seconds_count") == 1
    seconds = value("topology_scheduler_latency_seconds_sum")
    assert seconds is not None
    assert 0 <= seconds < 0.5


async def test_each_gang_has_a_line_at_debug(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is placed, or why it waits, in each cycle; nothing of that without being asked."""
    for asked in (False, True):
        monkeypatch.setattr(logs, "is_debugging", lambda told=asked: told)
        with capture_logs() as said:
            await bench.start() if not asked else None
            await submit(bench.cluster, TEAM, [*gang(f"four-{asked}", 4), *gang(f"99-{asked}", 99)])
            await bench.clock.advance(3)
        found = {(one["event"], one["gang"]) for one in said if one["log_level"] == "debug"}
        placed, waits = ("gang_placed", f"{TEAM}/four-True"), ("gang_waits", f"{TEAM}/99-True")
        assert found >= {placed, waits} if asked else not found


async def test_a_gang_waits_and_says_why_until_there_is_room(bench: Bench) -> None:
    """Condition and event name the reason; when the other gang ends, the one that waits starts."""
    await bench.start()
    await submit(bench.cluster, TEAM, [*gang("first", 16)])
    await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, [*gang("second", 2)])
    await bench.clock.advance(3)
    assert "To unblock: " in await bench.condition("second-0")
    events = (await bench.cluster.list(EVENTS)).items
    assert {"FailedScheduling", "Scheduled", "GangBound"} <= {e["reason"] for e in events}
    bench.kubelets.finish(TEAM, [f"first-{i}" for i in range(16)])
    await bench.clock.advance(5)
    assert {"second-0", "second-1"} <= set(await bench.places())


async def test_events_are_found_by_the_scheduler_that_a_pod_asked_for(bench: Bench) -> None:
    """By `-o wide`, which shows the controller, and by the note, which is shown without it.

    A name that is our own, and events about no pod, stay as they are.
    """
    await bench.start()
    older = [*gang("older", 16), *gang("late", 2)]
    for body in older:
        body["spec"]["schedulerName"] = "gpu-scheduler"
    await submit(bench.cluster, TEAM, [*older, *gang("ours", 1)])
    await bench.clock.advance(3)
    by, notes = defaultdict[str, set[str]](set), list[str]()
    for event in (await bench.cluster.list(EVENTS)).items:
        about = str(event["regarding"]["name"]).partition("-")[0]
        by[about].add(event["reportingController"])
        notes += [event["note"]] if about in ("older", "late") else []
    own = {"topology-aware-scheduler"}
    assert by == {"older": {"gpu-scheduler"}, "late": {"gpu-scheduler"}, "ours": own}
    assert all(note.startswith("gpu-scheduler: ") for note in notes)


class Steps:
    """A binding plugin: `bad` gangs go wrong before, all after; what it was told, in order."""

    name = "steps"

    def __init__(self) -> None:
        self.bad = {"bad"}
        self.told: list[tuple[str, str, int]] = []

    def before(self, binding: GangBinding) -> str | None:
        """Raise for what is bad."""
        self.told.append(("before", binding.gang.name, len(binding.pods)))
        if binding.gang.name in self.bad:
            raise ValueError("not this one")
        return None

    def after(self, binding: GangBinding) -> str | None:
        """Say that it is done."""
        self.told.append(("after", binding.gang.name, len(binding.pods)))
        return "done"


async def test_steps_of_a_plugin_stand_before_and_after_the_bindings(bench: Bench) -> None:
    """A step that goes wrong keeps its own gang waiting, with the reason, until it does not."""
    steps = Steps()
    await bench.start(plugins=[steps])
    await submit(bench.cluster, TEAM, [*gang("good", 4), *gang("bad", 2)])

    async def until(placed: set[str]) -> None:
        for _ in range(200):
            await bench.clock.advance(0.2)
            # Threads run in the time of the machine.
            await asyncio.sleep(0.002)
            if {name.partition("-")[0] for name in await bench.places()} == placed:
                return

    await until({"good"})
    assert {("before", "good", 4), ("before", "bad", 2), ("after", "good", 4)} <= set(steps.told)
    await bench.clock.advance(3)
    assert "binding plugin steps: raised ValueError: not this one" in await bench.condition("bad-0")
    events = (await bench.cluster.list(EVENTS)).items
    assert ("good-0", "binding plugin steps: done") in {
        (event["regarding"]["name"], event["note"]) for event in events
    }
    steps.bad.clear()
    await until({"good", "bad"})
    assert ("after", "bad", 2) in steps.told


async def test_half_a_gang_waits_for_the_other_half(bench: Bench) -> None:
    """Nothing is bound before all members exist."""
    await bench.start()
    members = gang("g", 4)
    await submit(bench.cluster, TEAM, members[:3])
    await bench.clock.advance(5)
    assert not await bench.places()
    assert "3 of 4 members" in await bench.condition("g-0")
    await submit(bench.cluster, TEAM, members[3:])
    await bench.clock.advance(3)
    assert len(await bench.places()) == 4


async def test_pods_of_others_count_as_used(bench: Bench) -> None:
    """A node taken by a foreign pod is planned around, and no leaf with one is complete."""
    await bench.start()
    for i in range(3):
        (other,) = await submit(
            bench.cluster, TEAM, [pod(f"other-{i}", 8, scheduler="default-scheduler")]
        )
        await bench.cluster.bind(Binding(other, f"n-0-{i}-0"))
    await submit(bench.cluster, TEAM, gang("four", 4))
    await bench.clock.advance(3)
    places = await bench.places()
    assert {places[f"four-{i}"].split("-")[2] for i in range(4)} == {"3"}


async def test_room_taken_while_solving_is_noticed(bench: Bench) -> None:
    """A foreign pod lands on a planned node during the solve: the gang is planned anew."""
    taken = False

    async def slow(snapshot: Snapshot) -> Plan:
        nonlocal taken
        plan = await greedy(snapshot)
        if plan.placements and not taken:
            taken = True
            (other,) = await submit(
                bench.cluster, TEAM, [pod("other", 8, scheduler="default-scheduler")]
            )
            await bench.cluster.bind(Binding(other, plan.placements[0].pods[0][1]))
            await bench.clock.sleep(0.5)
        return plan

    await bench.start(solve=slow)
    await submit(bench.cluster, TEAM, gang("four", 4))
    await bench.clock.advance(8)
    places = await bench.places()
    assert len(places) == 5
    assert len(set(places.values())) == 5


@pytest.mark.parametrize(
    "change",
    [
        {"spec": {"unschedulable": True}},
        {"metadata": {"labels": {"fabric.topograph.run/tier-0": "leaf-0-3"}}},
        {"spec": {"taints": [{"key": "repair", "effect": "NoSchedule"}]}},
    ],
    ids=["cordoned", "relabelled", "tainted"],
)
async def test_a_node_that_changed_while_solving_is_planned_again(
    bench: Bench, change: Body
) -> None:
    """A planned node is changed during the first solve: the gang goes to a leaf without it."""
    changed: list[str] = []

    async def slow(snapshot: Snapshot) -> Plan:
        plan = await greedy(snapshot)
        if plan.placements and not changed:
            changed.append(plan.placements[0].pods[0][1])
            await bench.cluster.patch(NODES, Target("", changed[0]), change)
            await bench.clock.sleep(0.5)
        return plan

    await bench.start(solve=slow)
    await submit(bench.cluster, TEAM, gang("four", 4))
    await bench.clock.advance(8)
    places = await bench.places()
    assert len({node.split("-")[2] for node in places.values()}) == 1
    assert len(places) == 4
    assert changed[0] not in places.values()


async def test_a_gang_that_grew_while_solving_is_planned_again(bench: Bench) -> None:
    """A gang of two becomes one of four during the first solve: it is bound as four, at once."""
    grown = False

    async def slow(snapshot: Snapshot) -> Plan:
        nonlocal grown
        plan = await greedy(snapshot)
        if plan.placements and not grown:
            grown = True
            size = {"metadata": {"annotations": {"topology.scheduler/gang-size": "4"}}}
            for name in ("g-0", "g-1"):
                await bench.cluster.patch(PODS, Target(TEAM, name), size)
            await bench.clock.sleep(0.5)
        return plan

    await bench.start(solve=slow)
    await submit(bench.cluster, TEAM, gang("g", 2))
    await bench.clock.advance(4)
    assert not await bench.places()
    await submit(bench.cluster, TEAM, gang("g", 4)[2:])
    await bench.clock.advance(4)
    assert len({node.split("-")[2] for node in (await bench.places()).values()}) == 1
    assert len(await bench.places()) == 4


async def test_a_standby_takes_over_from_a_killed_leader(bench: Bench) -> None:
    """The standby leads after the Lease has ended, and binds what came meanwhile."""
    await bench.start("a")
    await bench.start("b")
    bench.tasks[1].cancel()
    bench.cluster.client("a")
    await submit(bench.cluster, TEAM, gang("g", 4))
    await bench.clock.advance(10)
    assert len(await bench.places()) == 4


async def test_a_config_edit_takes_effect_and_a_bad_one_does_not(bench: Bench) -> None:
    """Another scheduler name is honoured once configured; a bad edit keeps it and is told."""
    scheduler = await bench.start()
    await submit(bench.cluster, TEAM, [pod("mine", 1, scheduler="my-scheduler")])
    await bench.clock.advance(2)
    assert not await bench.places()
    text = "apiVersion: topology.scheduler/v1alpha1\nkind: SchedulerConfig\nspec:\n"
    await bench.cluster.create(
        CONFIG_MAPS,
        "kube-system",
        {
            "metadata": {"name": CONFIG_MAP},
            "data": {"config.yaml": text + "  schedulerNames: [my-scheduler]\n"},
        },
    )
    await bench.clock.advance(3)
    assert set(await bench.places()) == {"mine"}
    bad = {"data": {"config.yaml": text + "  batch: {size: none}\n"}}
    await bench.cluster.patch(CONFIG_MAPS, Target("kube-system", CONFIG_MAP), bad)
    await submit(bench.cluster, TEAM, [pod("mine-too", 1, scheduler="my-scheduler")])
    await bench.clock.advance(3)
    assert set(await bench.places()) == {"mine", "mine-too"}
    status = scheduler.reporter.status()
    assert [problem.field for problem in status.config_problems] == ["spec.batch.size"]
    events = (await bench.cluster.list(EVENTS)).items
    assert "ConfigInvalid" in {event["reason"] for event in events}
    worse = {"data": {"config.yaml": text + "  network: {uplinkBandwidth: 0Gb}\n"}}
    await bench.cluster.patch(CONFIG_MAPS, Target("kube-system", CONFIG_MAP), worse)
    await submit(bench.cluster, TEAM, [pod("mine-again", 1, scheduler="my-scheduler")])
    await bench.clock.advance(3)
    assert "mine-again" in await bench.places()
    problems = scheduler.reporter.status().config_problems
    assert [problem.field for problem in problems] == ["spec.network.uplinkBandwidth"]


async def test_what_cannot_be_understood_isolates_itself(bench: Bench) -> None:
    """A node with nonsense and a pod with a bad annotation stop nobody else."""
    await bench.start()
    odd = node("odd", "leaf-0-0", "spine-0")
    odd["status"]["allocatable"] = odd["status"]["allocatable"] | {"nvidia.com/gpu": "many"}
    await bench.cluster.create(NODES, "", odd)
    bad = gang("bad", 2, **{"topology.scheduler/topology-policy": "Perhaps"})
    await submit(bench.cluster, TEAM, [*bad, *gang("good", 2)])
    await bench.clock.advance(3)
    assert set(await bench.places()) == {"good-0", "good-1"}
    assert "topology-policy" in await bench.condition("bad-0")


async def test_a_new_node_is_used(bench: Bench) -> None:
    """A leaf that is added while running gets its page and takes a gang."""
    await bench.start()
    await submit(bench.cluster, TEAM, gang("first", 16))
    await bench.clock.advance(3)
    for i in range(4):
        await bench.cluster.create(NODES, "", node(f"n-0-4-{i}", "leaf-0-4", "spine-0"))
    await submit(bench.cluster, TEAM, gang("second", 4))
    await bench.clock.advance(5)
    places = await bench.places()
    assert {places[f"second-{i}"] for i in range(4)} == {f"n-0-4-{i}" for i in range(4)}


async def test_status_says_who_leads_and_what_waits(bench: Bench) -> None:
    """`/status` has leader, epoch, last cycle and the queue with reasons."""
    scheduler = await bench.start("a")
    await submit(bench.cluster, TEAM, gang("huge", 17))
    await bench.clock.advance(3)
    status = scheduler.reporter.status()
    assert (status.leader, status.holder, status.epoch) == (True, "a", 1)
    assert status.unsynced == ()
    assert [str(one.gang) for one in status.queue] == ["ml/huge"]
    assert status.last is not None
    assert status.last.waiting == 1


async def test_a_namespace_can_be_added_later(bench: Bench) -> None:
    """Nothing depends on a namespace that is not there yet."""
    await bench.start()
    await add_namespace(bench.cluster, "late")
    await submit(bench.cluster, "late", gang("g", 2))
    await bench.clock.advance(3)
    assert len(await bench.places()) == 2


async def test_a_slow_takeover_keeps_the_lead(bench: Bench) -> None:
    """Taking over may last longer than the lease holds; the lead is renewed meanwhile."""

    class Slow:
        async def before(self, request: ApiRequest) -> None:
            if request.kind is LEASES and request.target.name.startswith("page-"):
                await bench.clock.sleep(4.0)

        async def after(self, request: ApiRequest, answer: Any) -> None:
            """Answers come at once."""

    client = bench.cluster.client("a", Slow())
    options = SchedulerOptions(identity="a", dry_run="never")
    scheduler = Scheduler(
        client, bench.clock, greedy, options, lambda one: Reporter(one, SchedulerMetrics())
    )
    bench.tasks.append(asyncio.ensure_future(scheduler.run()))
    await submit(bench.cluster, TEAM, gang("g", 4))
    await bench.clock.advance(40)
    assert scheduler.epoch == 1
    assert len(await bench.places()) == 4


async def test_what_waited_before_the_term_is_planned(bench: Bench) -> None:
    """A leader that loses the lead and wins it again plans at once, without any change."""
    scheduler = await bench.start("a")
    await submit(bench.cluster, TEAM, gang("first", 16))
    await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, gang("second", 2))
    await bench.clock.advance(5)
    before = sum(count for _, count in scheduler.reporter.status().cycles)
    lease = Target("kube-system", "fourleaf-scheduler")
    await bench.cluster.patch(LEASES, lease, {"spec": {"holderIdentity": "nobody"}})
    await bench.clock.advance(20)
    assert scheduler.epoch > 1
    assert sum(count for _, count in scheduler.reporter.status().cycles) > before


async def test_what_is_told_before_the_first_cycle_names_no_others(bench: Bench) -> None:
    """A new leader goes on with relocations of the old one, and says to pods for which gang."""
    scheduler = await bench.start()
    await add_namespace(bench.cluster, "other")
    await submit(bench.cluster, TEAM, gang("g", 2))
    await submit(bench.cluster, "other", gang("Deal", 2))
    await bench.clock.advance(3)
    scheduler.reporter.lead_lost()
    scheduler.reporter.stranded(GangKey(TEAM, "g"), Target(TEAM, "g-0"), "gang other/Deal has it")
    await bench.clock.advance(3)
    notes = [one["note"] for one in (await bench.cluster.list(EVENTS, TEAM)).items]
    (note,) = (one for one in notes if "has lost members" in one)
    assert note.endswith("a gang of another namespace has it")


async def test_a_term_that_fails_counts_as_a_cycle_that_failed(bench: Bench) -> None:
    """A solve that raises ends the term, and the next one begins; each shows in the metric."""
    terms: list[Snapshot] = []

    async def solve(snapshot: Snapshot) -> Plan:
        if len(terms) < 2:
            terms.append(snapshot)
            raise RuntimeError("no plan today")
        return await greedy(snapshot)

    await bench.start(solve=solve)
    await submit(bench.cluster, TEAM, [*gang("two", 2)])
    await bench.clock.advance(60)
    assert bench.metrics.registry.get_sample_value(
        "fourleaf_cycle_status_total", {"status": "FAILED"}
    ) == len(terms)
    assert await bench.places()


async def test_kinds_that_are_not_served_are_not_stale(bench: Bench) -> None:
    """The age of a watch that cannot be is 0, so that no alert goes off for it."""
    await bench.start(client=MemoryCluster(MemoryStore(bench.clock, missing=[JOB_SETS])))
    await bench.clock.advance(600)
    age = bench.metrics.registry.get_sample_value(
        "fourleaf_watch_age_seconds", {"kind": "jobsets.jobset.x-k8s.io"}
    )
    assert age == 0


async def test_a_node_that_does_not_say_whether_it_is_ready() -> None:
    """Planning and binding agree that it may be used: the only node takes the pod."""
    bench = Bench()
    try:
        body = node("n-0-0-0", "leaf-0-0", "spine-0")
        del body["status"]["conditions"]
        await bench.cluster.create(NODES, "", body)
        await bench.start()
        await submit(bench.cluster, TEAM, gang("g", 1))
        await bench.clock.advance(10)
        assert await bench.places() == {"g-0": "n-0-0-0"}
    finally:
        await bench.stop()


async def test_what_cannot_be_told_ends_no_term(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Telling fails after each cycle: gangs are bound all the same, in the first term."""

    def broken(*_: object) -> None:
        raise TypeError("what a tenant wrote makes no sense")

    monkeypatch.setattr("fourleaf.k8s_bridge.reporting.reporter.after_cycle", broken)
    scheduler = await bench.start()
    for name in ("one", "two"):
        await submit(bench.cluster, TEAM, gang(name, 2))
        await bench.clock.advance(3)
    assert len(await bench.places()) == 4
    assert scheduler.epoch == 1


async def test_one_that_is_to_end_while_its_term_fails_ends(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lead is lost in the moment of a SIGTERM: no other term begins."""
    terms: list[int] = []

    async def loses_the_lead() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise NotLeader("the lease was not renewed in time")

    async def lead(_: Leader, epoch: int) -> None:
        terms.append(epoch)
        async with asyncio.TaskGroup() as tasks:
            if len(terms) == 1:
                tasks.create_task(loses_the_lead())
            await asyncio.Event().wait()

    monkeypatch.setattr(Leader, "lead", lead)
    scheduler = await bench.start()
    assert scheduler.leading
    bench.tasks[-1].cancel()
    await bench.clock.advance(10)
    assert len(terms) == 1
    assert bench.tasks[-1].cancelled()


async def test_a_gang_whose_last_pod_comes_during_a_rest_is_bound_at_once(bench: Bench) -> None:
    """Nothing that waits can start, and the next cycle is a second away: no gang waits for that."""
    await bench.start()
    await submit(bench.cluster, TEAM, [pod("huge", 64), *gang("pair", 2)[:1]])
    await bench.clock.advance(2.6)
    await submit(bench.cluster, TEAM, [pod("huge-too", 64)])
    await bench.clock.advance(0.2)
    await submit(bench.cluster, TEAM, gang("pair", 2)[1:])
    await bench.clock.advance(0.3)
    assert sorted(await bench.places()) == ["pair-0", "pair-1"]


async def test_a_gang_that_comes_while_another_is_to_be_tried_again_is_bound_at_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each cycle is to be repeated, the next one in ten seconds: no gang waits for that."""
    monkeypatch.setattr(CycleReport, "again", True)
    monkeypatch.setattr(Backoff, "next", lambda *_: 10.0)
    await bench.start()
    await submit(bench.cluster, TEAM, [pod("huge", 64)])
    await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, gang("pair", 2))
    await bench.clock.advance(0.5)
    assert sorted(await bench.places()) == ["pair-0", "pair-1"]


async def test_a_rest_is_not_spent_on_reading_what_changes_without_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look takes 20 ms, so the next one comes 200 ms later: 5 a second at most, not 25.

    And one at the end of each rest of a second, whenever the last one was.
    """
    scheduler = await bench.start()
    await submit(bench.cluster, TEAM, [pod("huge", 64)])
    await bench.clock.advance(2.6)
    looks: list[float] = []

    def slowly() -> int:
        looks.append(bench.clock.monotonic())
        bench.clock.spend(0.02)
        return arrivals()

    arrivals = scheduler.cache.arrivals
    monkeypatch.setattr(ClusterCache, "arrivals", lambda _: slowly())
    for member in gang("incomplete", 100)[:40]:
        await submit(bench.cluster, TEAM, [member])
        await bench.clock.advance(0.05)
    assert 5 <= len(looks) <= 6 * (looks[-1] - looks[0]) + 1


async def test_a_rest_ends_in_time_however_long_a_look_takes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look takes 0.8 s, of a rest of one: what `pair` waits for is seen by the next cycle."""
    scheduler = await bench.start()
    await submit(bench.cluster, TEAM, [pod("huge", 64)])
    await bench.clock.advance(2.6)

    def cycles() -> int:
        return sum(count for _, count in scheduler.reporter.status().cycles)

    def slowly(cache: ClusterCache) -> int:
        bench.clock.spend(0.8)
        return seen(cache)

    seen = ClusterCache.arrivals
    monkeypatch.setattr(ClusterCache, "arrivals", slowly)
    before = cycles()
    for member in gang("incomplete", 100)[:60]:
        await submit(bench.cluster, TEAM, [member])
        await bench.clock.advance(0.1)
    assert cycles() - before >= 3


async def test_what_is_too_much_for_one_cycle_is_told_without_another(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six gangs that no node holds, of which a cycle tells one: all say why seconds later."""
    monkeypatch.setattr(pod_scheduled, "LONG_QUEUE", 1)
    monkeypatch.setattr(pod_scheduled, "MOST_AT_ONCE", 1)
    scheduler = await bench.start()
    await submit(bench.cluster, TEAM, [pod(f"huge-{i}", 64) for i in range(6)])
    await bench.clock.advance(1.5)
    cycles = scheduler.reporter.status().cycles
    await bench.clock.advance(5)
    assert scheduler.reporter.status().cycles == cycles
    for i in range(6):
        assert "too small" in await bench.condition(f"huge-{i}")


async def test_what_was_held_back_is_told_a_minute_later_without_a_cycle(bench: Bench) -> None:
    """A pod of the ten in the way ends a second after the first event, and then nothing happens."""
    scheduler = await bench.start()
    await submit(bench.cluster, TEAM, [pod(f"one-{i}", 8) for i in range(10)])
    await bench.clock.advance(5)
    await submit(bench.cluster, TEAM, gang("wide", 16))
    await bench.clock.advance(2)

    async def noted(words: str) -> bool:
        return any(words in one.get("note", "") for one in (await bench.cluster.list(EVENTS)).items)

    assert await noted("held by ml/one-8 and ml/one-9")
    await bench.cluster.delete(PODS, Target(TEAM, "one-9"))
    await bench.clock.advance(3)
    assert "held by ml/one-8." in await bench.condition("wide-0")
    assert not await noted("held by ml/one-8.")
    cycles = scheduler.reporter.status().cycles
    await bench.clock.advance(70)
    assert scheduler.reporter.status().cycles == cycles
    assert await noted("held by ml/one-8.")
