"""What may be evicted decides who goes: the whole scheduler on the twin, in virtual time.

The fabric is one spine of 4 leaves of 4 nodes, and a gang that waits may preempt after 5 s.
"""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import (
    CONFIG_MAPS,
    DISRUPTION_BUDGETS,
    EVENTS,
    JOBS,
    LEASES,
    NODES,
    PODS,
)
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from fourleaf.k8s_bridge.relocation.records import Purpose
from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.twins.jobs import job

JOB = "batch.kubernetes.io/job-name"


@pytest.fixture
async def bench(bench: Bench) -> Bench:
    """A scheduler that leads, and three priorities."""
    await bench.classes(low=1, middle=5, high=10)
    return bench


async def budget(bench: Bench, most: int, *jobs: str) -> None:
    """A budget that lets `most` pods of these Jobs go at once."""
    picked = {"key": JOB, "operator": "In", "values": list(jobs)}
    spec = {"maxUnavailable": most, "selector": {"matchExpressions": [picked]}}
    body = {"metadata": {"name": "-".join(jobs)}, "spec": spec}
    await bench.cluster.create(DISRUPTION_BUDGETS, TEAM, body)


async def under_way(bench: Bench, purpose: Purpose) -> list[str]:
    """The gangs that are being relocated for that."""
    found = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    return [one.gang.name for one in map(read_relocation, found) if one.purpose is purpose]


async def changed(bench: Bench, before: dict[str, dict[int, str]]) -> set[str]:
    """The Jobs with a pod that is no longer the one it was."""
    return {name for name, uids in before.items() if await bench.uids(name) != uids}


async def test_other_victims_where_these_may_not_go_together(bench: Bench) -> None:
    """A budget lets 4 of the 8 pods of `a` and `b` go: `c`, of a higher priority, makes room."""
    for name in "ab":
        await bench.submit(name, 4, priority="low")
    await bench.submit("c", 8, priority="middle")
    await budget(bench, 4, "a", "b")
    before = {name: await bench.uids(name) for name in "abc"}
    await bench.submit("top", 8, priority="high")
    await bench.clock.advance(30)
    assert len(await bench.places("top")) == 8
    assert await changed(bench, before) == {"c"}


async def test_every_gang_behind_the_same_budget_is_told(bench: Bench) -> None:
    """Two gangs wait for what one budget keeps: each of them hears it, and hears it once."""
    await bench.submit("a", 16, priority="low")
    await budget(bench, 0, "a")
    await bench.submit("one", 4, priority="high")
    await bench.submit("two", 4, priority="high")
    await bench.clock.advance(120)
    events = (await bench.cluster.list(EVENTS)).items
    said = [one for one in events if one["reason"] == "PreemptionForbidden"]
    assert {one["regarding"]["name"].split("-")[0] for one in said} == {"one", "two"}
    assert len(said) == 2
    assert "1 of 1 lower gang may not be evicted at all" in said[0]["note"]
    assert "forbid (disruption budget ml/a lets 0 go); " in said[0]["note"]


