"""Pods by their controllers."""

from __future__ import annotations

from fourleaf.k8s_bridge.cache.pods_by_controller import PodsByController


def test_a_pod_counts_with_its_controller_of_now() -> None:
    """One that is adopted moves, one that is let go or gone is with none, and nothing is kept."""
    pods = PodsByController()
    for pod in ("a", "b", "c"):
        pods.add(pod, "old")
    pods.add("a", "new")
    pods.add("b", "")
    pods.discard("c")
    pods.discard("c")
    assert [sorted(pods.of(one)) for one in ("old", "new", "")] == [[], ["a"], []]
    pods.discard("a")
    assert (pods._controller, dict(pods._pods)) == ({}, {})
