"""Pods that are not what a plan took them for: another of that name, or bound elsewhere."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import node, pod
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.from_plan import moved
from fourleaf.k8s_bridge.relocation.next_action import progress
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation, Seat
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Move
from fourleaf.model.resources import Resources
from tests.k8s_bridge.ledger.harness import InstantClock

GANG = GangKey("ml", "g-0")


def body(uid: str, version: int, on: str = "") -> Body:
    """A version of the pod `g-0`."""
    made = pod("g-0", gpus=1, namespace="ml", uid=uid, resourceVersion=str(version))
    made["metadata"]["annotations"] = {"topology.scheduler/movable": "true"}
    made["spec"]["nodeName"] = on
    made["status"] = {"phase": "Running" if on else "Pending"}
    return made


def cache() -> ClusterCache:
    """A leaf of three nodes with a device each."""
    found = ClusterCache(InstantClock())
    for number in range(3):
        one = node(f"n-{number}", "leaf", "spine", gpus=1)
        one["metadata"]["resourceVersion"] = "1"
        found.take(NODES, one)
    return found


def drafts(seen: ClusterCache, view: ClusterView) -> list[Relocation]:
    """The relocations that move `g-0` from the first node to the second."""
    standing = seen.standing(frozenset(), everyone=True)
    moves = [Move("ml", "g-0", "n-0", "n-1", "")]
    return list(moved(moves, standing, Purpose.DEFRAGMENTATION, "", view, 60.0))


def test_another_of_that_name_is_not_told_to_go() -> None:
    """While the move was planned, `g-0` was made anew and bound to the third node: it stays."""
    seen = cache()
    seen.take(PODS, body("one", 2, "n-0"))
    view = ClusterView(seen, seen.reading(), (), frozenset(), 0.0)
    (draft,) = drafts(seen, view)
    assert [leaver.pod.uid for leaver in draft.leavers] == ["one"]
    seen.take(PODS, body("two", 3, "n-2"))
    assert drafts(seen, view) == []


def test_a_place_is_not_kept_for_who_runs_elsewhere() -> None:
    """A reservation ends once its pod runs, wherever; as long as the pod waits, it stays."""
    seen = cache()
    seat = Seat(Target("ml", "g-0", "one"), (1, 0, 0), "", "n-1", Resources(1, None, None, 1, ()))
    one = Relocation(GANG, Purpose.RESERVATION, (seat,), (), until=1e9)
    seen.take(PODS, body("one", 2))
    # Others are there still, so that nothing is bound yet.
    there = pod("busy", gpus=1, namespace="ml", uid="busy", resourceVersion="2")
    there["spec"]["nodeName"] = "n-1"
    seen.take(PODS, there)
    assert not progress(one, ClusterView(seen, seen.reading(), (one,), frozenset(), 0.0)).over
    seen.take(PODS, body("one", 3, "n-2"))
    found = progress(one, ClusterView(seen, seen.reading(), (one,), frozenset(), 0.0))
    assert found.over
    assert found.why == "those who waited for it are gone, or run elsewhere"


def test_who_was_told_to_go_stands_nowhere() -> None:
    """Its node is back, and the watch does not say yet that the API has let it go: seats stay."""
    seen = cache()
    seen.take(PODS, body("one", 2, "n-0"))
    pod_of = Target("ml", "g-0", "one")
    seat = Seat(pod_of, (1, 0, 0), "n-0", "n-1", Resources(1, None, None, 1, ()))
    leaver = Leaver(pod_of, "n-0", lost=True)
    one = Relocation(GANG, Purpose.REPAIR, (seat,), (leaver,), until=1e9)
    late = ClusterView(seen, seen.reading(), (one,), frozenset(), 0.0)
    assert progress(one, late).why == "node n-0 has come back"
    told = replace(late, told=frozenset({"one"}))
    assert not progress(one, told).over


def test_who_starts_over_does_so_as_a_whole() -> None:
    """Of two that start over one has gone when their node is back: the other goes as well.

    Before any has been told, the gang stays as it is.
    """
    seen = cache()
    seen.take(PODS, body("one", 2, "n-0"))
    leavers = (
        Leaver(Target("ml", "g-0", "one"), "n-0", lost=True),
        Leaver(Target("ml", "g-1", "two"), "n-0", lost=True),
    )
    one = Relocation(GANG, Purpose.RESTART, (), leavers, until=1e9)
    now = ClusterView(seen, seen.reading(), (one,), frozenset(), 0.0)
    assert progress(one, now).evict == leavers[:1]
    both = replace(one, leavers=leavers[:1])
    assert progress(both, replace(now, open=(both,))).why == "node n-0 has come back"
