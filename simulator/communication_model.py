"""The communication model: how much slower a gang is where it stands.

A gang all-reduces over one ring of its nodes in rank order. On n nodes the ring moves
2 (n - 1) / n times the message over every hop, and no algorithm moves less, so a step lasts as
long as its slowest hop takes (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for
clusters of workstations", JPDC 69(2), 2009). A hop within a leaf has the bandwidth of a node. A
hop between leaves shares the uplinks of both: a leaf of m nodes under oversubscription r has
uplinks of m / r times the bandwidth of a node, in equal parts for all hops that leave it, in
each direction. The spines' own links are taken to be wide enough, and every gang to communicate
all the time, so the sharing is the worst case. With the share c of a step that is exposed
communication on full bandwidth, and b the part of it that the slowest hop has, a step takes

    (1 - c) + c / b        times as long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import GangKey
from fourleaf.simulator.running_gang import FULL


def hops(fabric: Fabric, nodes: Sequence[str]) -> Mapping[int, int]:
    """Leaf -> hops of the ring that leave it, for the nodes of a gang in rank order.

    As many hops enter it. Pods of one node next to each other in rank order are one stop.
    """
    leaves = [fabric.leaf_of[node] for node in dict.fromkeys(nodes)]
    pairs = zip(leaves, [*leaves[1:], *leaves[:1]], strict=True)
    return Counter(here for here, there in pairs if here != there)


def slowdown(crossing: Iterable[tuple[int, int]], oversubscription: int, share: int) -> int:
    """How long a step takes, in thousandths of one on full bandwidth, rounded up.

    `crossing` are, for each leaf of the gang, (hops of all gangs that leave it, its nodes).
    `share` is c in thousandths.
    """
    worst = max(
        (-(-share * oversubscription * taken // nodes) for taken, nodes in crossing), default=share
    )
    return FULL - share + max(share, worst)


class RingNetwork:
    """The hops of all gangs that run, and what they leave to each."""

    def __init__(self, fabric: Fabric, oversubscription: int, share: int) -> None:
        self._fabric = fabric
        self._oversubscription = oversubscription
        self._share = share
        self._of: dict[GangKey, Mapping[int, int]] = {}
        self._taken: Counter[int] = Counter()

    def join(self, key: GangKey, nodes: Sequence[str]) -> set[GangKey]:
        """Let a gang run on `nodes`. Returns all gangs whose speed may change."""
        mine = self._of[key] = hops(self._fabric, nodes)
        self._taken.update(mine)
        return {key, *self._meeting(mine)}

    def leave(self, key: GangKey) -> set[GangKey]:
        """Take a gang away. Returns all others whose speed may change."""
        mine = self._of.pop(key)
        self._taken.subtract(mine)
        return self._meeting(mine)

    def speed(self, key: GangKey) -> int:
        """The speed of a gang now, in thousandths, at least 1."""
        mine = self._of[key]
        crossing = [(self._taken[leaf], len(self._fabric.leaves[leaf].nodes)) for leaf in mine]
        time = slowdown(crossing, self._oversubscription, self._share)
        return max(1, FULL * FULL // time)

    def _meeting(self, leaves: Mapping[int, int]) -> set[GangKey]:
        return {key for key, other in self._of.items() if other.keys() & leaves.keys()}
