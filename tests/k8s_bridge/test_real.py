"""What is written and asked for under the account that ships, before a real apiserver."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourleaf.agent.publisher import MANAGER
from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import (
    COSCHEDULING_POD_GROUPS,
    EVENTS,
    NAMESPACES,
    NATIVE_POD_GROUPS,
    NODES,
    PODS,
    VOLCANO_POD_GROUPS,
    Kind,
)
from fourleaf.k8s_bridge.cluster.live import connect
from fourleaf.k8s_bridge.cluster.memory.actors import gang, node
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.node_health.deleted_nodes import GONE_SECONDS
from fourleaf.k8s_bridge.node_health.heartbeats import Heartbeats
from fourleaf.k8s_bridge.node_health.judge import Judgement
from fourleaf.k8s_bridge.node_health.monitor import FAILURES_LEASE, NodeMonitor
from fourleaf.k8s_bridge.node_health.probe import KubeletAddress
from fourleaf.k8s_bridge.reporting.after_cycle import AfterCycle, after_cycle
from fourleaf.k8s_bridge.reporting.cycle_facts import CycleFacts, Reported
from fourleaf.k8s_bridge.reporting.recorder.event_series import CONTROLLER, WRITE_SECONDS
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Outgoing, Regarding
from fourleaf.k8s_bridge.reporting.recorder.recorder import Recorder
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.readers import Source, read
from fourleaf.model.readers.gangs.dialects import COSCHEDULING_LABELS, VOLCANO_GROUP
from tests.controlplane.api import Api
from tests.controlplane.fixtures import control_plane_programs
from tests.controlplane.plane import ControlPlane
from tests.controlplane.waiting import eventually, serve
from tests.e2e.accounts import AGENT, RBAC, SCHEDULER, account, allowed, install
from tests.k8s_bridge.reporting.made import SHORT, SHORT_TEXT
from tests.twins.virtual_clock import VirtualClock

__all__ = ["control_plane_programs"]


@dataclass(frozen=True, slots=True)
class Group:
    """A group of two of one dialect: its kind and spec, and how a pod names it, as pods have it."""

    kind: Kind
    spec: Body
    named: Body


TWO = {"minMember": 2}
GROUPS = {
    "native": Group(
        NATIVE_POD_GROUPS,
        {"schedulingPolicy": {"gang": {"minCount": 2}}},
        {"spec": {"schedulingGroup": {"podGroupName": "g"}}},
    ),
    "coscheduling": Group(
        COSCHEDULING_POD_GROUPS, TWO, {"metadata": {"labels": {COSCHEDULING_LABELS[0]: "g"}}}
    ),
    "volcano": Group(VOLCANO_POD_GROUPS, TWO, {"metadata": {"annotations": {VOLCANO_GROUP: "g"}}}),
}
DEFINITIONS = Path(__file__).parents[1] / "e2e" / "crds.yaml"


@pytest.fixture(scope="module")
def plane(
    control_plane_programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """Start a control plane that knows every PodGroup, and the accounts that ship."""
    with (
        ControlPlane(
            tmp_path_factory.mktemp("plane"),
            gates={"GenericWorkload": True},
            runtime_config=["scheduling.k8s.io/v1alpha2"],
        ) as made,
        made.api() as api,
    ):
        serve(api, yaml.safe_load_all(DEFINITIONS.read_text()))
        install(api, RBAC / "scheduler.yaml", RBAC / "agent.yaml")
        for who in (SCHEDULER, AGENT):
            with Api(account(made, who, tmp_path_factory.mktemp("account"))) as own:
                eventually(
                    lambda own=own: allowed(own, "create", "events.k8s.io/events", "default"),  # type: ignore[misc]
                    f"{who} has its rights",
                )
        yield made


@pytest.fixture
async def cluster(plane: ControlPlane) -> AsyncIterator[Cluster]:
    """Connect to it, as its owner."""
    made = await connect(str(plane.kubeconfig()))
    yield made
    await made.close()


@pytest.fixture
async def scheduler(plane: ControlPlane, tmp_path: Path) -> AsyncIterator[Cluster]:
    """Connect to it as the scheduler's account."""
    made = await connect(str(account(plane, SCHEDULER, tmp_path)))
    yield made
    await made.close()


async def told(cluster: Cluster, tells: AfterCycle | list[Event]) -> Recorder:
    """Write what is told, and be done with it."""
    recorder = Recorder(cluster, SystemClock(), "test")
    await wrote(recorder, tells.outgoing if isinstance(tells, AfterCycle) else tells)
    return recorder


async def wrote(recorder: Recorder, outgoing: Iterable[Outgoing]) -> None:
    """Write these, and be done with it."""
    task = asyncio.create_task(recorder.run())
    recorder.record(outgoing)
    await recorder.settle()
    task.cancel()
    await asyncio.wait({task})


async def listed(cluster: Cluster, kind: Kind, team: str) -> dict[tuple[str, str], Body]:
    """All objects of `kind` of a team."""
    items = (await cluster.list(kind, team)).items
    return {(team, body["metadata"]["name"]): body for body in items}


