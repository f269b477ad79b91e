"""`fourleaf status`: who leads, what is recorded, how full the cluster is, and who waits."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fourleaf.cli.cluster.connection import refused
from fourleaf.cli.cluster.read_cluster import ClusterAccess, read_live
from fourleaf.cli.cluster.silent_nodes import most_away
from fourleaf.cli.options import (
    Answer,
    Context,
    Interval,
    Kubeconfig,
    OutputFormat,
    SchedulerNamespace,
    Server,
    Watch,
)
from fourleaf.cli.output.console import EXIT_OK, EXIT_PENDING
from fourleaf.cli.output.documents import Document, tell
from fourleaf.cli.output.watch import WatchedAnswer, present

if TYPE_CHECKING:
    from fourleaf.cli.cluster.read_cluster import Live
    from fourleaf.k8s_bridge.cluster.protocol import Cluster
    from fourleaf.model.gang import GangKey
    from fourleaf.model.readers import InputReading

CLUSTER_STATUS = "ClusterStatus"
GOES_ON = {"lastCycle", "cycles"}
"""What a scheduler says anew after every cycle, also where nothing comes of it."""


def status(
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    server: Server = None,
    output: Answer = OutputFormat.TABLE,
    watch: Watch = False,
    interval: Interval = 5.0,
) -> None:
    """Show how scheduler and cluster are.

    Exit code: 0 fine, 2 it cannot be read, 3 no scheduler leads.
    """
    from fourleaf.cli.cluster.scheduler_server import fetch_status

    reach = ClusterAccess(kubeconfig, context, scheduler_namespace)

    def look() -> Document:
        if server:
            return fetch_status(server)
        return reach.ask(lambda cluster: _observed(cluster, reach))

    view = WatchedAnswer(look, lambda document: _tell(document, output), _code, _matters)
    present(view, output, watch, interval)


def _tell(document: Document, output: OutputFormat) -> None:
    from fourleaf.cli.render.status import cluster_lines, server_lines

    lines = cluster_lines if document["kind"] == CLUSTER_STATUS else server_lines
    tell(lambda: document, lambda: lines(document, time.time()), output)


def _code(document: Document) -> int:
    leader = document["leader"]
    of_cluster = document["kind"] == CLUSTER_STATUS
    leads = leader["valid"] if of_cluster else bool(document["holder"])
    return EXIT_OK if leads else EXIT_PENDING


def _matters(document: Document) -> Document:
    """All but the moments that go on while nothing happens."""
    if document["kind"] != CLUSTER_STATUS:
        return {name: document[name] for name in document.keys() - GOES_ON}
    leader = {name: document["leader"][name] for name in ("holder", "epoch", "valid")}
    return {**document, "leader": leader}


async def _observed(cluster: Cluster, reach: ClusterAccess) -> Document:
    live = await read_live(cluster, reach, with_leases=True, cached=True)
    return document_of(live, await leader_of(cluster, reach, live.home, not live.leaderless))


async def leader_of(
    cluster: Cluster, reach: ClusterAccess, namespace: str, may_lead: bool = True
) -> Document:
    """Who holds the leader's Lease in `namespace`; none is valid unless one `may_lead`.

    Raises `BadInput` where it cannot be read.
    """
    from fourleaf.cli.cluster.leader import is_valid, leader_lease
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.kinds import LEASES
    from fourleaf.k8s_bridge.election.lease import read_lease
    from fourleaf.model.problems import BadInput

    try:
        body = await leader_lease(cluster, namespace)
        lease = read_lease(body) if body else None
        valid = lease is not None and may_lead and await is_valid(cluster, namespace, lease)
    except ClusterError as error:
        raise BadInput([refused(error, reach.name, "get", LEASES)]) from error
    return {
        "holder": lease.holder if lease else "",
        "epoch": lease.transitions if lease else 0,
        "renewed": lease.renewed if lease else "",
        "seconds": lease.seconds if lease else 0.0,
        "valid": valid,
    }


def document_of(live: Live, leader: Document) -> Document:
    """What `live` shows, as a document."""
    from fourleaf.cli.verbs.queue import waiting
    from fourleaf.k8s_bridge.reporting.status import config_document
    from fourleaf.model.config.spec import API_VERSION

    reading = live.reading()
    snapshot = reading.snapshot
    nodes = snapshot.fabric.nodes.values()
    refused = snapshot.fabric.refused
    known = {node.name for node in nodes} | refused
    every = (body["metadata"]["name"] for body in live.objects if body["kind"] == "Node")
    reasons = Counter(one["reason"] or "Unknown" for one in waiting(reading))
    return {
        "apiVersion": API_VERSION,
        "kind": CLUSTER_STATUS,
        "leader": leader,
        "records": _records(live),
        "config": config_document(live.config.source, live.config.problems),
        "nodes": {
            "total": len(nodes),
            "schedulable": sum(node.schedulable for node in nodes),
            "leaves": len(snapshot.fabric.switches),
            "spines": len({leaf.spine for leaf in snapshot.fabric.switches}),
            "unlabelled": len(snapshot.fabric.unlabelled),
            "refused": len(refused),
            "withoutGpus": sum(name not in known for name in every),
            "notReady": sum(not node.ready for node in nodes),
            "away": sum(not node.ready or node.name in live.silent for node in nodes),
            "silent": sorted(
                node.name for node in nodes if node.ready and node.name in live.silent
            ),
            "mostAway": most_away(snapshot.fabric, live.silent) is not None,
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
            "onLostNodes": sorted(str(gang) for gang in _on_lost_nodes(reading)),
            "onSilentNodes": sorted(str(gang) for gang in _on_silent_nodes(reading, live.silent)),
            "waiting": reasons.total(),
            "reasons": dict(sorted(reasons.items())),
        },
    }


def _on_lost_nodes(reading: InputReading) -> set[GangKey]:
    """The gangs that have pods on nodes that are not ready, or gone."""
    fabric = reading.snapshot.fabric
    away = {name for name, node in fabric.nodes.items() if not node.ready}
    return {
        gang
        for gang, node in _standing(reading)
        if node in away or (node not in fabric.nodes and node not in fabric.refused)
    }


def _on_silent_nodes(reading: InputReading, silent: Mapping[str, float]) -> set[GangKey]:
    """The gangs that have pods on nodes that the API has for ready, but that are silent."""
    nodes = reading.snapshot.fabric.nodes
    late = {name for name in silent if name in nodes and nodes[name].ready}
    return {gang for gang, node in _standing(reading) if node in late}


def _standing(reading: InputReading) -> Iterator[tuple[GangKey, str]]:
    """The gangs of pods that are to stay, each with its node: what ends may be replaced by now."""
    for pod in reading.snapshot.running:
        body = reading.pods.get((pod.namespace, pod.name), {})
        if pod.ours and pod.gang and "deletionTimestamp" not in body.get("metadata", {}):
            yield pod.gang, pod.node


def _records(live: Live) -> Document:
    from fourleaf.k8s_bridge.ledger.formats.codec import read_gang, read_page
    from fourleaf.k8s_bridge.ledger.names import FORMAT, GANG, PAGE, RECORD
    from fourleaf.k8s_bridge.ledger.sealed import BadRecord
    from fourleaf.k8s_bridge.relocation.codec import read_relocation

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
