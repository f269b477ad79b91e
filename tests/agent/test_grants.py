"""What the pods of a node were granted."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.agent.grants import CONFIG_HASH, Grants, pod_on_node
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.informers import Absent, Put, Removed, Replaced
from tests.agent.made import pod


def body(name: str, granted: str = "", **more: Any) -> dict[str, Any]:
    """A pod that the cluster has taken; its UID is `u-` and its name."""
    made = pod(name, granted, **more)
    made["metadata"] |= {"namespace": "ml", "uid": f"u-{name}"}
    return made


@pytest.mark.parametrize(
    ("text", "devices"),
    [
        ("0", {0}),
        ("0,3,1", {0, 1, 3}),
        ("", set()),
        ("all", set()),
        ("0,", set()),
        ("-1", set()),
        ("0;1", set()),
        ("٣", set()),
        ("0," * 100_000, set()),
        ("99999", set()),
    ],
    ids=lambda value: str(value)[:10],
)
def test_annotations(text: str, devices: set[int]) -> None:
    """Numbers with commas; anything else grants nothing."""
    assert pod_on_node(body("a", text)).devices == devices


@pytest.mark.parametrize(
    ("more", "picked"),
    [
        ({}, False),
        ({"limits": {"cpu": "1"}}, False),
        ({"limits": {"nvidia.com/gpu": "1"}}, True),
        ({"limits": {"amd.com/gpu": "1"}}, True),
        ({"limits": {"nvidia.com/mig-1g.10gb": "1"}}, True),
        ({"resourceClaims": [{"name": "gpu"}]}, True),
        ({"granted": "0", "limits": {"nvidia.com/gpu": "1"}}, False),
    ],
    ids=str,
)
def test_who_picks(more: dict[str, Any], picked: bool) -> None:
    """A device plugin or a driver picks for those who ask it and have no grant."""
    assert pod_on_node(body("a", **more)).picked is picked


def test_what_a_reflection_tells() -> None:
    """Pods come, change, end and go; a list replaces all that was known."""
    grants = Grants()
    grants.change(PODS, Replaced([body("a", "0"), body("b", "1")], "1", PODS))
    assert [str(one) for one in grants.holders(0)] == ["ml/a"]
    ended = body("a", "0") | {"status": {"phase": "Succeeded"}}
    grants.change(PODS, Put(ended))
    assert grants.holders(0) == []
    assert grants.pod("u-a") is None
    grants.change(PODS, Put(body("c", "0")))
    grants.change(PODS, Removed(body("b", "1")))
    assert grants.pod("u-b") is None
    grants.change(PODS, Replaced([body("d")], "9", PODS))
    assert grants.pod("u-c") is None
    assert grants.pod("u-d") is not None
    grants.change(PODS, Absent())
    assert grants.pod("u-d") is None


def test_static_pods_have_two_names() -> None:
    """The kubelet calls a static pod by its hash; the pod counts once as a holder."""
    static = body("static", "0")
    static["metadata"]["annotations"][CONFIG_HASH] = "abc123"
    grants = Grants()
    grants.change(PODS, Put(static))
    assert grants.pod("abc123") == grants.pod("u-static")
    assert len(grants.holders(0)) == 1
    grants.change(PODS, Removed(static))
    assert grants.pod("abc123") is None
