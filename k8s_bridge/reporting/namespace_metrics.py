"""Metrics by namespace, of a bounded number of namespaces: the others are one.

A label of every namespace would be a series of each for every team that ever was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from prometheus_client import CollectorRegistry, Gauge, Histogram

from fourleaf.k8s_bridge.reporting.namespace_use import NamespaceUse

MOST_NAMESPACES = 100
"""Namespaces that have series of their own at a time."""

LABEL = "gang_namespace"
"""Not `namespace`: Prometheus gives that label to each target, and renames ours."""

OTHERS = "(others)"
"""The label of the others; no namespace can have this name."""


class NamespaceMetrics:
    """The numbers of namespaces: of those that came first, and at once those with a quota.

    A namespace keeps its series while there is something to tell of it, and until another needs
    the room.
    """

    def __init__(self, registry: CollectorRegistry, buckets: Sequence[float]) -> None:
        self._named: dict[str, NamespaceUse] = {}
        self._gauges = {
            name: Gauge(f"fourleaf_namespace_{name}", text, [LABEL], registry=registry)
            for name, text in {
                "used_gpus": "GPUs that the pods of a namespace hold, as its quota counts them.",
                "pending_gpus": "GPUs that the gangs of a namespace wait for.",
                "pending_gangs": "Gangs of a namespace that wait.",
                "longest_wait_seconds": "Seconds that the gang of a namespace that waits longest "
                "has waited, gangs that are held back apart; 0 where none waits.",
                "quota_gpus": "GPUs that a namespace may hold at a time, where that is limited.",
            }.items()
        }
        self._wait = Histogram(
            "fourleaf_namespace_wait_seconds",
            "Seconds that a gang waited, by namespace, from when it could first be planned until "
            "it was bound.",
            [LABEL],
            buckets=tuple(buckets),
            registry=registry,
        )

    def used(self, uses: Mapping[str, NamespaceUse]) -> None:
        """The leader sees this now; nothing in replicas that do not lead."""
        self._named = {name: uses.get(name, NamespaceUse()) for name in self._named}
        for name in sorted(uses, key=lambda name: uses[name].quota is None):
            if not uses[name].is_idle:
                self._name(name, uses[name])
        shown = dict(self._named)
        for name, use in uses.items():
            if name not in shown and not use.is_idle:
                shown[OTHERS] = use.with_other(shown.get(OTHERS, NamespaceUse()))
        for gauge in self._gauges.values():
            gauge.clear()
        for name, use in shown.items():
            self._show(name, use)

    def bound(self, namespace: str, seconds: float) -> None:
        """A gang of `namespace` was bound, `seconds` after it could first be planned."""
        named = self._name(namespace, self._named.get(namespace, NamespaceUse()))
        self._wait.labels(namespace if named else OTHERS).observe(seconds)

    def _name(self, namespace: str, use: NamespaceUse) -> bool:
        """Give `namespace` series of its own; whether there is room for them."""
        if namespace not in self._named and len(self._named) >= MOST_NAMESPACES:
            idle = next((name for name, one in self._named.items() if one.is_idle), None)
            if idle is None:
                return False
            del self._named[idle]
            with suppress(KeyError):
                self._wait.remove(idle)
        self._named[namespace] = use
        return True

    def _show(self, name: str, use: NamespaceUse) -> None:
        self._gauges["used_gpus"].labels(name).set(use.used_gpus)
        self._gauges["pending_gpus"].labels(name).set(use.pending_gpus)
        self._gauges["pending_gangs"].labels(name).set(use.pending_gangs)
        self._gauges["longest_wait_seconds"].labels(name).set(use.longest_wait)
        if use.quota is not None:
            self._gauges["quota_gpus"].labels(name).set(use.quota)
