"""Answers that no API server gives of itself, and old caches: neither a living pod goes for them.

Proxies answer for a server that is away, admission denies by any status, watches hang.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from fourleaf.k8s_bridge.cluster.errors import (
    Ambiguous,
    ClusterError,
    Conflict,
    NotFound,
    Refused,
    Throttled,
)
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, LEASES, NODES, PODS, Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, gang, nodes, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Listing, Target
from fourleaf.k8s_bridge.ledger.names import gang_lease_name
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.reporting.reporter import Reporter
from fourleaf.k8s_bridge.scheduler import Scheduler, SchedulerOptions
from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP
from tests.k8s_bridge.ledger.harness import Held, Leader, World, on
from tests.k8s_bridge.node_health.test_monitor import DeafToNodes, evicted
from tests.k8s_bridge.relocation.bench import FAILOVER, Bench
from tests.k8s_bridge.test_scheduler import TEAM
from tests.k8s_bridge.test_scheduler import Bench as Small
from tests.twins.virtual_clock import VirtualClock

OUT_OF_SERVICE = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
READY, NOT_READY = ([{"type": "Ready", "status": said}] for said in ("True", "False"))
NO_BACKEND = NotFound("default backend - 404", 404)
THROTTLED = Throttled("too many requests", 429, "TooManyRequests")
DENIED = Conflict('admission webhook "x" denied the request', 409)


class OddAnswers:
    """The API answers what `matches` with `error` while it is `on`, and breaks such watches."""

    def __init__(self, error: ClusterError, matches: Callable[[ApiRequest], bool]) -> None:
        self.error, self.matches = error, matches
        self.on = False
        self.asked: Counter[str] = Counter()

    async def before(self, request: ApiRequest) -> None:
        """Count it, and answer."""
        self.asked[_name(request)] += self.on
        if self.on and self.matches(request):
            raise self.error

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""

    @property
    def page_writes(self) -> int:
        """How often pages were to be written while it was on."""
        return sum(count for name, count in self.asked.items() if name.startswith("page-"))


def _name(request: ApiRequest) -> str:
    """The Lease that a write is about, "" for anything else."""
    if request.kind is not LEASES or not request.writes:
        return ""
    return request.target.name or str(request.body["metadata"]["name"])


def _writes_page(request: ApiRequest) -> bool:
    return _name(request).startswith("page-")


def _lists_records(request: ApiRequest) -> bool:
    """Heartbeats of kubelets are in another namespace."""
    is_list = request.kind is LEASES and request.verb == "list"
    return is_list and request.target.namespace == "kube-system"


@pytest.mark.parametrize("sign", ["a taint", "a condition"])
async def test_a_node_that_was_ill_before_the_takeover_costs_no_pod(sign: str) -> None:
    """The watch of the follower hangs, so that a sign of death that is gone still stands there."""
    bench = Bench(1, 3)
    await bench.config("{failures: {conditions: [GpuBroken]}}")
    await bench.start()
    ill = Target("", "n-0-0-0")
    by_taint: tuple[Body, Body] = ({"spec": {"taints": [OUT_OF_SERVICE]}}, {"spec": {"taints": []}})
    broken = {"status": {"conditions": [*READY, {"type": "GpuBroken", "status": "True"}]}}
    by_condition: tuple[Body, Body] = (broken, {"status": {"conditions": READY}})
    said, unsaid = by_taint if sign == "a taint" else by_condition
    part = "" if sign == "a taint" else "status"
    await bench.cluster.patch(NODES, ill, said, part)
    deaf = DeafToNodes(bench.cluster.store, identity="b")
    follower = Scheduler(
        deaf,
        bench.clock,
        bench.solved.plan,
        SchedulerOptions(identity="b", dry_run="never"),
        lambda one: Reporter(one, SchedulerMetrics()),
        planner=bench.solved,
        prober=bench.heartbeats,
    )
    leader = bench.tasks[-1]
    bench.tasks.append(asyncio.ensure_future(follower.run()))
    await bench.clock.advance(3)
    deaf.deaf = True
    await bench.cluster.patch(NODES, ill, unsaid, part)
    await bench.clock.advance(40)
    await bench.submit("first", 8)
    await bench.submit("g", 4)
    await bench.delete("first")
    await bench.clock.advance(2)
    assert ill.name in (await bench.places("g")).values()
    before = await bench.uids("g")
    leader.cancel()
    await bench.clock.advance(30)
    assert follower.leading
    assert not await evicted(bench, before)
    await bench.stop()


class HalfBound:
    """The binding of the second member gets no answer."""

    async def before(self, request: ApiRequest) -> None:
        """No answer."""
        if request.subresource == "binding" and request.target.name == "g-1":
            raise Ambiguous("no answer", 0)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def living(cluster: MemoryCluster) -> dict[str, str]:
    """Name -> UID of the pods that are not to end."""
    found = [body["metadata"] for body in (await cluster.list(PODS)).items]
    return {one["name"]: one["uid"] for one in found if "deletionTimestamp" not in one}


@pytest.mark.parametrize("how", ["new", "not ready before"])
async def test_a_commit_on_a_node_of_which_the_follower_has_not_heard_goes_on(how: str) -> None:
    """It was half bound when its leader died: the bound half stays."""
    bench, made = Small(), nodes(1, 1, 2)
    if how != "new":
        for body in made:
            body["status"]["conditions"] = NOT_READY
            await bench.cluster.create(NODES, "", body)
    await add_namespace(bench.cluster, TEAM)
    await bench.start(client=bench.cluster.client("a", HalfBound()))
    leader, deaf = bench.tasks[-1], DeafToNodes(bench.cluster.store, identity="b")
    follower = await bench.start("b", client=deaf)
    await bench.clock.advance(2)
    deaf.deaf = True
    for body in made:
        if how == "new":
            await bench.cluster.create(NODES, "", body)
        else:
            at = Target("", body["metadata"]["name"])
            await bench.cluster.patch(NODES, at, {"status": {"conditions": READY}}, "status")
    await bench.clock.advance(30)
    await submit(bench.cluster, TEAM, gang("g", 2))
    await bench.clock.advance(3)
    before = await living(bench.cluster)
    assert set(await bench.places()) == {"g-0"}
    leader.cancel()
    await bench.clock.advance(30)
    assert follower.leading
    assert await living(bench.cluster) == before
    await bench.stop()


class SlowNodes(MemoryCluster):
    """A list of nodes takes half a minute."""

    async def list(
        self,
        kind: Kind,
        namespace: str = "",
        labels: str = "",
        cached: bool = False,
        fields: str = "",
    ) -> Listing:
        """The list, late where it is of nodes."""
        if kind == NODES:
            await self.store.clock.sleep(30)
        return await super().list(kind, namespace, labels, cached, fields)


async def test_no_replica_leads_before_it_knows_the_nodes() -> None:
    """An owner kind that the config describes otherwise is followed anew meanwhile."""
    bench = Small()
    for body in nodes(1, 1, 2):
        await bench.cluster.create(NODES, "", body)
    await add_namespace(bench.cluster, TEAM)
    described = {
        "group": "kubeflow.org",
        "versions": ["v2", "v1"],
        "kind": "PyTorchJob",
        "resource": "pytorchjobs",
        "podSets": [{"path": "spec.pytorchReplicaSpecs.*"}],
    }
    spec = {"ownerKinds": [described]}
    text = yaml.safe_dump({"apiVersion": API_VERSION, "kind": "SchedulerConfig", "spec": spec})
    config = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": text}}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", config)
    await bench.start(client=bench.cluster.client("a", HalfBound()))
    await submit(bench.cluster, TEAM, gang("g", 2))
    await bench.clock.advance(3)
    before = await living(bench.cluster)
    bench.tasks.pop().cancel()
    await bench.clock.advance(1)
    scheduler = await bench.start("b", client=SlowNodes(bench.cluster.store, identity="b"))
    await bench.clock.advance(20)
    assert "nodes" in scheduler.unsynced
    assert not scheduler.leading
    assert await living(bench.cluster) == before
    await bench.stop()


async def test_a_proxy_that_knows_no_nodes_restarts_no_gang() -> None:
    """Lists of nodes are answered 404 for a minute."""
    bench = Bench(1, 3)
    await bench.config("{repair: {policy: restart}}")
    proxy = OddAnswers(NO_BACKEND, lambda request: request.kind == NODES)
    scheduler = await bench.start(answers=proxy)
    await bench.submit("g", 4)
    before = await bench.uids("g")
    bench.lose("n-0-2-0")
    proxy.on = True
    bench.cluster.store.end_watches()
    await bench.clock.advance(60)
    proxy.on = False
    await bench.clock.advance(40)
    assert not await evicted(bench, before)
    assert scheduler.epoch == 1
    await bench.stop()


async def test_a_proxy_that_knows_no_config_lifts_no_quota() -> None:
    """The list of the ConfigMap is answered 404 for half a minute."""
    bench = Bench(1, 3)
    await bench.config("{namespaces: {ml: {gpuQuota: 32}}}")
    proxy = OddAnswers(NO_BACKEND, lambda request: request.kind == CONFIG_MAPS)
    await bench.start(answers=proxy)
    await bench.submit("g", 4)
    await bench.submit("over", 4)
    proxy.on = True
    bench.cluster.store.end_watches()
    await bench.clock.advance(30)
    proxy.on = False
    await bench.clock.advance(40)
    assert not await bench.places("over")
    await bench.stop()


async def test_pages_that_admission_denies_are_no_storm() -> None:
    """It says 409, as if another had written them: of one page, ten writes or so in a minute."""
    bench = Bench(1, 1)
    await bench.start()
    await bench.submit("g", 2)
    bench.tasks.pop().cancel()
    await bench.clock.advance(1)
    denying = OddAnswers(DENIED, _writes_page)
    denying.on = True
    await bench.start("b", answers=denying)
    await bench.clock.advance(FAILOVER + 60)
    assert 2 <= denying.page_writes <= 100
    denying.on = False
    await bench.clock.advance(10)
    assert len(await bench.places("g")) == 2
    await bench.stop()


async def test_a_leader_whose_pages_are_denied_tries_ever_less() -> None:
    """Two pages are to be tidied, and a gang waits for them."""
    bench = Bench(1, 3)
    denying = OddAnswers(DENIED, _writes_page)
    await bench.start(answers=denying)
    await bench.submit("g", 8)
    denying.on = True
    await bench.delete("g")
    await bench.submit("h", 8)
    await bench.clock.advance(65)
    assert denying.page_writes < 60
    denying.on = False
    await bench.clock.advance(60)
    assert len(await bench.places("h")) == 8
    await bench.stop()


async def test_pods_that_cannot_be_read_at_a_takeover_have_no_page_written_again() -> None:
    """Lists of pods fail for a minute: the four pages are made the new leader's own once."""
    bench = Bench(1, 4)
    await bench.start()
    leader = bench.tasks[-1]
    await bench.clock.advance(5)
    failing = OddAnswers(
        Ambiguous("etcdserver: request timed out", 500),
        lambda request: request.kind == PODS and request.verb == "list",
    )
    follower = await bench.start("b", answers=failing)
    await bench.clock.advance(5)
    failing.on = True
    leader.cancel()
    await bench.clock.advance(60)
    assert failing.page_writes == 4
    assert follower.epoch == 2
    failing.on = False
    await bench.submit("g", 4)
    await bench.clock.advance(10)
    assert len(await bench.places("g")) == 4
    await bench.stop()


