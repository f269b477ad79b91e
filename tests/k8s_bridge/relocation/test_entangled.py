"""Moves of one plan that would wait for each other are not begun."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import JOBS, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, node, pod
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.entangled import entangled
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation, Seat
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.objects.annotations import DRAIN
from fourleaf.model.resources import Resources
from tests.k8s_bridge.ledger.harness import InstantClock
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.twins.jobs import job

WHOLE = Resources(8, None, None, 1, ())


def view(stands: dict[str, str]) -> ClusterView:
    """Nodes a to e of 8 GPUs; pods of 8 on some of them."""
    seen = ClusterCache(InstantClock())
    for name in "abcde":
        one = node(name, "leaf", "spine", gpus=8)
        one["metadata"]["resourceVersion"] = "1"
        seen.take(NODES, one)
    for name, on in stands.items():
        one = pod(name, gpus=8, namespace="ml", uid=name, resourceVersion="2")
        one["spec"]["nodeName"] = on
        one["status"] = {"phase": "Running"}
        seen.take(PODS, one)
    return ClusterView(seen, seen.reading(), (), frozenset(), 0.0)


def moving(gang: str, *moves: tuple[str, str, str], **more: Any) -> Relocation:
    """Members of a gang move: pod, from, to."""
    seats = tuple(
        Seat(Target("ml", name, name), (0, 0, 0), source, to, WHOLE) for name, source, to in moves
    )
    leavers = tuple(Leaver(Target("ml", name, name), source, **more) for name, source, _ in moves)
    return Relocation(GangKey("ml", gang), Purpose.REPAIR, seats, leavers)


@pytest.mark.parametrize(
    ("moves", "stuck"),
    [
        ({"x": [("x", "a", "d")]}, ""),
        ({"x": [("x", "a", "b")], "y": [("y", "b", "d")]}, ""),
        ({"x": [("x", "a", "b")], "y": [("y", "b", "c")], "z": [("z", "c", "d")]}, ""),
        ({"x": [("x", "a", "b")], "y": [("y", "b", "a")]}, "xy"),
        ({"x": [("x", "a", "b")], "y": [("y", "b", "c")], "z": [("z", "c", "a")]}, "xyz"),
        ({"x": [("x", "a", "b"), ("y", "b", "a")]}, ""),
        ({"x": [("x", "a", "b")], "y": [("y", "b", "a")], "z": [("z", "c", "e")]}, "xy"),
        ({"x": [("x", "a", "b")]}, "x"),
    ],
    ids=["free", "chain", "long chain", "swap", "ring", "within a gang", "beside", "never leaves"],
)
def test_who_waits_for_each_other(moves: dict[str, list[tuple[str, str, str]]], stuck: str) -> None:
    """`x`, `y` and `z` stand on a, b and c; d and e are free."""
    drafts = [moving(gang, *some) for gang, some in moves.items()]
    found = entangled(drafts, view({"x": "a", "y": "b", "z": "c"}))
    assert "".join(sorted(one.name for one in found)) == stuck


def test_the_lost_wait_for_none() -> None:
    """A pod on a dead node holds nothing up, and leaves no room that others could have."""
    drafts = [moving("x", ("x", "a", "d"), lost=True), moving("y", ("y", "b", "a"))]
    found = entangled(drafts, view({"x": "a", "y": "b"}))
    assert {one.name for one in found} == {"y"}


async def test_gangs_that_could_only_change_places_stay_and_are_told() -> None:
    """Each of two gangs of 3 is to leave a node, and finds room where the other one stands alone.

    Neither can leave first, so none is evicted. They are planned for every five seconds.
    """
    bench = Bench(leaves=2)
    await bench.start()
    await add_namespace(bench.cluster, TEAM)

    async def suit(name: str, *nodes: str) -> None:
        for one in nodes:
            label = {"metadata": {"labels": {name: "yes"}}}
            await bench.cluster.patch(NODES, Target("", one), label)

    x, y = ("n-0-0-0", "n-0-0-1", "n-0-0-3"), ("n-0-1-0", "n-0-1-1", "n-0-1-2")
    for name, nodes in (("x", x), ("y", y)):
        await suit(name, *nodes)
        body = job(name, 3)
        body["spec"]["template"]["spec"]["nodeSelector"] = {name: "yes"}
        await bench.cluster.create(JOBS, TEAM, body)
        await bench.clock.advance(3)
        assert set((await bench.places(name)).values()) == set(nodes)
    await suit("x", *y[:2], "n-0-1-3")
    await suit("y", *x[:2], "n-0-0-2")
    before = await bench.uids("x"), await bench.uids("y")
    drained = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    for one in (x[2], y[2]):
        await bench.cluster.patch(NODES, Target("", one), drained)
    await bench.clock.advance(14)
    assert len(bench.solved.repairs) == 3
    assert (await bench.uids("x"), await bench.uids("y")) == before
    told = await bench.events("NotRepaired")
    assert {event["regarding"]["name"][0] for event in told} == {"x", "y"}
    why = "short of places: those that it could take are free only once it has left, or gangs"
    assert all(why in event["note"] for event in told)
    await bench.stop()
