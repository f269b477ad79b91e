"""One row: a whole scheduler on the twin, a load, and how long honest gangs take to be bound."""

from __future__ import annotations

import asyncio
import statistics
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import orjson
import yaml

from benchmarks.tenants.loads import FLAP_SECONDS, Load
from benchmarks.tenants.pods import NODES
from fourleaf.k8s_bridge.cluster.errors import Refused, Throttled
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import (
    Kubelets,
    add_namespace,
    add_nodes,
    gang,
    nodes,
)
from fourleaf.k8s_bridge.cluster.memory.client import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.names import LEADER
from fourleaf.k8s_bridge.reporting.audit import Audit
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.reporting.recorder.recorder import Recorder
from fourleaf.k8s_bridge.reporting.reporter import Reporter
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.k8s_bridge.runtime.garbage import freeze_survivors
from fourleaf.k8s_bridge.scheduler import Scheduler, SchedulerOptions
from fourleaf.k8s_bridge.scheduling.async_solver import AsyncSolver
from fourleaf.model.config.spec import CONFIG_MAP

HONEST = 20
"""Gangs of two pods of a whole node each, one after the other."""

GAP_SECONDS = 0.3
"""From one honest gang to the next."""

LOOK_SECONDS = 0.01
REST_SECONDS = 3.0
"""Without a line of the audit log or a condition written, until it counts as at rest."""
MOST_REST_SECONDS = 240.0
"""A scheduler that is not at rest by then is measured as it is."""
KUBELET_SECONDS = 1.0
"""Between two looks of all kubelets, which share the event loop and look at every pod."""
CALM_SECONDS = 2.0
"""Between the load and the first honest gang."""

