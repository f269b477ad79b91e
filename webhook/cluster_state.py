"""What the webhook learns from the cluster while it runs: the config, and the claims."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

import structlog

from fourleaf.k8s_bridge.cache.config_watcher import START, ConfigState, config_map_of, folded
from fourleaf.k8s_bridge.cluster.kinds import GPU_CLAIMS
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
from fourleaf.k8s_bridge.informers import (
    Absent,
    Put,
    Removed,
    Replaced,
    Selection,
    config_selection,
    reflect,
)
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.webhook.metrics import WebhookMetrics
from fourleaf.webhook.state import State

CONFIG = "config"
"""What lacks until the first answer about the config."""

_log = structlog.get_logger(__name__)


async def follow_config(
    cluster: Cluster,
    clock: Clock,
    namespace: str,
    state: State,
    metrics: WebhookMetrics,
    names: Sequence[str] = (),
) -> None:
    """Keep the config of `state` in force as the ConfigMap changes; `names` win over its own."""
    config = START
    async with aclosing(reflect(cluster, config_selection(namespace), clock)) as changes:
        async for change in changes:
            config = folded(config, config_map_of(change))
            _take(config, state, metrics, names)


def _take(config: ConfigState, state: State, metrics: WebhookMetrics, names: Sequence[str]) -> None:
    spec = config.config.spec
    if names:
        spec = spec.model_copy(update={"scheduler_names": tuple(names)})
    state.settings = replace(state.settings, spec=spec)
    state.lacking.discard(CONFIG)
    metrics.config(config.valid)
    if config.problem is not None:
        _log.warning("config_refused", why=str(config.problem))


async def follow_claims(cluster: Cluster, clock: Clock, state: State) -> None:
    """Keep every claim in the settings of `state`."""
    known: dict[tuple[str, str], Body] = {}
    state.settings = replace(state.settings, claims=known)
    async with aclosing(reflect(cluster, Selection(GPU_CLAIMS), clock)) as changes:
        async for change in changes:
            match change:
                case Replaced():
                    known.clear()
                    known.update({_key(body): body for body in change.items})
                case Put():
                    known[_key(change.body)] = change.body
                case Removed():
                    known.pop(_key(change.body), None)
                case Absent():
                    known.clear()


def _key(body: Body) -> tuple[str, str]:
    metadata = body["metadata"]
    return metadata.get("namespace", ""), metadata["name"]
