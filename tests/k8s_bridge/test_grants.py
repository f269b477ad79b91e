"""What pods say of GPUs by annotation, on the whole scheduler; said later, it changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, EVENTS, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import node, nodes, pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.reporting.recorder.event_series import event_body
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Regarding
from fourleaf.model.config.spec import CONFIG_MAP
from fourleaf.model.devices.held_devices import GPUS
from tests.k8s_bridge.test_scheduler import TEAM, Bench

COUNT = "topology.scheduler/gpu-count"


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """One node of 8 GPUs."""
    bench = Bench()
    for body in nodes(1, 1, 1):
        await bench.cluster.create(NODES, "", body)
    yield bench
    await bench.stop()


async def bound(bench: Bench) -> dict[str, str]:
    """The GPUs that were granted to every pod that has a node."""
    return {
        name: body["metadata"]["annotations"][GPUS]
        for name, body in (await bench.pods()).items()
        if body["spec"].get("nodeName")
    }


async def say(bench: Bench, name: str, count: str) -> None:
    """Let a tenant annotate its pod."""
    patch = {"metadata": {"annotations": {COUNT: count}}}
    await bench.cluster.patch(PODS, Target(TEAM, name), patch)


@pytest.mark.parametrize("leader", ["the same", "another"])
async def test_eight_stay_eight(bench: Bench, leader: str) -> None:
    """The node is full: a pod that runs there says 1, and an honest one waits all the same."""
    await bench.start()
    await submit(bench.cluster, TEAM, [pod("held", 0, annotations={COUNT: "8"})])
    await bench.clock.advance(3)
    assert await bound(bench) == {"held": "8"}
    await say(bench, "held", "1")
    if leader == "another":
        await bench.start("b")
        bench.tasks[1].cancel()
        await bench.clock.advance(40)
    await submit(bench.cluster, TEAM, [pod("honest", 4)])
    await bench.clock.advance(60)
    assert await bound(bench) == {"held": "8"}


async def test_none_stay_none(bench: Bench) -> None:
    """A pod without GPUs runs and says a million: an honest one gets all eight."""
    await bench.start()
    await submit(bench.cluster, TEAM, [pod("idle", 0)])
    await bench.clock.advance(3)
    await say(bench, "idle", "1000000")
    await submit(bench.cluster, TEAM, [pod("honest", 8)])
    await bench.clock.advance(10)
    assert await bound(bench) == {"idle": "0", "honest": "8"}


async def test_a_quota_counts_what_annotations_ask_for(bench: Bench) -> None:
    """By the config; a quota of Kubernetes sees no GPU here. 4 and 5 are more than 8."""
    said = f"spec:\n  namespaces: {{{TEAM}: {{gpuQuota: 8}}}}\n"
    text = f"apiVersion: topology.scheduler/v1alpha1\nkind: SchedulerConfig\n{said}"
    config = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": text}}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", config)
    await bench.cluster.create(NODES, "", node("another", "leaf-0-0", "spine-0"))
    await bench.start()
    await submit(bench.cluster, TEAM, [pod("four", 0, annotations={COUNT: "4"})])
    await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, [pod("five", 0, annotations={COUNT: "5"})])
    await bench.clock.advance(10)
    assert await bound(bench) == {"four": "4"}


async def test_a_key_in_other_case_grants_nothing(bench: Bench) -> None:
    """A pod of 1 GPU that runs says that it has all 8, by keys that are nearly the scheduler's."""
    said = {"ALLOC.gpu.scheduling/devices": "0-7", "alloc.gpu.scheduling/Devices": "0-7"}
    said |= {"ALLOC.gpu.scheduling/gpus": "8", "Alloc.gpu.scheduling/commit": "1"}
    await bench.start()
    await submit(bench.cluster, TEAM, [pod("odd", 1, annotations=said)])
    await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, [pod("honest", 7)])
    await bench.clock.advance(3)
    assert await bound(bench) == {"odd": "1", "honest": "7"}


class EventRequests:
    """Notes what a scheduler asks of the API about Events."""

    def __init__(self) -> None:
        self.verbs: set[str] = set()

    async def before(self, request: ApiRequest) -> None:
        """Note the verb."""
        if request.kind == EVENTS:
            self.verbs.add(request.verb)

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Answers pass."""


async def test_events_that_look_like_its_own_are_never_read(bench: Bench) -> None:
    """A tenant says of its pod, and of another's, that they went back: both are bound and stay."""
    requests = EventRequests()
    await bench.start(client=bench.cluster.client("a", requests))
    await submit(bench.cluster, TEAM, [pod("honest", 4)])
    await submit(bench.cluster, "evil", [pod("own", 4)])
    for space, name in ((TEAM, "honest"), ("evil", "own")):
        about = Regarding(PODS, space, name)
        event = Event(about, "GangRolledBack", "Gang cannot be bound", "Binding", warning=True)
        body = event_body(event, "a", bench.clock.wall(), 1)
        body["metadata"]["namespace"] = "evil"
        await bench.cluster.create(EVENTS, "evil", body)
    await bench.clock.advance(60)
    assert await bound(bench) == {"own": "4", "honest": "4"}
    assert requests.verbs == {"create"}
