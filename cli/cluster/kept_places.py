"""Places that the scheduler keeps for gangs while pods make way for them, from its records."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from fourleaf.cli.cluster.connection import refused

if TYPE_CHECKING:
    from fourleaf.cli.cluster.read_cluster import ClusterAccess
    from fourleaf.k8s_bridge.cluster.protocol import Cluster
    from fourleaf.model.gang import GangKey
    from fourleaf.model.problems import Problem

KeptPlaces = Mapping["GangKey", tuple[str, ...]]
"""Gang -> the nodes on which places are kept for it."""


async def kept_places(
    cluster: Cluster, reach: ClusterAccess, nodes: Collection[str]
) -> KeptPlaces | Problem:
    """The gangs that lose places on `nodes` once these take no pods, for which others are evicted.

    Where the records may not be read, a warning about that.
    """
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.kinds import LEASES
    from fourleaf.k8s_bridge.ledger.sealed import BadRecord
    from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
    from fourleaf.k8s_bridge.relocation.records import Purpose
    from fourleaf.model.problems import Severity

    try:
        listed = await cluster.list(LEASES, await reach.home(cluster), RELOCATIONS)
    except ClusterError as error:
        return replace(refused(error, reach.name, "list", LEASES), severity=Severity.WARNING)
    found: dict[GangKey, tuple[str, ...]] = {}
    for body in listed.items:
        try:
            one = read_relocation(body)
        except BadRecord:
            continue
        kept = dict.fromkeys(seat.node for seat in one.seats if seat.node in nodes)
        if kept and one.purpose is not Purpose.RESERVATION:
            found[one.gang] = tuple(kept)
    return found


def would_be_lost(kept: KeptPlaces, where: str) -> Iterator[Problem]:
    """Warnings that gangs lose places for which pods have been evicted."""
    from fourleaf.model.problems import Problem, Severity
    from fourleaf.model.reasons.text import listed

    for gang, nodes in sorted(kept.items()):
        message = f"its places on {listed(nodes)} are lost, for which pods were told to go"
        advice = "It waits for others now. Drain once it runs, to lose none of them in vain."
        yield Problem(Severity.WARNING, where, f"Gang {gang}", "", "", message, advice)
