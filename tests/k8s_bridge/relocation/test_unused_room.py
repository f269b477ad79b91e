"""Room that a gang has had made, and does not use: others go for it ever less often.

The fabric is one leaf of 4 nodes, which `low` of another namespace fills; a gang that waits may
preempt after 5 s, again after 300 s, and its places are kept for 600 s.
"""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import GANG, GANG_SIZE, pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Target
from tests.k8s_bridge.relocation.bench import TEAM, Bench


async def member(bench: Bench, number: int) -> None:
    """One of the four pods of `top`."""
    body = pod(f"top-{number}", annotations={GANG: "top", GANG_SIZE: "4"})
    body["spec"]["priorityClassName"] = "high"
    await submit(bench.cluster, TEAM, [body])


async def test_a_gang_that_never_starts_on_its_places_is_barred_like_one_that_fails() -> None:
    """It takes a pod back each time that others go: at 5 s, and not again at 611 s, but after 911.

    Its places are kept for 600 s, and after that it waits for a window.
    """
    bench = Bench(1, 1)
    await bench.classes(low=0, high=1000)
    await bench.start()
    await bench.submit("low", 4, priority="low", namespace="other")
    slow = set((await bench.places("low", "other")).values())
    for number in range(4):
        await member(bench, number)
    rounds, is_short = list[float](), False
    while bench.clock.monotonic() < 1200:
        await bench.clock.advance(1)
        if await bench.pods("low", dying=True, namespace="other") and not is_short:
            rounds.append(bench.clock.monotonic())
            await bench.cluster.delete(PODS, Target(TEAM, "top-3"))
            bench.kubelets.silent -= slow
            is_short = True
            await bench.clock.advance(2)
        elif len(await bench.places("low", "other")) == 4:
            bench.kubelets.silent |= slow
            if is_short:
                await member(bench, 3)
                is_short = False
    assert len(rounds) == 2
    assert rounds[1] - rounds[0] >= 900
    await bench.stop()


@pytest.mark.parametrize("how", ["drained", "preempted"])
async def test_a_gang_that_had_to_go_bars_none_of_its_namespace(how: str) -> None:
    """Its Job takes 15 s to make its pod again: it is not gone, and the next gang may preempt."""
    bench = Bench(1, 1)
    bench.jobs.backoff = 15.0
    await bench.classes(low=0, high=1000, top=2000)
    await bench.start()
    for number in range(4):
        await bench.submit(f"low{number}", 1, priority="low", namespace="other")
    await bench.submit("one", 1, priority="high")
    await bench.clock.advance(20)
    (node,) = (await bench.places("one")).values()
    if how == "drained":
        await bench.cluster.patch(NODES, Target("", node), {"spec": {"unschedulable": True}})
        await bench.clock.advance(2)
        (body,) = await bench.pods("one")
        await bench.cluster.evict(Target(TEAM, body["metadata"]["name"], body["metadata"]["uid"]))
    else:
        await bench.submit("top", 4, priority="top", namespace="third")
        await bench.clock.advance(20)
        theirs = await bench.pods("top", namespace="third")
        bench.kubelets.finish("third", [body["metadata"]["name"] for body in theirs])
    await bench.clock.advance(20)
    await bench.submit("next", 1, priority="high")
    await bench.clock.advance(30)
    told = await bench.events("PreemptionForbidden")
    assert not [one["note"] for one in told if one["regarding"]["name"].startswith("next")]
    await bench.stop()
