"""The page about metrics: those of the scheduler, the agent and the webhook."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry

from docs.reference.markdown import code, table
from fourleaf.agent.metrics import AgentMetrics
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.webhook.metrics import WebhookMetrics

FILE = "metrics.md"


def registries() -> dict[str, CollectorRegistry]:
    """Program -> the registry that it serves."""
    clock = SystemClock()
    return {
        "scheduler": SchedulerMetrics().registry,
        "agent": AgentMetrics(clock).registry,
        "webhook": WebhookMetrics().registry,
    }


def page() -> str:
    """The page."""
    parts = ["# Metrics\n"]
    for program, registry in registries().items():
        parts.append(f"## Of the {program}\n")
        parts.append(table(("name", "type", "labels", "meaning"), rows(registry)))
    return "\n".join(parts)


def rows(registry: CollectorRegistry) -> Iterator[tuple[str, str, str, str]]:
    """Name, type, labels and help of each metric."""
    labels = {
        name: collector._labelnames
        for name, collector in registry._names_to_collectors.items()
        if hasattr(collector, "_labelnames")
    }
    for one in sorted(registry.collect(), key=lambda metric: metric.name):
        name = f"{one.name}_total" if one.type == "counter" else one.name
        own = labels.get(one.name, ())
        yield code(name), one.type, ", ".join(map(code, own)), one.documentation
