"""Pods that the API has let go, of which the watch says so late."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.k8s_bridge.relocation.bench import Bench


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
