"""Connections to a live cluster, and how verbs end when there is none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from k8s_bridge.cluster.live import LiveCluster


@asynccontextmanager
async def connected(kubeconfig: str | None, context: str | None) -> AsyncIterator[LiveCluster]:
    """A client of the cluster. Raises `BadInput` where there are no usable credentials."""
    from k8s_bridge.cluster.errors import ClusterError
    from k8s_bridge.cluster.live import connect
    from model.problems import BadInput, Problem, Severity

    try:
        cluster = await connect(kubeconfig, context)
    except ClusterError as error:
        where = kubeconfig or "the usual kubeconfig"
        advice = "Name one that works with --kubeconfig, and its context with --context."
        raise BadInput([Problem(Severity.ERROR, where, "", "", "", str(error), advice)]) from error
    try:
        yield cluster
    finally:
        await cluster.close()
