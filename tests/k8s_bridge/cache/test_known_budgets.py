"""Disruption budgets are read once, however often plans ask for them."""

from __future__ import annotations

import weakref
from typing import Any

import pytest

from fourleaf.k8s_bridge.cache import known_budgets
from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import DISRUPTION_BUDGETS, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import pod
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.informers import Absent, Change, Put, Removed, Replaced
from tests.twins.virtual_clock import VirtualClock

RUNS = ("ml", "runs")


class Spec(dict[str, Any]):
    """A spec of which one can tell that nothing holds it any more."""

    __slots__ = ("__weakref__",)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the budgets that are read."""
    names: list[str] = []
    read_budget = known_budgets.read_budget

    def counted(manifest: Any) -> Any:
        names.append(manifest.name)
        return read_budget(manifest)

    monkeypatch.setattr(known_budgets, "read_budget", counted)
    return names


def named(name: str, version: int, spec: Body, namespace: str = "ml", **status: Any) -> Body:
    """Make an object as the API server has it."""
    metadata = {"name": name, "namespace": namespace, "uid": f"{name}-1"}
    metadata["resourceVersion"] = str(version)
    return {"metadata": metadata, "spec": spec, "status": status}


def budget(name: str, version: int = 1, allowed: int = 0, namespace: str = "ml") -> Body:
    """Make a budget over all pods of its namespace."""
    return named(name, version, Spec(selector={}), namespace, disruptionsAllowed=allowed)


@pytest.fixture
def cache() -> ClusterCache:
    """A cache that knows a pod that runs, and a budget in each of two namespaces."""
    made = ClusterCache(VirtualClock())
    runs = named("runs", 1, pod("runs", 1)["spec"] | {"nodeName": "n-0"}, phase="Running")
    made.on_change(PODS, Put(runs))
    for one in (budget("b"), budget("far", namespace="web")):
        made.on_change(DISRUPTION_BUDGETS, Put(one))
    return made


def allowed(cache: ClusterCache) -> list[int]:
    """How many pods each budget lets go of which the pod is one."""
    return [one.most for one in cache.eviction_limits([RUNS])]


def test_a_budget_is_read_once_until_it_says_something_else(
    cache: ClusterCache, read: list[str]
) -> None:
    """Ten plans read it once, and once more when its status has changed; others never."""
    assert [allowed(cache) for _ in range(10)] == [[0]] * 10
    cache.on_change(DISRUPTION_BUDGETS, Put(budget("b", 2, 3)))
    assert [allowed(cache) for _ in range(10)] == [[3]] * 10
    assert read == ["b", "b"]


@pytest.mark.parametrize(
    "change",
    [
        Removed(budget("b")),
        Put(budget("b", 2)),
        Replaced([], "9", DISRUPTION_BUDGETS),
        Absent(),
    ],
    ids=["removed", "changed", "not on a list", "no such kind"],
)
def test_nothing_is_kept_of_a_budget_that_is_gone(cache: ClusterCache, change: Change) -> None:
    """Its spec is held no longer, though no plan has asked for budgets since."""
    gone = weakref.ref(cache.objects[DISRUPTION_BUDGETS]["ml", "b"]["spec"])
    allowed(cache)
    assert gone() is not None
    cache.on_change(DISRUPTION_BUDGETS, change)
    assert gone() is None