async def test_cores_that_come_free_are_minded_within_a_minute(bench: Bench) -> None:
    """`a` may go and `b` may not; a pod without GPUs has the cores of `a`'s node, and ends."""
    await bench.submit("a", 1, priority="low")
    await bench.submit("b", 15, priority="low")
    await budget(bench, 0, "b")
    (node,) = (await bench.places("a")).values()
    cores = pod("cores", 0, "default-scheduler")
    cores["spec"]["nodeName"] = node
    cores["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "60"}}
    await submit(bench.cluster, "ops", [cores])
    top = job("top", 1, 8)
    spec = top["spec"]["template"]["spec"]
    spec["priorityClassName"] = "high"
    spec["containers"][0]["resources"].setdefault("requests", {})["cpu"] = "32"
    await bench.cluster.create(JOBS, TEAM, top)
    await bench.clock.advance(60)
    assert not await bench.places("top")
    await bench.cluster.delete(PODS, Target("ops", "cores"))
    await bench.clock.advance(60)
    assert await bench.places("top") == {0: node}


async def test_a_quota_that_is_raised_is_minded_at_once(bench: Bench) -> None:
    """Under a quota of 16 GPUs `top` needs both low gangs, of which one may not go; of 24, one."""
    await bench.config("{namespaces: {ml: {gpuQuota: 16}}}")
    await bench.submit("l1", 1, priority="low")
    await bench.submit("l2", 1, priority="low")
    await budget(bench, 0, "l2")
    await bench.submit("top", 2, priority="high")
    await bench.clock.advance(60)
    assert not await bench.places("top")
    text = "apiVersion: {}\nkind: SchedulerConfig\nspec: {{namespaces: {{ml: {{gpuQuota: 24}}}}}}\n"
    data = {"data": {"config.yaml": text.format(API_VERSION)}}
    await bench.cluster.patch(CONFIG_MAPS, Target("kube-system", CONFIG_MAP), data)
    await bench.clock.advance(60)
    assert len(await bench.places("top")) == 2


async def test_budgets_of_other_tenants_are_not_named(bench: Bench) -> None:
    """What keeps a gang waiting is a budget of another namespace: that there is one is all."""
    await bench.submit("a", 16, priority="low")
    await budget(bench, 0, "a")
    await bench.submit("top", 4, priority="high", namespace="theirs")
    await bench.clock.advance(120)
    (said,) = await bench.events("PreemptionForbidden")
    assert "1 of 1 lower gang may not be evicted at all" in said["note"]
    assert "affinity forbid; " in said["note"]


async def test_nothing_is_said_of_budgets_where_room_is_why(bench: Bench) -> None:
    """Without the budget the gang would not fit either, for an equal holds half of the fabric."""
    await bench.submit("equal", 8, priority="high")
    await bench.submit("a", 8, priority="low")
    await budget(bench, 0, "a")
    await bench.submit("top", 16, priority="high")
    await bench.clock.advance(60)
    assert "PreemptionForbidden" not in await bench.reasons()


class Hangs:
    """A webhook that never answers whether a pod of that name may be evicted."""

    def __init__(self, start: str, seconds: float) -> None:
        self.start, self.seconds = start, seconds
        self.bench: Bench | None = None
        self.hanging = self.answered = 0

    async def before(self, request: ApiRequest) -> None:
        """Keep the request."""
        asked = request.subresource == "eviction" and request.dry_run
        if asked and request.target.name.startswith(self.start) and self.bench:
            self.hanging += 1
            try:
                await self.bench.clock.sleep(self.seconds)
            finally:
                self.hanging -= 1
            self.answered += 1

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def hanging(bench: Bench, start: str, seconds: float) -> Hangs:
    """Another scheduler leads, before whose trials of evictions stands that webhook."""
    bench.tasks.pop().cancel()
    webhook = Hangs(start, seconds)
    webhook.bench = bench
    await bench.start("b", answers=webhook)
    await bench.clock.advance(30)
    return webhook


async def test_a_repair_does_not_wait_for_a_trial_that_hangs(bench: Bench) -> None:
    """A node dies while a trial for a preemption hangs: the repair is under way before it ends."""
    webhook = await hanging(bench, "a-", 1000.0)
    await bench.submit("full", 8, priority="high")
    await bench.submit("a", 4, priority="low")
    await bench.submit("g", 3, priority="high")
    bench.lose((await bench.places("g"))[0])
    await bench.clock.advance(12)
    await bench.submit("top", 4, priority="high")
    for _ in range(400):
        await bench.clock.advance(0.1)
        if await under_way(bench, Purpose.REPAIR):
            break
    assert await under_way(bench, Purpose.REPAIR) == ["g"]
    assert webhook.hanging == 4


async def test_a_late_answer_is_used(bench: Bench) -> None:
    """The webhook takes 4 s for each pod, more than is waited for: the gang starts all the same."""
    webhook = await hanging(bench, "a-", 4.0)
    await bench.submit("a", 16, priority="low")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(30)
    assert len(await bench.places("top")) == 4
    assert webhook.answered == 16


async def test_what_is_not_answered_stays(bench: Bench) -> None:
    """The webhook never answers about `a`, the cheaper victim: `b` goes once that is clear."""
    await hanging(bench, "a-", 1000.0)
    await bench.submit("a", 4, priority="low")
    await bench.submit("b", 4, priority="middle")
    await bench.submit("full", 8, priority="high")
    before = {name: await bench.uids(name) for name in "ab"}
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(12)
    assert not await changed(bench, before)
    await bench.clock.advance(30)
    assert len(await bench.places("top")) == 4
    assert await changed(bench, before) == {"b"}


async def test_the_pod_that_a_gang_must_be_near_is_no_victim_for_it(bench: Bench) -> None:
    """There is no room beside the cache: it would cost least, but what stands there goes."""
    await bench.submit("cache", 1, priority="low")
    await bench.submit("fill", 15, priority="low")
    leaf = (await bench.leaves("cache"))[0]
    before = {name: await bench.uids(name) for name in ("cache", "fill")}
    body = job("top", 1)
    term = {
        "topologyKey": "fabric.topograph.run/tier-0",
        "labelSelector": {"matchLabels": {JOB: "cache"}},
    }
    spec = body["spec"]["template"]["spec"]
    spec["priorityClassName"] = "high"
    spec["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    await bench.cluster.create(JOBS, TEAM, body)
    await bench.clock.advance(30)
    assert await bench.leaves("top") == [leaf]
    assert await changed(bench, before) == {"fill"}


async def test_a_drain_goes_as_far_as_a_shared_budget_lets_it(bench: Bench) -> None:
    """Two single pods stand on nodes that are emptied, under a budget of 1: one goes, then both."""
    for name in "ab":
        await bench.submit(name, 1, gpus=4)
    await budget(bench, 1, "a", "b")
    await bench.clock.advance(2)
    left = {node for name in "ab" for node in (await bench.places(name)).values()}
    before = {name: await bench.uids(name) for name in "ab"}
    patch = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    for node in left:
        await bench.cluster.patch(NODES, Target("", node), patch)
    most = 0
    for _ in range(60):
        await bench.clock.advance(0.5)
        most = max(most, len(await under_way(bench, Purpose.DRAIN)))
    assert await changed(bench, before) == {"a", "b"}
    now = {node for name in "ab" for node in (await bench.places(name)).values()}
    assert len(now) >= 1
    assert left.isdisjoint(now)
    assert most == 1


async def test_a_gang_that_may_not_be_moved_is_told_what_would_let_it(bench: Bench) -> None:
    """Its node is emptied and its budget lets none go: the event names the budget, and the way."""
    await bench.submit("a", 1)
    await budget(bench, 0, "a")
    await bench.clock.advance(2)
    (node,) = (await bench.places("a")).values()
    patch = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    await bench.cluster.patch(NODES, Target("", node), patch)
    await bench.clock.advance(20)
    said = (await bench.events("NotRepaired"))[0]["note"]
    assert "EvictionsForbidden" in said
    assert "disruption budget ml/a lets 0 go" in said
    assert "To unblock: raise what forbids it: a disruption budget or maxEvictions" in said


async def test_room_that_comes_beside_what_a_budget_keeps(bench: Bench) -> None:
    """Top needs two leaves side by side: `go` makes way for it once the gang beside it has ended.

    Until then a budget alone keeps top waiting, as it may not have the leaf of `keep`: one plan.
    GPUs that come free are minded at once, not half a minute later.
    """
    for name, priority in (("keep", "low"), ("a", "high"), ("go", "low"), ("b", "high")):
        await bench.submit(name, 4, priority=priority)
    await budget(bench, 0, "keep")
    await bench.submit("top", 8, priority="high")
    await bench.clock.advance(15)
    assert len(bench.solved.preemptions) == 1
    (leaf,) = set(await bench.leaves("go"))
    beside = [name for name in "ab" if abs((await bench.leaves(name))[0] - leaf) == 1]
    await bench.end(beside[0])
    await bench.clock.advance(15)
    assert len(await bench.places("top")) == 8
    assert len(await bench.places("keep")) == 4


async def test_a_place_that_is_no_longer_kept_is_minded_at_once() -> None:
    """Beside what a budget keeps, two nodes are kept for `x`, which is deleted: no pod has ended.

    `go` makes way for `top` then, which needs these two, and not ten minutes later.
    """
    bench = Bench(1, 1)
    try:
        await bench.classes(low=1, high=10, meek=10)
        await bench.start()
        await bench.submit("keep", 2, priority="low")
        await bench.submit("go", 1, priority="low")
        await budget(bench, 0, "keep")
        await bench.submit("x", 2, priority="meek")
        await bench.clock.advance(700)
        assert await bench.reservations() == ["ml/x"]
        await bench.submit("top", 2, priority="high")
        await bench.clock.advance(30)
        assert not await bench.places("top")
        await bench.delete("x")
        await bench.clock.advance(30)
        assert len(await bench.places("top")) == 2
        assert len(await bench.places("keep")) == 2
    finally:
        await bench.stop()
