"""Numbers by namespace, worked out by hand, and the bound on how many namespaces have some."""

from __future__ import annotations

from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from fourleaf.k8s_bridge.reporting import namespace_metrics
from fourleaf.k8s_bridge.reporting.namespace_metrics import OTHERS, NamespaceMetrics
from fourleaf.k8s_bridge.reporting.namespace_use import NamespaceUse, namespace_use
from fourleaf.model.gang import GangKey, Hold
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod
from tests import small

LONG_WAIT = "fourleaf_namespace_longest_wait_seconds"


def test_what_namespaces_have_and_wait_for() -> None:
    """Of 16 GPUs ml holds 4 + 3; it waits for 2 x 8, 1 and 1, the last held back for longest.

    cv holds 8 without a limit; idle has a quota alone.
    """
    quotas = {"ml": {"gpuQuota": 16}, "idle": {"gpuQuota": 0}}
    young = replace(small.gang("young", 2), created=small.NOW - 60)
    old = replace(small.gang("old", 1, gpus=1), created=small.NOW - 300)
    held = replace(
        old, key=GangKey("ml", "held"), created=0.0, hold=Hold("MembersMissing", "1 of 2")
    )
    running = [
        RunningPod(namespace, f"p{i}", "a0", Resources(gpus=gpus))
        for i, (namespace, gpus) in enumerate((("ml", 4), ("cv", 8), ("ml", 3), ("sys", 0)))
    ]
    gangs = (young, old, held)
    world = small.snapshot(small.fabric([[2]]), *gangs, running=running, namespaces=quotas)
    assert namespace_use(world, small.NOW) == {
        "ml": NamespaceUse(7, 18, 3, 300.0, 16),
        "cv": NamespaceUse(8),
        "idle": NamespaceUse(quota=0),
        "sys": NamespaceUse(),
    }


def test_namespaces_beyond_the_bound_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two places the quota takes one and a the other; b and c are summed, the longer wait wins.

    Once a is idle its place is c's, and its histogram goes.
    """
    monkeypatch.setattr(namespace_metrics, "MOST_NAMESPACES", 2)
    registry = CollectorRegistry()
    metrics = NamespaceMetrics(registry, (1.0, 10.0))

    def value(name: str, namespace: str) -> float | None:
        return registry.get_sample_value(name, {"gang_namespace": namespace})

    b, c = NamespaceUse(1, 8, 1, 50.0), NamespaceUse(2, 16, 2, 70.0)
    limited = NamespaceUse(quota=8)
    metrics.used({"a": NamespaceUse(4), "b": b, "c": c, "z": limited})
    metrics.bound("a", 5.0)
    metrics.bound("b", 7.0)
    assert value("fourleaf_namespace_used_gpus", "a") == 4
    assert value("fourleaf_namespace_quota_gpus", "z") == 8
    assert value("fourleaf_namespace_quota_gpus", "a") is None
    assert value("fourleaf_namespace_used_gpus", "b") is None
    assert value("fourleaf_namespace_used_gpus", OTHERS) == 3
    assert value("fourleaf_namespace_pending_gpus", OTHERS) == 24
    assert value("fourleaf_namespace_pending_gangs", OTHERS) == 3
    assert value(LONG_WAIT, OTHERS) == 70
    assert value("fourleaf_namespace_wait_seconds_sum", "a") == 5
    assert value("fourleaf_namespace_wait_seconds_sum", OTHERS) == 7
    metrics.used({"c": c, "z": limited})
    assert value(LONG_WAIT, "c") == 70
    assert value(LONG_WAIT, OTHERS) is None
    assert value("fourleaf_namespace_wait_seconds_sum", "a") is None
    metrics.used({})
    assert value(LONG_WAIT, "c") == 0
