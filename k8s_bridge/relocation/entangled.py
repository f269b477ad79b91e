"""Relocations of one plan that wait for each other: none evicts before its own seats are free.

The solver asks for room in the end alone: it lets two gangs change places.
"""

from __future__ import annotations

from collections.abc import Sequence

from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView, by_node, owes
from fourleaf.k8s_bridge.relocation.records import Leaver, Relocation
from fourleaf.model.gang import GangKey
from fourleaf.model.resources import Resources, given_back, minus, total


def entangled(drafts: Sequence[Relocation], view: ClusterView) -> frozenset[GangKey]:
    """The gangs of `drafts` none of which ever has its seats free before another one has left.

    Played through as the executor does it: the seats of all are kept from the beginning, and a gang
    leaves once its own are free, what it leaves itself counted as gone.
    """
    requests = view.requests
    left: dict[str, Resources] = {}
    for one in drafts:
        for seat in one.seats:
            free = left.get(seat.node) or view.unkept(seat.node)
            if free is not None:
                left[seat.node] = minus(free, seat.request)

    def leave(room: dict[str, Resources], leavers: Sequence[Leaver]) -> dict[str, Resources]:
        after = dict(room)
        for leaver in leavers:
            request = requests.get(leaver.pod.uid)
            if request is not None and leaver.node in after and not leaver.lost:
                after[leaver.node] = given_back(after[leaver.node], request)
        return after

    waiting = [one for one in drafts if one.seats and any(not x.lost for x in one.leavers)]
    while waiting:
        rest = []
        for one in waiting:
            after = leave(left, one.leavers)
            asked = [(node, total(requests)) for node, requests in by_node(one).items()]
            if not any(owes(after[node], all_of_it) for node, all_of_it in asked if node in after):
                left = after
            else:
                rest.append(one)
        if len(rest) == len(waiting):
            return frozenset(one.gang for one in rest)
        waiting = rest
    return frozenset()
