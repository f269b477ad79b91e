"""Connections to a live cluster, and how verbs end when there is none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fourleaf.cli.bad_input import bad_input

if TYPE_CHECKING:
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.kinds import Kind
    from fourleaf.k8s_bridge.cluster.live import LiveCluster
    from fourleaf.model.problems import Problem

IN_CLUSTER = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
ELSEWHERE = "Name one that works with --kubeconfig, and its context with --context."
DEFAULT_NAMESPACE = "kube-system"
FEW_CONNECTIONS = 8
"""Of a verb that asks once: more would cost more handshakes than they save."""


@asynccontextmanager
async def connected(
    kubeconfig: str | None, context: str | None, connections: int | None = None
) -> AsyncIterator[LiveCluster]:
    """A client of the cluster, with so many connections at once, or the client's own limit.

    Raises `BadInput` where there are no usable credentials.
    """
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.live import CONNECTIONS, connect

    try:
        cluster = await connect(kubeconfig, context, connections or CONNECTIONS)
    except ClusterError as error:
        raise bad_input(named(kubeconfig), str(error), ELSEWHERE) from error
    try:
        yield cluster
    finally:
        await cluster.close()


def named(kubeconfig: str | None) -> str:
    """What messages call the cluster."""
    return kubeconfig or "the usual kubeconfig"


def own_namespace() -> str:
    """The namespace that the pod runs in; kube-system outside of a cluster."""
    try:
        return IN_CLUSTER.read_text().strip() or DEFAULT_NAMESPACE
    except OSError:
        return DEFAULT_NAMESPACE


def refused(error: ClusterError, where: str, verb: str, kind: Kind) -> Problem:
    """Why the cluster of `where` did not `verb` (list, get) objects of `kind`, and advice."""
    from fourleaf.model.problems import Problem, Severity

    if error.status == 401:
        message = "the cluster does not know these credentials"
        advice = f"Renew them. {ELSEWHERE}"
    elif error.status == 403:
        group = kind.group or "core"
        message = f"may not {verb} them: {error}"
        advice = f"Ask for the right to {verb} {kind.plural} of the {group} group."
    elif error.status:
        message, advice = str(error), "Try again; where it stays like that, ask who runs it."
    else:
        message = f"the cluster does not answer: {error}"
        advice = f"Check its address and the network. {ELSEWHERE}"
        return Problem(Severity.ERROR, where, "", "", "", message, advice)
    return Problem(Severity.ERROR, where, kind.name, "", "", message, advice)
