"""What runs, compared with what was granted."""

from __future__ import annotations

from typing import Any

from fourleaf.agent.grant_check import mismatches
from fourleaf.agent.grants import Grants
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.informers import Replaced
from fourleaf.model.crds.node_status import Process
from tests.agent.made import process
from tests.agent.test_grants import body


def told(pods: list[dict[str, Any]], *running: Process) -> list[str]:
    """The mismatches of a node with `pods`."""
    grants = Grants()
    grants.change(PODS, Replaced(pods, "1", PODS))
    return [str(one) for one in mismatches(running, grants)[0]]


A, B = body("a", "0"), body("b", "1")


def test_each_on_its_own() -> None:
    """Pods on what they were granted, and processes of no pod, match."""
    assert told([A, B], process(0, "u-a"), process(1, "u-b"), process(1), process(0)) == []


def test_on_the_device_of_another() -> None:
    """Pod a runs on what b was granted; two processes of it are one mismatch."""
    found = told([A, B], process(1, "u-a", 5), process(1, "u-a", 6), process(1, "u-b"))
    assert found == ["device 1: pod ml/a runs on it, and it is granted to pod ml/b"]


def test_on_a_device_that_was_not_granted() -> None:
    """Pod a runs on a device that nobody was granted."""
    assert told([A], process(3, "u-a")) == [
        "device 3: pod ml/a runs on it, and it is granted to no pod"
    ]


def test_a_pod_that_was_granted_nothing() -> None:
    """It may run on nothing, unless a device plugin picks for it: then on what is free."""
    plain, picked = body("plain"), body("picked", limits={"nvidia.com/gpu": "1"})
    assert told([plain], process(0, "u-plain")) == [
        "device 0: pod ml/plain runs on it, and it is granted to no pod"
    ]
    assert told([picked], process(0, "u-picked")) == []
    assert told([picked, A], process(0, "u-picked")) == [
        "device 0: pod ml/picked runs on it, and it is granted to pod ml/a"
    ]


def test_two_pods_with_one_grant() -> None:
    """Whoever else runs there, each has its grant; a third has not."""
    twin = body("twin", "0")
    assert told([A, twin], process(0, "u-a"), process(0, "u-twin")) == []
    assert told([A, twin, B], process(0, "u-b")) == [
        "device 0: pod ml/b runs on it, and it is granted to pod ml/a and ml/twin"
    ]


def test_a_pod_that_ended_holds_nothing() -> None:
    """What still runs of it is as of a pod that is gone."""
    grants = Grants()
    ended = A | {"status": {"phase": "Failed"}}
    grants.change(PODS, Replaced([ended], "1", PODS))
    found, unknown = mismatches([process(0, "u-a")], grants)
    assert found == []
    found, _ = mismatches([process(0, "u-a")], grants, unknown)
    assert [str(one) for one in found] == [
        "device 0: a pod that is gone (UID u-a) runs on it, and it is granted to no pod"
    ]


def test_an_unknown_pod_counts_when_it_is_seen_twice() -> None:
    """Its end may be news that is on its way; on another device it is unknown anew."""
    grants = Grants()
    grants.change(PODS, Replaced([B], "1", PODS))
    first, unknown = mismatches([process(1, "u-x")], grants)
    assert (first, unknown) == ([], frozenset({(1, "u-x")}))
    second, unknown = mismatches([process(1, "u-x"), process(0, "u-x")], grants, unknown)
    assert [(one.gpu, one.granted_to) for one in second] == [(1, ("ml/b",))]
    third, unknown = mismatches([], grants, unknown)
    assert (third, unknown) == ([], frozenset())