class BadMoments:
    """What `matches` is answered 403, then `between` for six seconds, then 403 once more."""

    def __init__(
        self,
        clock: VirtualClock,
        matches: Callable[[ApiRequest], bool],
        between: ClusterError = THROTTLED,
    ) -> None:
        self.clock, self.matches, self.between = clock, matches, between
        self.first: float | None = None
        self.refused = 0

    async def before(self, request: ApiRequest) -> None:
        """Answer."""
        if not self.matches(request) or self.refused == 2:
            return
        now = self.clock.monotonic()
        self.first = now if self.first is None else self.first
        if self.refused == 1 and now < self.first + 6:
            raise self.between
        self.refused += 1
        raise Refused("a webhook has a bad moment", 403, "Forbidden")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


@pytest.mark.parametrize(
    "between", [THROTTLED, Ambiguous("no answer", 500), DENIED, NO_BACKEND], ids=lambda e: e.status
)
async def test_two_bad_moments_of_a_binding_take_no_gang_back(between: ClusterError) -> None:
    """They are no refusal in a row: the member is bound, and the other one stays."""
    bench = Bench(1, 1)
    moments = BadMoments(
        bench.clock,
        lambda request: (
            request.subresource == "binding"
            and request.target.name.startswith("g-1")
            and not request.dry_run
        ),
        between,
    )
    await bench.start(answers=moments)
    await bench.submit("g", 2)
    before = await bench.uids("g")
    await bench.clock.advance(30)
    assert moments.refused == 2
    assert await bench.uids("g") == before
    assert len(await bench.places("g")) == 2
    await bench.stop()


