"""Moves of one plan that would wait for each other are not begun."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import node, pod
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.entangled import entangled
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation, Seat
from fourleaf.model.gang import GangKey
from fourleaf.model.resources import Resources
from tests.k8s_bridge.ledger.harness import InstantClock

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