@pytest.mark.parametrize("dialect", GROUPS)
async def test_a_waiting_gang_with_its_group(
    cluster: Cluster, scheduler: Cluster, dialect: str
) -> None:
    """Conditions on both pods and the group, events on a pod and the group; told again, no more."""
    kind, team = GROUPS[dialect].kind, dialect
    await cluster.create(NAMESPACES, "", {"metadata": {"name": team}})
    service_account = {"serviceAccountName": "default", "automountServiceAccountToken": False}
    await cluster.create(
        Kind("", "v1", "serviceaccounts", "ServiceAccount"),
        team,
        {"metadata": {"name": "default"}},
    )
    await cluster.create(kind, team, {"metadata": {"name": "g"}, "spec": GROUPS[dialect].spec})
    for body in gang("g", 2):
        body["spec"] |= service_account
        for part, more in GROUPS[dialect].named.items():
            body[part] |= more
        await cluster.create(PODS, team, body)

    async def cycle(before: Reported, now: float) -> AfterCycle:
        pods, groups = await listed(cluster, PODS, team), await listed(cluster, kind, team)
        objects = [
            {"apiVersion": one.api_version, "kind": one.name, **body}
            for one, bodies in ((PODS, pods), (kind, groups))
            for body in bodies.values()
        ]
        snapshot = read([Source("", objects=objects)], now).snapshot
        plan = Plan(PlanStatus.OPTIMAL, (), (Waiting(GangKey(team, "g"), SHORT),))
        return after_cycle(before, CycleFacts(snapshot, plan, {PODS: pods, kind: groups}, (), now))

    news = await cycle(Reported(), 1e9)
    recorder = await told(scheduler, news)
    assert (recorder.statuses.written, recorder.events.written) == (3, 2)
    for body in (await listed(cluster, PODS, team)).values():
        found = {c["type"]: c for c in body["status"]["conditions"]}
        assert found["PodScheduled"]["reason"] == "Unschedulable"
        assert found["PodScheduled"]["message"] == SHORT_TEXT
    status = (await cluster.get(kind, Target(team, "g")))["status"]
    if dialect == "coscheduling":
        assert status["phase"] == "Pending"
    else:
        assert status["conditions"][0]["message"] == SHORT_TEXT
    assert (await cycle(news.reported, 1e9 + 1)).outgoing == ()


async def test_events_of_every_form(cluster: Cluster, scheduler: Cluster) -> None:
    """About a node, with the longest note of wide characters, and as a series."""
    made = await cluster.create(NODES, "", node("n1", "l", "s"))
    long = Event(Regarding.of(NODES, made), "Invalid", "é" * 2000, "Reading", warning=True)
    recorder = await told(scheduler, [long])
    assert recorder.events.failed == 0
    events = (await cluster.list(EVENTS, "default")).items
    (event,) = [e for e in events if e["regarding"]["name"] == "n1"]
    assert event["note"] == "é" * 510 + "..."


@pytest.mark.parametrize(("who", "controller"), [(SCHEDULER, CONTROLLER), (AGENT, MANAGER)])
async def test_what_happens_again_is_counted(
    plane: ControlPlane, cluster: Cluster, tmp_path: Path, who: tuple[str, str], controller: str
) -> None:
    """In the Event that is there, a minute later, under the account that tells it."""
    name = f"of-{controller}"
    made = await cluster.create(NODES, "", node(name, "l", "s"))
    event = Event(Regarding.of(NODES, made), "Invalid", "as before", "Reading", warning=True)
    clock = VirtualClock()
    own = await connect(str(account(plane, who, tmp_path)))
    recorder = Recorder(own, clock, "test", controller=controller)
    await wrote(recorder, [event])
    clock.set_wall(WRITE_SECONDS)
    await wrote(recorder, [event])
    await own.close()
    assert recorder.events.failed == 0
    found = (await cluster.list(EVENTS, "default")).items
    (told,) = [one for one in found if one["regarding"]["name"] == name]
    assert told["series"]["count"] == 2


class NoProber:
    """Takes no question: only nodes that are there are probed."""

    async def answers(self, door: KubeletAddress) -> bool | None:
        """Fail the test."""
        raise AssertionError(door)


async def test_a_node_that_the_cache_lacks_is_asked_for(
    cluster: Cluster, scheduler: Cluster
) -> None:
    """Forty seconds later; one that is there after all is not taken for gone, the other is."""
    await cluster.create(NODES, "", node("there", "l", "s"))
    for name in ("there", "gone"):
        await cluster.create(NAMESPACES, "", {"metadata": {"name": f"on-{name}"}})
        (body,) = gang("g", 1)
        body["spec"] |= {"nodeName": name, "automountServiceAccountToken": False}
        await cluster.create(PODS, f"on-{name}", body)
    clock, told = VirtualClock(), list[tuple[str, Judgement]]()
    asked = list[asyncio.Task[None]]()

    def spawn(question: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        asked.append(asyncio.ensure_future(question))
        return asked[-1]

    cache = ClusterCache(clock)
    cache.take_all(PODS, await scheduler.list(PODS))
    kept = StateLease(scheduler, "kube-system", FAILURES_LEASE, clock)
    monitor = NodeMonitor(
        scheduler,
        cache,
        Heartbeats(),
        NoProber(),
        kept,
        clock,
        lambda *one: told.append(one),
        lambda *_: None,
        spawn,
    )
    await monitor.look()
    await clock.advance(GONE_SECONDS)
    await monitor.look()
    await asyncio.gather(*asked)
    await monitor.look()
    assert len(asked) == 2
    assert monitor.dead == {"gone"}
    assert [name for name, _ in told] == ["gone"]
