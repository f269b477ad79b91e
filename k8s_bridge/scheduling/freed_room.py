"""Freed room: the leaves in which pods have ended, and which gangs may have a place for that."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass

from fourleaf.model.gang import Gang
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.instance.freed_leaves import FreedLeaves
from fourleaf.solver.instance.gang_classes import gang_order

OF_THE_FABRIC = frozenset(
    {ReasonKind.NO_MATCHING_NODES, ReasonKind.TOO_LARGE, ReasonKind.BOUND_ELSEWHERE}
)
"""Reasons that hold as long as the gang, the nodes and the config are what they are."""

_OF_ONE_LEAF = frozenset({ReasonKind.NO_FREE_CAPACITY, ReasonKind.NO_ADJACENT_LEAVES})
"""Reasons that hold for as long as no pod ends in a leaf that a member could go to, either."""

OF_THE_ROOM = _OF_ONE_LEAF | {ReasonKind.QUOTA_EXCEEDED, ReasonKind.UPLINK_FULL}
"""Reasons that hold for as long as no pod ends anywhere, either."""


@dataclass(frozen=True, slots=True)
class Helped:
    """Gangs that have a place now as far as room goes, and that may have one for all that is known.

    `behind` are those alike the first, for which room is left where these take none.
    """

    first: list[Gang]
    unknown: list[Gang]
    behind: list[Gang]


class FreedRoom:
    """The leaves in which pods have ended, and what is free there.

    A place that a gang has now and had not before has a member in one of these leaves, as far as
    room alone kept it waiting.
    """

    def __init__(self, snapshot: Snapshot, ended: Collection[RunningPod]) -> None:
        spec, fabric = snapshot.config.spec, snapshot.fabric
        self._quotas = any(one.gpu_quota is not None for one in spec.namespaces.values())
        self._namespaces = {pod.namespace for pod in ended}
        leaves = {fabric.leaf_of[pod.node] for pod in ended if pod.node in fabric.leaf_of}
        self._places = FreedLeaves(snapshot, leaves)
        nodes = (node.name for leaf in leaves for node in fabric.leaves[leaf].nodes)
        self._most_gpus = max((snapshot.free_on(node).gpus for node in nodes), default=0)
        self._places_of: dict[Hashable, int | None] = {}

    def helped(self, waiting: Iterable[tuple[Gang, Hashable, Reason]]) -> Helped:
        """Which of these may have a place now; each with its kind and namespace, and its reason.

        Of those that are alike no more are placed than there are places, the oldest first.
        """
        first: list[Gang] = []
        unknown: list[Gang] = []
        behind: list[Gang] = []
        alike: dict[Hashable, list[Gang]] = {}
        for gang, kind, reason in waiting:
            most = self._most(gang, kind, reason)
            if most is None:
                unknown.append(gang)
            elif most:
                alike.setdefault(kind, []).append(gang)
        for kind, gangs in alike.items():
            if len(gangs) > (most := self._places_of[kind] or 0):
                gangs.sort(key=gang_order)
                behind += gangs[most:]
            first += gangs[:most]
        return Helped(first, unknown, behind)

    def _most(self, gang: Gang, kind: Hashable, reason: Reason) -> int | None:
        """How many gangs of a kind may have a place now, None where any may."""
        if reason.kind in OF_THE_FABRIC:
            return 0
        if reason.kind not in _OF_ONE_LEAF or gang.bandwidth is not None:
            return None
        if self._quotas and gang.key.namespace in self._namespaces:
            return None
        if kind not in self._places_of:
            has_gpus = any(role.request.gpus <= self._most_gpus for role in gang.roles)
            self._places_of[kind] = self._places.most(gang) if has_gpus else 0
        return self._places_of[kind]


def changes(
    before: Sequence[RunningPod], now: Sequence[RunningPod]
) -> tuple[list[RunningPod], list[RunningPod]]:
    """The pods that have ended since, and those that have begun."""
    if now is before:
        return [], []
    # A pod that runs as before is the same object; the few others are compared by name.
    was, there = set(map(id, before)), set(map(id, now))
    gone = {_place(pod): pod for pod in before if id(pod) not in there}
    new = {_place(pod): pod for pod in now if id(pod) not in was}
    ended = [pod for place, pod in gone.items() if place not in new]
    return ended, [pod for place, pod in new.items() if place not in gone]


def _place(pod: RunningPod) -> tuple[str, str, str, Resources]:
    """Where a pod runs, and what it holds there: one that was resized has given its room back."""
    return pod.namespace, pod.name, pod.node, pod.request