async def test_two_bad_moments_of_a_takeover_end_no_term() -> None:
    """Its records may not be listed, then not be had, then not be listed."""
    bench = Bench(1, 1)
    await bench.start()
    await bench.submit("g", 2)
    bench.tasks.pop().cancel()
    await bench.clock.advance(1)
    moments = BadMoments(bench.clock, _lists_records)
    scheduler = await bench.start("b", answers=moments)
    await bench.clock.advance(FAILOVER + 10)
    assert moments.refused == 2
    assert scheduler.epoch == 2
    await bench.stop()


async def test_relocations_that_admission_denies_are_no_storm() -> None:
    """It says 409 to the new leader, as if another had written them."""
    bench = Bench(1, 4)
    await bench.config("{preemption: {afterSeconds: 5}}")
    await bench.start()
    await bench.classes(low=1, high=10)
    await bench.submit("a", 16, priority="low")
    bench.kubelets.grace = 1000
    await bench.submit("top", 16, priority="high")
    while not await bench.open_relocations():
        await bench.clock.advance(0.5)
    bench.tasks.pop().cancel()
    denying = OddAnswers(DENIED, lambda request: _name(request).startswith("relocation-"))
    denying.on = True
    await bench.start("b", answers=denying)
    await bench.clock.advance(FAILOVER + 30)
    assert 2 <= sum(denying.asked[name] for name in denying.asked if "relocation-" in name) < 60
    await bench.stop()


