"""Jobs outlast what is done for them: no repair, drain or move evicts more than they may lose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import JOBS, LEASES, NODES
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, nodes
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.relocation.evictions.drain_marks import END_JOBS
from fourleaf.k8s_bridge.relocation.records import Purpose
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.relocation.test_moving import ask, configure, drain, halves
from tests.twins.jobs import job

IGNORED = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}


async def submit(bench: Bench, size: int, spec: Mapping[str, Any], **said: str) -> None:
    """Submit a Job `g` with these fields alone of what limits its failures."""
    body = job("g", size, **{f"topology.scheduler/{key}": text for key, text in said.items()})
    del body["spec"]["backoffLimitPerIndex"]
    body["spec"] |= spec
    await add_namespace(bench.cluster, TEAM)
    await bench.cluster.create(JOBS, TEAM, body)
    await bench.clock.advance(3)


async def status(bench: Bench) -> Body:
    """What the Job controller says of it."""
    body = await bench.cluster.get(JOBS, Target(TEAM, "g"))
    return dict(body.get("status") or {})


async def said(bench: Bench) -> str:
    """The first event that says why it is not repaired, "" where there is none."""
    events = await bench.events("NotRepaired")
    return str(events[0]["note"]) if events else ""


@pytest.mark.parametrize(
    ("limit", "failed"), [(0, 0), (3, 0), (4, 4)], ids=["none", "one too few", "enough"]
)
async def test_members_move_as_far_as_their_job_outlasts_it(
    bench: Bench, limit: int, failed: int
) -> None:
    """One of 8 is lost and 3 that live would have to move: 4 failures, or none and a reason."""
    await submit(bench, 8, {"backoffLimit": limit})
    bench.lose("n-0-0-2")
    await bench.clock.advance(120)
    assert (await status(bench)).get("failed", 0) == failed
    assert "conditions" not in await status(bench)
    assert len(await bench.places("g")) == 8
    reason = f"Job ml/g with spec.backoffLimit {limit} lets {max(0, limit - 1)} go"
    assert (reason in await said(bench)) is (failed == 0)


async def test_what_would_let_it_move_is_told(bench: Bench) -> None:
    """The event says how to raise the limit, and how other Jobs have none."""
    await submit(bench, 8, {"backoffLimit": 1})
    bench.lose("n-0-0-2")
    await bench.clock.advance(60)
    assert "To unblock: raise spec.backoffLimit of the Job; the next one" in await said(bench)
    assert "backoffLimitPerIndex" in await said(bench)
    assert "podFailurePolicy that ignores DisruptionTarget" in await said(bench)


@pytest.mark.parametrize(
    ("spec", "stays"),
    [
        ({}, True),
        ({"backoffLimit": 8}, False),
        ({"backoffLimitPerIndex": 100}, False),
        ({"backoffLimitPerIndex": 0}, True),
        ({"backoffLimit": 7, "podFailurePolicy": IGNORED}, False),
    ],
    ids=["default", "8 failures", "by index", "none by index", "ignored"],
)
async def test_a_gang_leaves_a_drained_node_where_its_job_outlasts_it(
    spec: Mapping[str, Any], stays: bool
) -> None:
    """All 8 of a full leaf would have to go: more than a Job outlasts that says nothing."""
    bench = Bench(1, 2)
    bench.fabric = nodes(1, 2, 8)
    await bench.start()
    await submit(bench, 8, spec)
    uids = await bench.uids("g")
    if "podFailurePolicy" in spec:
        # The controller in memory counts what this one would not.
        patch = {"spec": {"backoffLimit": 100}}
        await bench.cluster.patch(JOBS, Target(TEAM, "g"), patch)
    await drain(bench, (await bench.places("g"))[0])
    await bench.clock.advance(60)
    assert "conditions" not in await status(bench)
    assert len(await bench.places("g")) == 8
    assert (await bench.uids("g") == uids) is stays
    await bench.stop()


async def test_who_drains_may_let_jobs_end(bench: Bench) -> None:
    """With the mark for that, a gang of 4 leaves although its Job may fail 3 times."""
    await submit(bench, 4, {"backoffLimit": 3})
    node = (await bench.places("g"))[0]
    patch = {"metadata": {"annotations": {END_JOBS: "true"}}}
    await bench.cluster.patch(NODES, Target("", node), patch)
    await bench.clock.advance(30)
    assert not await status(bench)
    await drain(bench, node)
    await bench.clock.advance(30)
    assert (await status(bench))["conditions"][0]["type"] == "Failed"


async def test_lost_members_alone_are_replaced(bench: Bench) -> None:
    """A leaf has one node to spare: the lost one of 3 goes there, as its Job outlasts just that."""
    await submit(bench, 3, {"backoffLimit": 1})
    before = await bench.places("g")
    bench.lose(before[1])
    await bench.clock.advance(60)
    after = await bench.places("g")
    assert (after[0], after[2]) == (before[0], before[2])
    assert after[1] not in before.values()
    assert await status(bench) == {"failed": 1}


@pytest.mark.parametrize(("limit", "moves"), [(1, 0), (2, 1)])
async def test_no_job_ends_for_the_room_of_others(bench: Bench, limit: int, moves: int) -> None:
    """Two gangs of 2 could share a leaf, so that one of 4 starts: if a Job outlasts 2 evictions."""
    await configure(bench)
    await halves(bench, movable="true")
    uids = {name: await bench.uids(name) for name in "ab"}
    for name in "ab":
        patch = {"spec": {"backoffLimit": limit}}
        await bench.cluster.patch(JOBS, Target(TEAM, name), patch)
    await bench.submit("four", 4)
    await bench.clock.advance(60)
    await ask(bench)
    await bench.clock.advance(20)
    assert sum([await bench.uids(name) != uids[name] for name in "ab"]) == moves
    assert len(await bench.places("four")) == 4 * moves
    assert any(plan.moves for plan in bench.solved.gatherings) is bool(moves)


class FailsMeanwhile:
    """A Job that fails as often as it may, the moment a relocation of it is written."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    async def before(self, request: ApiRequest) -> None:
        """Let it pass."""

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Count failures."""
        if request.verb == "create" and request.kind == LEASES and Purpose.REPAIR in str(answer):
            patch = {"status": {"failed": 4}}
            await self.bench.cluster.patch(JOBS, Target(TEAM, "g"), patch, "status")


async def test_a_job_that_has_failed_meanwhile_keeps_its_pods(bench: Bench) -> None:
    """4 failures would do when the repair is planned, and none when its pods are to go."""
    bench.tasks.pop().cancel()
    await bench.start("b", answers=FailsMeanwhile(bench))
    await bench.clock.advance(20)
    await submit(bench, 8, {"backoffLimitPerIndex": 100, "backoffLimit": 4})
    uids = await bench.uids("g")
    bench.lose("n-0-0-2")
    await bench.clock.advance(60)
    assert await bench.uids("g") == uids


@pytest.mark.parametrize(("limit", "failed"), [(3, 0), (4, 4)], ids=["one too few", "enough"])
async def test_a_gang_starts_over_as_far_as_its_job_outlasts_it(
    bench: Bench, limit: int, failed: int
) -> None:
    """One of 4 is lost, and three that live would go as well."""
    await submit(bench, 4, {"backoffLimit": limit}, **{"repair-policy": "restart"})
    uids = await bench.uids("g")
    bench.lose((await bench.places("g"))[2])
    await bench.clock.advance(120)
    assert (await status(bench)).get("failed", 0) == failed
    assert "conditions" not in await status(bench)
    assert (await bench.uids("g") == uids) is (failed == 0)
    reason = f"Job ml/g with spec.backoffLimit {limit} lets {limit - 1} go"
    assert (reason in await said(bench)) is (failed == 0)
