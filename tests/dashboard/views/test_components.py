"""Pods of Fourleaf itself on the first page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fourleaf.dashboard.sources.live_cluster import LiveSource
from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.dashboard.views.components import component_lines
from fourleaf.k8s_bridge.cluster.kinds import NAMESPACES, PODS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.model.fabric import Leaf
from tests.dashboard.made import moment, node
from tests.twins.virtual_clock import VirtualClock

LONG_AGO, JUST_NOW = "1970-01-01T00:05:00Z", "1970-01-01T00:16:00Z"
LEAVES = [Leaf("l0", "s0", (node("a"), node("b"), node("c", ready=False)))]


def pod(component: str, ready: bool, where: str = "x", since: str = LONG_AGO) -> dict[str, Any]:
    """A pod as the chart makes it; its condition is `since` so."""
    labels = {"app.kubernetes.io/part-of": "fourleaf", "app.kubernetes.io/component": component}
    condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": since}
    return {
        "metadata": {"labels": labels, "creationTimestamp": LONG_AGO},
        "spec": {"nodeName": where},
        "status": {"phase": "Running", "conditions": [condition]},
    }


def look(*pods: dict[str, Any], namespace: str = "fourleaf-system") -> ClusterMoment:
    """A cluster at 1000 s with these pods in one namespace."""
    named = {(namespace, f"p{n}"): body for n, body in enumerate(pods)}
    return replace(moment(LEAVES), pods=named, system="fourleaf-system")


def test_a_webhook_without_a_ready_pod_is_grave() -> None:
    """It says what follows; with one of two it is a note; ready ones are not told of."""
    down, up = pod("webhook", ready=False), pod("webhook", ready=True)
    (line,) = component_lines(look(down, down))
    said = "none is ready, so namespaces that enforce it can create no pods for Fourleaf"
    assert (line.text, line.grave) == (f"Pods of the webhook: {said}", True)
    assert "-n fourleaf-system -l app.kubernetes.io/component=webhook" in line.advice
    (line,) = component_lines(look(down, up))
    assert (line.text, line.grave) == ("Pods of the webhook: 1 of 2 are not ready", False)
    assert list(component_lines(look(up, up))) == []


def test_agents_are_told_by_node() -> None:
    """That of a node that is lost is not told again."""
    pods = (pod("agent", True, "a"), pod("agent", False, "b"), pod("agent", False, "c"))
    (line,) = component_lines(look(*pods))
    assert (line.text, line.nodes, line.grave) == (
        "Pods of the agent: 1 of 2 are not ready",
        ("b",),
        True,
    )


def test_what_is_no_pod_of_ours_or_starts_is_left_out() -> None:
    """A pod that is replaced, one that has ended, and one of a tenant that has our labels."""
    ended = pod("webhook", ready=False)
    ended["status"]["phase"] = "Failed"
    leaving = pod("webhook", ready=False)
    leaving["metadata"]["deletionTimestamp"] = LONG_AGO
    assert list(component_lines(look(pod("webhook", False, since=JUST_NOW), ended, leaving))) == []
    assert list(component_lines(look(pod("webhook", False), namespace="tenant"))) == []


async def test_a_live_cluster_says_where_the_scheduler_is() -> None:
    """Its namespace and its pods reach the page as the API sends them."""
    clock = VirtualClock()
    cluster = MemoryCluster(clock=clock)
    made = pod("webhook", ready=False)
    made["metadata"] |= {"name": "w", "namespace": "fourleaf-system"}
    made["spec"]["containers"] = [{"name": "c", "image": "i"}]
    await cluster.create(NAMESPACES, "", {"metadata": {"name": "fourleaf-system"}})
    await cluster.create(PODS, "fourleaf-system", made)
    async with LiveSource("x", cluster, clock, "fourleaf-system") as source:
        await clock.run(source.synced(), within=60)
        await clock.advance(600)
        (line,) = component_lines(source.moment())
        assert line.text.startswith("Pods of the webhook: none is ready")
