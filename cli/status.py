"""`fourleaf status`: who leads, what is recorded, how full the cluster is, and who waits."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.console import EXIT_OK, EXIT_PENDING, show, write
from cli.options import (
    ConfigNamespace,
    Context,
    Kubeconfig,
    Namespace,
    OutputFormat,
    Server,
)

if TYPE_CHECKING:
    from cli.live import Live, Reach
    from k8s_bridge.cluster.protocol import Cluster
    from k8s_bridge.election.lease import LeaderLease

Document = dict[str, Any]


def status(
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    config_namespace: ConfigNamespace = "kube-system",
    namespace: Namespace = None,
    server: Server = None,
    output: Annotated[
        OutputFormat, typer.Option("-o", "--output", help="How to print the status.")
    ] = OutputFormat.TABLE,
) -> None:
    """Show how scheduler and cluster are.

    Exit code: 0 fine, 2 it cannot be read, 3 no scheduler leads.
    """
    if server:
        from cli.server import fetch_status

        document = fetch_status(server)
        leads = bool(document["holder"])
    else:
        from cli.clusters import own_namespace
        from cli.live import Reach

        reach = Reach(kubeconfig, context, config_namespace)
        document = asyncio.run(_observed(reach, namespace or own_namespace()))
        leads = document["leader"]["valid"]
    if output in (OutputFormat.TABLE, OutputFormat.WIDE):
        from cli.render.status import cluster_lines, server_lines

        show((server_lines if server else cluster_lines)(document, time.time()))
    else:
        from cli.text import json_text, yaml_text

        write(json_text(document) if output is OutputFormat.JSON else yaml_text(document))
    raise typer.Exit(EXIT_OK if leads else EXIT_PENDING)


async def _observed(reach: Reach, namespace: str) -> Document:
    from cli.clusters import connected
    from cli.live import read_live

    async with connected(reach.kubeconfig, reach.context) as cluster:
        live = await read_live(cluster, reach, namespace)
        leader = await leader_of(cluster, reach, namespace)
    return document_of(live, leader)


async def leader_of(cluster: Cluster, reach: Reach, namespace: str) -> Document:
    """Who holds the leader's Lease in `namespace`. Raises `BadInput` where it cannot be read."""
    from cli.clusters import refused
    from k8s_bridge.cluster.errors import ClusterError
    from k8s_bridge.cluster.kinds import LEASES
    from model.problems import BadInput

    try:
        lease = await _lease(cluster, namespace)
        valid = lease is not None and await _is_valid(cluster, namespace, lease)
    except ClusterError as error:
        raise BadInput([refused(error, reach.name, "get", LEASES)]) from error
    return {
        "holder": lease.holder if lease else "",
        "epoch": lease.transitions if lease else 0,
        "renewed": lease.renewed if lease else "",
        "seconds": lease.seconds if lease else 0.0,
        "valid": valid,
    }


async def _lease(cluster: Cluster, namespace: str) -> LeaderLease | None:
    from k8s_bridge.cluster.errors import NotFound
    from k8s_bridge.cluster.kinds import LEASES
    from k8s_bridge.cluster.protocol import Target
    from k8s_bridge.election.lease import read_lease
    from k8s_bridge.ledger.names import LEADER

    try:
        return read_lease(await cluster.get(LEASES, Target(namespace, LEADER)))
    except NotFound:
        return None


async def _is_valid(cluster: Cluster, namespace: str, lease: LeaderLease) -> bool:
    """Whether somebody holds the Lease.

    Where its times say no, the clocks of two machines may differ: then it is watched for as
    long as it holds, as candidates do, and is valid if it is renewed.
    """
    if not lease.holder:
        return False
    if 0 <= time.time() - _moment(lease.renewed) <= lease.seconds:
        return True
    until = time.monotonic() + lease.seconds
    while time.monotonic() < until:
        await asyncio.sleep(0.5)
        now = await _lease(cluster, namespace)
        if now is None or not now.holder:
            return False
        if now.version != lease.version:
            return True
    return False


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0


def document_of(live: Live, leader: Document) -> Document:
    """What `live` shows, as a document."""
    from cli.queue import waiting
    from model.config import API_VERSION

    reading = live.reading()
    snapshot = reading.snapshot
    nodes = snapshot.fabric.nodes.values()
    reasons = Counter(one["reason"] or "Unknown" for one in waiting(reading))
    return {
        "apiVersion": API_VERSION,
        "kind": "ClusterStatus",
        "leader": leader,
        "records": _records(live),
        "nodes": {
            "total": len(nodes),
            "schedulable": sum(node.schedulable for node in nodes),
            "leaves": len(snapshot.fabric.leaves),
            "spines": len(snapshot.fabric.spines),
        },
        "gpus": {
            "total": sum(node.allocatable.gpus for node in nodes),
            "used": sum(held.gpus for held in snapshot.used.values()),
            "free": sum(
                max(0, snapshot.free[node.name].gpus) for node in nodes if node.schedulable
            ),
        },
        "gangs": {
            "running": len({pod.gang for pod in snapshot.running if pod.ours and pod.gang}),
            "waiting": reasons.total(),
            "reasons": dict(sorted(reasons.items())),
        },
    }


def _records(live: Live) -> Document:
    from k8s_bridge.ledger.codec import read_gang, read_page
    from k8s_bridge.ledger.names import FORMAT, GANG, PAGE, RECORD
    from k8s_bridge.ledger.unreadable import BadRecord
    from k8s_bridge.relocation.codec import read_relocation

    sorts: Counter[str] = Counter()
    entries, unreadable = 0, 0
    phases: Counter[str] = Counter()
    formats: Counter[str] = Counter()
    for body in live.leases:
        metadata = body["metadata"]
        formats[(metadata.get("annotations") or {}).get(FORMAT, "1")] += 1
        try:
            if (sort := metadata["labels"][RECORD]) == PAGE:
                entries += len(read_page(body).entries)
            elif sort == GANG:
                phases[read_gang(body).phase.value] += 1
            else:
                read_relocation(body)
            sorts[sort] += 1
        except BadRecord:
            unreadable += 1
    return {
        "pages": sorts[PAGE],
        "entries": entries,
        "gangLeases": phases.total(),
        "gangLeasePhases": dict(sorted(phases.items())),
        "unreadable": unreadable,
        "formats": dict(sorted(formats.items())),
    }
