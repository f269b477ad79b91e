"""What is written, before a real apiserver: it takes the bodies as they are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from fourleaf.k8s_bridge.cluster.kinds import (
    EVENTS,
    NAMESPACES,
    NATIVE_POD_GROUPS,
    NODES,
    PODS,
    Kind,
)
from fourleaf.k8s_bridge.cluster.live import connect
from fourleaf.k8s_bridge.cluster.memory.actors import gang, node
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target
from fourleaf.k8s_bridge.reporting.after_cycle import AfterCycle, after_cycle
from fourleaf.k8s_bridge.reporting.cycle_facts import CycleFacts, Reported
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Regarding
from fourleaf.k8s_bridge.reporting.recorder.recorder import Recorder
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.readers import Source, read
from tests.controlplane.fixtures import control_plane_programs
from tests.controlplane.plane import ControlPlane
from tests.k8s_bridge.reporting.made import SHORT, SHORT_TEXT

__all__ = ["control_plane_programs"]

GROUP = {
    "metadata": {"name": "g"},
    "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
}


@pytest.fixture(scope="module")
def plane(
    control_plane_programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """Start a control plane that knows PodGroups."""
    with ControlPlane(
        tmp_path_factory.mktemp("plane"),
        gates={"GenericWorkload": True},
        runtime_config=["scheduling.k8s.io/v1alpha2"],
    ) as made:
        yield made


@pytest.fixture
async def cluster(plane: ControlPlane) -> AsyncIterator[Cluster]:
    """Connect to it."""
    made = await connect(str(plane.kubeconfig()))
    yield made
    await made.close()


async def told(cluster: Cluster, tells: AfterCycle | list[Event]) -> Recorder:
    """Write what is told, and be done with it."""
    recorder = Recorder(cluster, SystemClock(), "test")
    task = asyncio.create_task(recorder.run())
    recorder.record(tells.outgoing if isinstance(tells, AfterCycle) else tells)
    await recorder.settle()
    task.cancel()
    await asyncio.wait({task})
    return recorder


async def listed(cluster: Cluster, kind: Kind) -> dict[tuple[str, str], Body]:
    """All objects of `kind` of the team."""
    items = (await cluster.list(kind, "team")).items
    return {("team", body["metadata"]["name"]): body for body in items}


async def test_a_waiting_gang_with_its_group(cluster: Cluster) -> None:
    """Conditions on both pods and the group, one event; told again, the server keeps it as is."""
    await cluster.create(NAMESPACES, "", {"metadata": {"name": "team"}})
    service_account = {"serviceAccountName": "default", "automountServiceAccountToken": False}
    await cluster.create(
        Kind("", "v1", "serviceaccounts", "ServiceAccount"),
        "team",
        {"metadata": {"name": "default"}},
    )
    await cluster.create(NATIVE_POD_GROUPS, "team", GROUP)
    for body in gang("g", 2):
        body["spec"] |= {"schedulingGroup": {"podGroupName": "g"}, **service_account}
        await cluster.create(PODS, "team", body)

    async def cycle(before: Reported, now: float) -> AfterCycle:
        pods, groups = await listed(cluster, PODS), await listed(cluster, NATIVE_POD_GROUPS)
        objects = [
            *({"apiVersion": "v1", "kind": "Pod", **body} for body in pods.values()),
            *(
                {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", **body}
                for body in groups.values()
            ),
        ]
        snapshot = read([Source("", objects=objects)], now).snapshot
        plan = Plan(PlanStatus.OPTIMAL, (), (Waiting(GangKey("team", "g"), SHORT),))
        return after_cycle(
            before, CycleFacts(snapshot, plan, {PODS: pods, NATIVE_POD_GROUPS: groups}, (), now)
        )

    news = await cycle(Reported(), 1e9)
    recorder = await told(cluster, news)
    assert (recorder.statuses.written, recorder.events.written) == (3, 1)
    for body in (await listed(cluster, PODS)).values():
        found = {c["type"]: c for c in body["status"]["conditions"]}
        assert found["PodScheduled"]["reason"] == "Unschedulable"
        assert found["PodScheduled"]["message"] == SHORT_TEXT
    group = await cluster.get(NATIVE_POD_GROUPS, Target("team", "g"))
    assert group["status"]["conditions"][0]["message"] == SHORT_TEXT
    assert (await cycle(news.reported, 1e9 + 1)).outgoing == ()


async def test_events_of_every_form(cluster: Cluster) -> None:
    """About a node, with the longest note of wide characters, and as a series."""
    made = await cluster.create(NODES, "", node("n1", "l", "s"))
    long = Event(Regarding.of(NODES, made), "Invalid", "é" * 2000, "Reading", warning=True)
    recorder = await told(cluster, [long])
    assert recorder.events.failed == 0
    events = (await cluster.list(EVENTS, "default")).items
    (event,) = [e for e in events if e["regarding"]["name"] == "n1"]
    assert event["note"] == "é" * 510 + "..."
    patch = {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}}
    target = Target("default", event["metadata"]["name"])
    assert (await cluster.patch(EVENTS, target, patch))["series"]["count"] == 2
