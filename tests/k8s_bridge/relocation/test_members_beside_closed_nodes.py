"""Members that are made anew while another of their gang stands on a node that takes no pods."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.protocol import Target
from tests.k8s_bridge.relocation.bench import TEAM, Bench

CHANGES: dict[str, dict[str, Any]] = {
    "cordoned": {"spec": {"unschedulable": True}},
    "tainted": {"spec": {"taints": [{"key": "pressure", "effect": "NoSchedule"}]}},
}


@pytest.mark.parametrize("how", CHANGES)
async def test_a_member_that_restarts_has_its_place(bench: Bench, how: str) -> None:
    """The node of its neighbour is closed: it comes back to its own at once, no other pod goes."""
    await bench.submit("g", 4)
    places, before = await bench.places("g"), await bench.uids("g")
    await bench.cluster.patch(NODES, Target("", places[0]), CHANGES[how])
    await bench.clock.advance(5)
    (pod,) = [one for one in await bench.pods("g") if one["spec"]["nodeName"] == places[3]]
    await bench.cluster.delete(PODS, Target(TEAM, pod["metadata"]["name"]))
    await bench.clock.advance(10)
    after = await bench.uids("g")
    assert await bench.places("g") == places
    assert {number: uid for number, uid in after.items() if number != 3} == {
        number: uid for number, uid in before.items() if number != 3
    }
    assert after[3] != before[3]
    assert await bench.events("Evicted") == []
