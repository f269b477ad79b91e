"""Pods that move although their gang lost none: how many, by the namespace that gains by it.

A plan says which gangs move, not for which others: so a gang counts as moved for another where it
leaves a node that this one gets a seat on, directly or by a chain of such moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from fourleaf.k8s_bridge.relocation.records import Relocation
from fourleaf.model.gang import GangKey


def moved_for(
    plan: Iterable[Relocation], gainers: Collection[GangKey], movers: Collection[GangKey]
) -> Counter[str]:
    """Pods of other namespaces that gangs `movers` of one plan have go, by namespace of `gainers`.

    A pod that goes for gangs of two namespaces counts in both: each would have had it evicted.
    """
    drafts = {one.gang: one for one in plan}
    caused: dict[str, set[GangKey]] = {}
    for gang in gainers & drafts.keys():
        caused.setdefault(gang.namespace, set()).update(_chain(drafts[gang], drafts, movers))
    pods = {gang: sum(not leaver.lost for leaver in one.leavers) for gang, one in drafts.items()}
    found = {
        space: sum(pods[gang] for gang in gangs if gang.namespace != space)
        for space, gangs in caused.items()
    }
    return Counter({space: number for space, number in found.items() if number})


def _chain(
    first: Relocation, drafts: dict[GangKey, Relocation], movers: Collection[GangKey]
) -> set[GangKey]:
    """The movers that leave a node which `first`, or another one of these, gets a seat on."""
    found: set[GangKey] = set()
    there = [first]
    while there:
        wanted = {seat.node for seat in there.pop().seats}
        for gang, one in drafts.items():
            leaves = gang in movers and gang not in found and gang != first.gang
            if leaves and any(leaver.node in wanted for leaver in one.leavers):
                found.add(gang)
                there.append(one)
    return found
