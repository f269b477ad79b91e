"""Disruption budgets: whether pods may all be evicted, as the disruption controller counts it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import DISRUPTION_BUDGETS, PODS
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.label_selector import LabelSelector, read_selector


@dataclass(frozen=True, slots=True)
class DisruptionBudget:
    """`allowed` pods that `selector` picks in the namespace may go at once."""

    name: str
    selector: LabelSelector
    allowed: int


class DisruptionBudgets:
    """The budgets of all namespaces at one moment."""

    def __init__(self, cache: ClusterCache) -> None:
        self._pods = cache.objects.get(PODS, {})
        self._of: dict[str, list[DisruptionBudget]] = {}
        for (namespace, name), body in cache.objects.get(DISRUPTION_BUDGETS, {}).items():
            self._of.setdefault(namespace, []).append(_budget(namespace, name, body))

    def forbids(self, namespace: str, pods: Iterable[str]) -> str:
        """Why these pods may not all be evicted, "" where they may.

        The API server evicts no pod that two budgets pick.
        """
        budgets = self._of.get(namespace, ())
        asked: Counter[str] = Counter()
        for pod in pods if budgets else ():
            labels = self._pods.get((namespace, pod), {}).get("metadata", {}).get("labels") or {}
            over = [one for one in budgets if one.selector.picks(labels)]
            if len(over) > 1:
                return f"two disruption budgets of namespace {namespace} pick pod {pod}"
            asked.update(one.name for one in over)
        for one in budgets:
            if asked[one.name] > one.allowed:
                return (
                    f"disruption budget {namespace}/{one.name} lets {one.allowed} pods go, "
                    f"not {asked[one.name]}"
                )
        return ""


def _budget(namespace: str, name: str, body: Body) -> DisruptionBudget:
    """A budget whose status is not there yet, or older than its spec, lets no pod go."""
    manifest = Manifest(Report(), "", "policy", "PodDisruptionBudget", namespace, name, body)
    selector = read_selector(manifest, (body.get("spec") or {}).get("selector"), "spec.selector")
    status = body.get("status") or {}
    seen, now = status.get("observedGeneration", 0), body["metadata"].get("generation", 0)
    allowed = status.get("disruptionsAllowed", 0) if seen >= now else 0
    return DisruptionBudget(name, selector, int(allowed))
