"""Evictions that would serve no gang, and gangs that keep others from the evictions they need."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Refused
from fourleaf.k8s_bridge.cluster.kinds import JOBS, NODES
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, gang, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.relocation.test_eviction_limits import budget
from tests.k8s_bridge.relocation.test_moving import ask, configure, drain, placed, pods
from tests.twins.jobs import job

Hook = Callable[[ApiRequest], Awaitable[None]]


class Api:
    """Lets `on_binding` and `on_eviction` see what is asked; `evicted` are real evictions."""

    def __init__(self) -> None:
        self.evicted: list[str] = []
        self.on_binding: Hook | None = None
        self.on_eviction: Hook | None = None

    async def before(self, request: ApiRequest) -> None:
        """Let the hooks refuse, or take their time."""
        if request.subresource == "eviction" and not request.dry_run:
            self.evicted.append(request.target.name)
            if self.on_eviction is not None:
                await self.on_eviction(request)
        if request.subresource == "binding" and self.on_binding is not None:
            await self.on_binding(request)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


@pytest.fixture
def api() -> Api:
    """Nothing is refused yet."""
    return Api()


@pytest.fixture
async def bench(api: Api) -> AsyncIterator[Bench]:
    """Four leaves of 4 nodes, three priorities, and a scheduler that tries bindings out."""
    bench = Bench()
    await bench.start(answers=api, dry_run="auto")
    await bench.classes(low=1, middle=5, high=10)
    yield bench
    await bench.stop()


async def waiting_job(bench: Bench, name: str, size: int) -> None:
    """A Job of high priority comes; the test goes on at once."""
    body = job(name, size, 8)
    body["spec"]["template"]["spec"]["priorityClassName"] = "high"
    await bench.cluster.create(JOBS, TEAM, body)


async def test_one_lost_probe_kills_no_node(bench: Bench, api: Api) -> None:
    """A kubelet is silent and its host answers, but for one second: nothing runs elsewhere."""
    await bench.submit("g", 4)
    node = (await bench.places("g"))[0]
    bench.heartbeats.silent.add(node)
    await bench.clock.advance(45)
    status = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    await bench.cluster.patch(NODES, Target("", node), status, "status")
    await bench.clock.advance(30)
    bench.heartbeats.unreachable.add(node)
    await bench.clock.advance(1)
    bench.heartbeats.unreachable.discard(node)
    await bench.clock.advance(20)
    assert not api.evicted


async def test_an_answer_about_other_nodes_is_none(bench: Bench, api: Api) -> None:
    """A webhook allows the leaf of `a`, which may not go by then, and not that of `v`: it stays."""
    await bench.submit("a", 4, priority="low")
    await bench.submit("v", 4, priority="middle")
    await bench.submit("f", 8, priority="high")
    bad, uids = set((await bench.places("v")).values()), await bench.uids("v")
    asked: list[str] = []

    async def slow(request: ApiRequest) -> None:
        if request.target.name.startswith("top-"):
            asked.append(request.target.name)
            if request.dry_run:
                await bench.clock.sleep(3)
            if request.body.node in bad:  # type: ignore[union-attr]
                raise Refused("not on this node", 403, "Forbidden")

    api.on_binding = slow
    await waiting_job(bench, "top", 4)
    while not asked:
        await bench.clock.advance(0.1)
    await budget(bench, 0, "a")
    await bench.clock.advance(60)
    assert await bench.uids("v") == uids


async def test_a_dry_run_that_hangs_keeps_its_own_gang_waiting(bench: Bench, api: Api) -> None:
    """`second`, of lower priority, takes the place of another low gang meanwhile."""
    for name, size, priority in (("a", 4, "low"), ("v", 4, "low"), ("f", 8, "high")):
        await bench.submit(name, size, priority=priority)

    async def hangs(request: ApiRequest) -> None:
        if request.dry_run and request.target.name.startswith("top-"):
            await bench.clock.sleep(30)
            raise Ambiguous("timeout", 504)

    api.on_binding = hangs
    await bench.submit("top", 4, priority="high")
    await bench.submit("second", 4, priority="middle")
    await bench.clock.advance(60)
    assert len(await bench.places("second")) == 4
    assert len(bench.solved.preemptions) < 30


async def test_many_that_cannot_be_served_keep_no_other_from_its_turn(bench: Bench) -> None:
    """Twelve gangs of the whole fabric wait for an equal to end; one that needs less is served."""
    await bench.submit("equal", 8, priority="high")
    await bench.submit("lower", 8, priority="low")
    for number in range(12):
        await waiting_job(bench, f"n{number}", 16)
    await bench.clock.advance(2)
    await bench.submit("mid", 4, priority="middle")
    await bench.clock.advance(60)
    assert len(await bench.places("mid")) == 4


@pytest.mark.parametrize("how", ["while the API is ill", "before another leads"])
async def test_who_is_needed_no_more_stays(bench: Bench, api: Api, how: str) -> None:
    """An equal ends after the record was written and before any victim was told to go."""

    async def ill(request: ApiRequest) -> None:
        if how == "before another leads":
            await bench.clock.sleep(1000)
        raise Ambiguous("etcd has no leader", 500)

    api.on_eviction = ill
    for name, size, priority in (("a", 4, "low"), ("e", 4, "high"), ("f", 8, "high")):
        await bench.submit(name, size, priority=priority)
    uids = await bench.uids("a")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(4)
    assert api.evicted
    await bench.end("e")
    if how == "before another leads":
        await bench.succeed("b")
    else:
        await bench.clock.advance(10)
        api.on_eviction = None
    await bench.clock.advance(30)
    assert await bench.uids("a") == uids
    assert len(await bench.places("top")) == 4


async def test_pods_whose_owner_is_no_controller_are_not_drained(bench: Bench, api: Api) -> None:
    """Nothing would make them again."""
    await add_namespace(bench.cluster, TEAM)
    bodies = gang("bare", 2)
    for one in bodies:
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u-1"}
        one["metadata"]["ownerReferences"] = [owner]
    await submit(bench.cluster, TEAM, bodies)
    await bench.clock.advance(3)
    await drain(bench, (await placed(bench))["bare-0"])
    await bench.clock.advance(60)
    assert not api.evicted


async def test_pods_that_nothing_makes_again_are_not_gathered(bench: Bench, api: Api) -> None:
    """Two pairs that may be moved stand half a leaf each; a gang waits for a whole leaf."""
    await configure(bench)
    await add_namespace(bench.cluster, TEAM)
    for name in ("a", "x", "b", "y"):
        bodies = gang(name, 2)
        for one in bodies:
            one["metadata"]["annotations"]["topology.scheduler/movable"] = "true"
        await submit(bench.cluster, TEAM, bodies)
        await bench.clock.advance(3)
    await bench.submit("c", 8)
    bench.kubelets.finish(TEAM, ["x-0", "x-1", "y-0", "y-1"])
    await bench.submit("four", 4)
    await bench.clock.advance(60)
    await ask(bench)
    await bench.clock.advance(30)
    assert not api.evicted
    assert {name for name in await pods(bench) if name[0] in "ab"} == {"a-0", "a-1", "b-0", "b-1"}


async def test_who_does_not_stay_has_no_more_evicted_for_a_while(bench: Bench) -> None:
    """Each goes as soon as it runs: a second gets room by evictions after the 300 s, not before."""
    for name in "abcd":
        await bench.submit(name, 4, priority="low")
    await bench.submit("first", 4, priority="high")
    await bench.clock.advance(15)
    assert len(await bench.places("first")) == 4
    await bench.delete("first")
    await bench.clock.advance(10)
    before = {name: await bench.uids(name) for name in "abcd"}
    for name in ("second", "third"):
        await bench.submit(name, 4, priority="high")
        await bench.clock.advance(60)
        assert {name: await bench.uids(name) for name in "abcd"} == before
        await bench.delete(name)
    assert "PreemptionForbidden" in await bench.reasons()
    await bench.submit("fourth", 4, priority="high")
    await bench.clock.advance(180)
    assert len(await bench.places("fourth")) == 4
