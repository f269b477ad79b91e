"""Gangs of which members are being bound, whatever the last plan says of them."""

from __future__ import annotations

from fourleaf.k8s_bridge.ledger.compaction import is_settled
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.pods import PodLister
from fourleaf.model.gang import GangKey


def being_bound(ledger: Ledger, pods: PodLister) -> frozenset[GangKey]:
    """The gangs that need no place: one that is being seated is not seen to stand there yet."""
    return frozenset(one.gang for one in ledger.on_their_way() if not is_settled(one, pods))