class DeniedDeletions:
    """The first five deletions of Leases are denied by a webhook, which says 404."""

    def __init__(self) -> None:
        self.count = 0

    async def before(self, request: ApiRequest) -> None:
        """Deny it."""
        if request.kind is LEASES and request.verb == "delete" and self.count < 5:
            self.count += 1
            raise NotFound('admission webhook "x" denied the request: no', 404)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def test_a_deletion_that_admission_denies_fences_no_commit() -> None:
    """The gang lease that the old leader has prepared stands, and it commits it late.

    The new leader gives no node of it away before the lease is gone, or is a commit.
    """
    world = await World().start()
    old = await Leader(world, "a").take_over()
    wide = await world.gang("wide", on(0, 1))
    held = Held("update", gang_lease_name("wide", "x").rsplit("x", 1)[0])
    old.cluster.interceptors.append(held)
    going = asyncio.ensure_future(old.decide(wide))
    await asyncio.wait_for(held.met.wait(), 5)
    new = Leader(world, "b")
    new.cluster.interceptors.append(DeniedDeletions())
    await new.take_over()
    held.go.set()
    outcome = await going
    other = await world.gang("other", on(0))
    await new.commit(other)
    for _ in range(2):
        await new.rest()
        await new.keeping.sweep()
    world.check((wide, other))
    assert not outcome.committed
