"""Pods that the API has let go, of which the watch says so late."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import JOBS, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.next_action import progress
from fourleaf.k8s_bridge.relocation.records import TOO_FEW, Leaver, Purpose, Relocation, Seat
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.objects.annotations import DRAIN
from fourleaf.model.resources import Resources
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.twins.jobs import INDEX

WHOLE = Resources(8, None, None, 1, ())


class LateWatch:
    """The watch of pods says so many seconds late that one is to end; counts evictions."""

    def __init__(self, bench: Bench, seconds: float) -> None:
        self.bench, self.seconds = bench, seconds
        self.evictions = 0

    async def before(self, request: ApiRequest) -> None:
        """Count it."""
        self.evictions += request.subresource == "eviction" and not request.dry_run

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let the watch wait."""
        is_watch = (request.kind, request.verb) == (PODS, "watch")
        body = answer.object if is_watch else {}
        if "deletionTimestamp" in body.get("metadata", {}):
            seconds, self.seconds = self.seconds, 0.0
            await self.bench.clock.sleep(seconds)


@pytest.mark.parametrize("seconds", [0.0, 15.0])
async def test_who_was_told_to_go_is_told_once(seconds: float) -> None:
    """A pod of a node that is to be emptied; what is not answered is told again after 2 s."""
    bench = Bench()
    watch = LateWatch(bench, seconds)
    await bench.start(answers=watch)
    await bench.submit("g", 1)
    before = await bench.places("g")
    drained = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    await bench.cluster.patch(NODES, Target("", before[0]), drained)
    await bench.clock.advance(40)
    assert watch.evictions == 1
    assert len(await bench.events("Evicted")) == 1
    after = await bench.places("g")
    assert len(after) == 1
    assert after != before
    await bench.stop()


@pytest.mark.parametrize(("heard", "over"), [(False, False), (True, True)])
async def test_who_was_told_to_go_is_to_come_anew(heard: bool, over: bool) -> None:
    """Of two one waits and the other was told to go, which the watch has not brought yet.

    Two places are none too many then. Once it has gone, and the Job is to have one pod, they are.
    """
    bench = Bench(1, 2)
    await bench.start()
    await bench.submit("g", 2)
    bench.tasks.pop().cancel()
    pods = {int(pod["metadata"]["labels"][INDEX]): pod for pod in await bench.pods("g")}
    moving = Target(TEAM, pods[0]["metadata"]["name"], pods[0]["metadata"]["uid"])
    await bench.cluster.delete(PODS, Target(TEAM, pods[1]["metadata"]["name"]))
    await bench.clock.advance(5)
    (comer,) = [pod["metadata"] for pod in await bench.pods("g") if "nodeName" not in pod["spec"]]
    if heard:
        fewer = {"spec": {"parallelism": 1, "completions": 1}}
        await bench.cluster.patch(JOBS, Target(TEAM, "g"), fewer)
        await bench.cluster.delete(PODS, moving)
        await bench.clock.advance(5)
    cache, now = ClusterCache(bench.clock), bench.clock.wall()
    for kind in (NODES, JOBS, PODS):
        cache.take_all(kind, await bench.cluster.list(kind))
    source = pods[0]["spec"]["nodeName"]
    one = Relocation(
        GangKey(TEAM, "g"),
        Purpose.REPAIR,
        (
            Seat(Target(TEAM, comer["name"], comer["uid"]), (0, 0, 1), "", "n-0-1-0", WHOLE),
            Seat(moving, (0, 0, 0), source, "n-0-1-1", WHOLE),
        ),
        (Leaver(moving, source),),
        opened=now,
        until=now + 600,
    )
    told = frozenset({moving.uid})
    view = ClusterView(cache, cache.reading(), (one,), frozenset(), now, told=told)
    assert (progress(one, view).why == TOO_FEW) is over
    await bench.stop()
