"""Disruption budgets: whether a pod may be evicted now."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Throttled
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.memory.selectors import structured
from fourleaf.k8s_bridge.cluster.protocol import Body


def check_eviction(
    pod: StoredObject, budgets: Iterable[StoredObject], pods: Iterable[StoredObject]
) -> None:
    """Raise `Throttled` where one of `budgets` forbids that `pod` goes.

    `budgets` and `pods` are those of the pod's namespace. Two budgets over one pod are an
    error of the server's (500), as in the real one.
    """
    if _phase(pod) in ("Succeeded", "Failed", "Pending") or _deleting(pod):
        return
    over = [b for b in budgets if structured(_spec(b).get("selector"))(pod.labels)]
    if not over:
        return
    if len(over) > 1:
        message = "This pod has more than one PodDisruptionBudget, which is not supported."
        raise Ambiguous(message, 500, "InternalError")
    spec = _spec(over[0])
    healthy, desired = counts(over[0], pods)
    if not _healthy(pod) and (
        spec.get("unhealthyPodEvictionPolicy") == "AlwaysAllow" or healthy >= desired > 0
    ):
        return
    if healthy <= desired:
        message = "Cannot evict pod as it would violate the pod's disruption budget."
        raise Throttled(message, 429, "TooManyRequests")


def counts(budget: StoredObject, pods: Iterable[StoredObject]) -> tuple[int, int]:
    """How many pods of a budget are healthy, and how many have to be."""
    spec = _spec(budget)
    selects = structured(spec.get("selector"))
    counted = [p for p in pods if selects(p.labels) and _phase(p) not in ("Succeeded", "Failed")]
    return sum(map(_healthy, counted)), _desired(spec, len(counted))


def _desired(spec: Body, expected: int) -> int:
    if spec.get("minAvailable") is not None:
        return _scaled(spec["minAvailable"], expected)
    return max(0, expected - _scaled(spec.get("maxUnavailable", 1), expected))


def _scaled(value: Any, of: int) -> int:
    if isinstance(value, str):
        return ceil(int(value.removesuffix("%")) * of / 100)
    return int(value)


def _spec(record: StoredObject) -> Body:
    spec: Body = record.body.get("spec") or {}
    return spec


def _phase(pod: StoredObject) -> str:
    return str((pod.body.get("status") or {}).get("phase", ""))


def _deleting(pod: StoredObject) -> bool:
    return "deletionTimestamp" in pod.metadata


def _healthy(pod: StoredObject) -> bool:
    conditions = (pod.body.get("status") or {}).get("conditions") or ()
    ready = any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)
    return ready and not _deleting(pod)
