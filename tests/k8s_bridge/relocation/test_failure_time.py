"""What the Job controller is told of lost pods: since when they have failed.

Kubelets beat every 10 s and 20 s of silence make a node dead. The Job controller waits 10 s for
the next pod, from the failure.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Conflict, Throttled
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import gang, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.relocation.evictions.failure_time import NODE_SILENT
from tests.k8s_bridge.relocation.bench import TEAM, Bench

BACKOFF_SECONDS = 10.0


def ready(pod: Body) -> Body:
    """Its condition `Ready`."""
    return next(one for one in pod["status"]["conditions"] if one["type"] == "Ready")


class Told:
    """An API that notes of which pods it is told that they have failed, and takes it or not."""

    def __init__(self, error: ClusterError | None = None) -> None:
        self.error = error
        self.pods: list[str] = []

    async def before(self, request: ApiRequest) -> None:
        """Note it, refuse it."""
        is_status = request.kind == PODS and request.subresource == "status"
        conditions = request.body["status"]["conditions"] if is_status else ()
        if any(one.get("reason") == NODE_SILENT for one in conditions):
            self.pods.append(request.target.name)
            if self.error is not None:
                raise self.error

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def seconds_without(bench: Bench) -> float:
    """How long one of two members is missing, from its eviction until another is bound."""
    while not await bench.dying("g"):
        await bench.clock.advance(0.5)
    evicted = bench.clock.wall()
    while len(await bench.places("g")) < 2:
        await bench.clock.advance(0.5)
    return bench.clock.wall() - evicted


async def test_it_failed_when_its_node_was_heard_last(bench: Bench) -> None:
    """In the 10 s before the power was cut; so the next pod is made once it is evicted."""
    bench.jobs.backoff = BACKOFF_SECONDS
    await bench.submit("g", 2)
    before = await bench.places("g")
    await bench.clock.advance(30)
    cut = bench.clock.wall()
    bench.lose(before[1])
    assert await seconds_without(bench) <= 2
    (lost,) = await bench.pods("g", dying=True)
    said = ready(lost)
    since = datetime.fromisoformat(said["lastTransitionTime"]).timestamp()
    assert (said["status"], said["reason"]) == ("False", NODE_SILENT)
    assert cut - 11 <= since <= cut
    assert before[1] in said["message"]
    after = await bench.places("g")
    assert after[0] == before[0]
    assert after[1] != before[1]


@pytest.mark.parametrize("error", [Conflict("changed", 409), Throttled("busy", 429)])
async def test_where_it_is_not_taken_the_eviction_counts(error: ClusterError) -> None:
    """It is tried once; the member comes back all the same, ten seconds later."""
    bench, api = Bench(), Told(error)
    await bench.start(answers=api)
    bench.jobs.backoff = BACKOFF_SECONDS
    await bench.submit("g", 2)
    await bench.clock.advance(30)
    bench.lose((await bench.places("g"))[1])
    assert 9 <= await seconds_without(bench) <= 12
    assert len(api.pods) == 1
    await bench.stop()


async def test_members_that_live_and_move_have_not_failed() -> None:
    """One of a gang of 8 is lost and three move next door: it is said of that one."""
    bench, api = Bench(), Told()
    await bench.start(answers=api)
    await bench.submit("g", 8)
    lost = {pod["spec"]["nodeName"]: pod["metadata"]["name"] for pod in await bench.pods("g")}
    bench.lose("n-0-0-2")
    await bench.clock.advance(62)
    assert await bench.leaves("g") == [1, 2]
    assert api.pods == [lost["n-0-0-2"]]
    await bench.stop()


async def test_a_kubelet_that_is_heard_says_so_itself(bench: Bench) -> None:
    """Its node is out of service by a taint, and beats on."""
    await bench.submit("g", 2)
    before = await bench.places("g")
    taint = {"key": "node.kubernetes.io/out-of-service", "effect": "NoSchedule"}
    await bench.cluster.patch(NODES, Target("", before[1]), {"spec": {"taints": [taint]}})
    bench.kubelets.silent.add(before[1])
    await bench.clock.advance(10)
    (lost,) = await bench.pods("g", dying=True)
    assert ready(lost)["status"] == "True"


async def test_no_other_controller_is_told() -> None:
    """A gang of pods that nothing makes anew, and one of an operator that reads no such time."""
    bench, api = Bench(), Told()
    await bench.start(answers=api)
    bodies = gang("g", 2)
    for body in bodies:
        owner = {"apiVersion": "example.com/v1", "kind": "Trainer", "name": "t", "uid": "u"}
        body["metadata"]["ownerReferences"] = [owner | {"controller": True}]
    await submit(bench.cluster, TEAM, bodies)
    await bench.clock.advance(3)
    first, _ = (await bench.cluster.list(PODS, TEAM)).items
    bench.lose(first["spec"]["nodeName"])
    await bench.clock.advance(30)
    after = await bench.cluster.get(PODS, Target(TEAM, first["metadata"]["name"]))
    assert "deletionTimestamp" in after["metadata"]
    assert api.pods == []
    await bench.stop()
