"""Two members that move to one node: who has come does not take the place of the other."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import GANG, GANG_SIZE, node, pod
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.next_action import REST, progress
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation, Seat
from fourleaf.model.gang import GangKey
from fourleaf.model.resources import Resources
from tests.k8s_bridge.ledger.harness import InstantClock


def moving(gang: str, owner: str = "") -> Relocation:
    """A member of `gang` that has left the first node, for a seat of one GPU on the second."""
    left = Target("ml", f"{gang}-0", f"{gang}-left")
    seat = Seat(left, (0, 0, 0), "n-0", "n-1", Resources(1, 0, 0, 1))
    key = GangKey("ml", gang)
    leaver = Leaver(left, "n-0")
    return Relocation(key, Purpose.DRAIN, (seat,), (leaver,), owner=owner, until=1e9)


def cluster(*pods: Body) -> ClusterCache:
    """Two nodes of two GPUs, and pods."""
    found = ClusterCache(InstantClock())
    for number in range(2):
        one = node(f"n-{number}", "leaf", "spine", gpus=2)
        one["metadata"]["resourceVersion"] = "1"
        found.take(NODES, one)
    for body in pods:
        found.take(PODS, body)
    return found


def come(name: str, gang: str, owner: str = "") -> Body:
    """A pod that runs on the second node; of a gang by its annotation, or made by `owner`."""
    made = pod(name, gpus=1, namespace="ml", uid=name, resourceVersion="2")
    if owner:
        reference = {"apiVersion": "example.org/v1", "kind": "Training", "name": "t"}
        made["metadata"]["ownerReferences"] = [{**reference, "uid": owner, "controller": True}]
    else:
        made["metadata"]["annotations"] = {GANG: gang, GANG_SIZE: "1"}
    made["spec"]["nodeName"] = "n-1"
    made["status"] = {"phase": "Running"}
    return made


@pytest.mark.parametrize("owner", ["", "training"])
def test_who_has_come_counts_once(owner: str) -> None:
    """`a` stands on one of two GPUs, its relocation not deleted yet: `b` keeps its place."""
    seen = cluster(come("a-1", "a", owner))
    both = (moving("a", owner), moving("b"))
    view = ClusterView(seen, seen.reading(), both, frozenset(), 0.0)
    assert progress(both[1], view) == REST


def test_who_has_not_come_counts_too() -> None:
    """Another pod stands there: for the seats of `a` and `b` one GPU is left, which is too few."""
    seen = cluster(come("x-0", "x"))
    both = (moving("a"), moving("b"))
    view = ClusterView(seen, seen.reading(), both, frozenset(), 0.0)
    assert progress(both[1], view).why == "others have taken its places"