TEAM, OTHER = "ml", "other"
VALUES = Path(__file__).parents[2] / "deploy/charts/fourleaf/values.yaml"
API_VERSION = "topology.scheduler/v1alpha1"


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds until honest gangs were bound; one that was not counts with the whole patience.

    `at_rest` is the median of as many that come once the scheduler has nothing more to say, and
    `rested` whether that came to be.
    `posted` are bytes of the load, `audited` those of the audit log.
    """

    pods: int
    posted: int
    median: float
    longest: float
    at_rest: float
    rested: bool
    bound: int
    leads_lost: int
    audited: int


class Door:
    """What a policy forbids to the load, and what the API server does not take at once.

    `bound` says when each pod was, by its name, in seconds of the event loop: to look at the pods
    now and then would see it later where the loop is busy.
    """

    def __init__(self, load: Load) -> None:
        self.bound: dict[str, float] = {}
        self._load = load
        self._writes = 0

    async def before(self, request: ApiRequest) -> None:
        """Refuse bindings of the load; throttle one write of so many."""
        bound = request.verb == "create" and request.subresource == "binding"
        if self._load.refused and bound and request.target.namespace.startswith(OTHER):
            raise Refused("a policy forbids it", 403, "Forbidden")
        if self._load.throttled and request.writes:
            self._writes += 1
            if self._writes % self._load.throttled == 0:
                raise Throttled("too many requests", 429, "TooManyRequests", 1.0)

    async def after(self, request: ApiRequest, answer: object) -> None:  # noqa: ARG002
        """Note when a pod was bound."""
        if request.subresource == "binding" and not request.dry_run:
            self.bound[request.target.name] = asyncio.get_running_loop().time()


async def measured(load: Load, patience: float, honest: int = HONEST) -> Row:
    """Let a scheduler meet the load, then honest gangs, for at most `patience` seconds."""
    # As the process of a scheduler has it.
    freeze_survivors()
    clock, door = SystemClock(), Door(load)
    cluster = MemoryCluster(clock=clock)
    kubelets = Kubelets(cluster.store)
    written: list[int] = []
    audit = Audit(lambda lines: written.append(len(lines)), clock)
    await add_nodes(cluster, (*nodes(4, 4, 4), *load.nodes))
    await cluster.create(CONFIG_MAPS, "kube-system", shipped_config())
    async with AsyncSolver() as solver:
        await solver.ready()
        scheduler = Scheduler(
            cluster.client("scheduler", door),
            clock,
            solver.plan,
            SchedulerOptions(identity="measured", dry_run="never"),
            lambda one: Reporter(one, SchedulerMetrics(), audit),
        )
        tasks = [
            asyncio.create_task(kubelets.run(KUBELET_SECONDS)),
            asyncio.create_task(scheduler.run()),
        ]
        try:
            while not scheduler.leading:
                await asyncio.sleep(LOOK_SECONDS)
            posted = await _submit(cluster, load)
            tasks += [asyncio.create_task(one(cluster, load)) for one in (_change, _flap)]
            await asyncio.sleep(CALM_SECONDS)
            terms = await _terms(cluster)
            waits = await _waits(cluster, door, honest, patience)
            await _leave(cluster)
            is_at_rest = await _rest(written, scheduler.reporter.recorder)
            rested = await _waits(cluster, door, honest, patience)
            lost = await _terms(cluster) - terms
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    return Row(
        len(load.bodies) + len(load.standing),
        posted,
        statistics.median(waits),
        max(waits),
        statistics.median(rested),
        is_at_rest,
        sum(one < patience for one in waits),
        lost,
        sum(written),
    )


async def _leave(cluster: MemoryCluster) -> None:
    """Honest gangs end and go."""
    for pod in (await cluster.list(PODS, TEAM)).items:
        target = Target(TEAM, pod["metadata"]["name"])
        cluster.store.remove(cluster.store.find(PODS, target))


async def _rest(written: list[int], recorder: Recorder) -> bool:
    """Wait until nothing has been told for a while; False where that does not come."""
    loop = asyncio.get_running_loop()
    until, before, since = loop.time() + MOST_REST_SECONDS, -1, loop.time()
    while loop.time() < min(until, since + REST_SECONDS):
        told = recorder.statuses.written + len(written)
        if told != before:
            before, since = told, loop.time()
        await asyncio.sleep(0.1)
    return loop.time() < until


def shipped_config() -> Body:
    """The ConfigMap of the chart, with its values as they are."""
    spec = yaml.safe_load(VALUES.read_text())["config"]
    config = {"apiVersion": API_VERSION, "kind": "SchedulerConfig", "spec": spec}
    return {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": yaml.safe_dump(config)}}


async def _submit(cluster: MemoryCluster, load: Load) -> int:
    """Create all that the load has; its bytes."""
    for number in range(load.namespaces):
        await add_namespace(cluster, f"{OTHER}-{number}")
    for kind, body in load.objects:
        cluster.store.create(kind, f"{OTHER}-0", body)
    for number, body in enumerate(load.standing):
        body["spec"]["nodeName"] = NODES[number % len(NODES)]
        cluster.store.create(PODS, f"{OTHER}-0", body)
    for number, body in enumerate(load.bodies):
        # Tenants are many: none of them waits for the scheduler, which shares this event loop.
        cluster.store.create(PODS, f"{OTHER}-{number % load.namespaces}", body)
        if number % 100 == 0:
            await asyncio.sleep(0)
    objects = (body for _, body in load.objects)
    return sum(len(orjson.dumps(body)) for body in (*objects, *load.standing, *load.bodies))


async def _change(cluster: MemoryCluster, load: Load) -> None:
    number = 0
    while load.busy:
        for _ in range(load.busy // 10):
            number += 1
            name = load.bodies[number % len(load.bodies)]["metadata"]["name"]
            patch = {"metadata": {"labels": {"number": str(number)}}}
            with suppress(Refused):
                await cluster.patch(PODS, Target(f"{OTHER}-0", name), patch)
        await asyncio.sleep(0.1)


async def _flap(cluster: MemoryCluster, load: Load) -> None:
    where = f"{OTHER}-0"
    while load.flapping:
        for body in load.flapping:
            cluster.store.create(PODS, where, body)
        await asyncio.sleep(FLAP_SECONDS)
        for body in load.flapping:
            target = Target(where, body["metadata"]["name"])
            cluster.store.remove(cluster.store.find(PODS, target))
        await asyncio.sleep(FLAP_SECONDS)


async def _terms(cluster: MemoryCluster) -> int:
    lease = await cluster.get(LEASES, Target("kube-system", LEADER))
    return int(lease["spec"]["leaseTransitions"])


async def _waits(cluster: MemoryCluster, door: Door, honest: int, patience: float) -> list[float]:
    """Submit honest gangs, one after the other; the seconds until each was bound."""
    loop = asyncio.get_running_loop()
    await add_namespace(cluster, TEAM)
    door.bound.clear()
    born: dict[str, float] = {}
    done: dict[str, float] = {}
    began = loop.time()
    while len(done) < honest and loop.time() - began < honest * GAP_SECONDS + patience:
        if len(born) < honest and loop.time() - began >= len(born) * GAP_SECONDS:
            name = f"honest-{len(born)}"
            # When it was meant to come: what keeps this loop from it keeps others as well.
            born[name] = began + len(born) * GAP_SECONDS
            for body in gang(name, 2):
                cluster.store.create(PODS, TEAM, body)
        await asyncio.sleep(LOOK_SECONDS)
        for name in born.keys() - done.keys():
            at = [door.bound.get(f"{name}-{i}") for i in range(2)]
            if None not in at:
                done[name] = max(moment for moment in at if moment is not None)
    waits = [done[name] - at if name in done else patience for name, at in born.items()]
    return [*waits, *[patience] * (honest - len(waits))]
