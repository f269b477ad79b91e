"""The best places that a gang could have by itself, found without the solver. No OR-tools.

Every legal place with room now is valued as if the gang were placed alone, each pod on the node
that is worth most to it. That is exact for gangs of one role; for gangs of several, and those
that may use any leaves of a spine, it is the best that is found role by role.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, set_key
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.batch.greedy import FreeBooks
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup, gang_groups_for
from fourleaf.solver.objective.scorer import Scorer

Nodes = list[list[int]]
"""By role, the node of each pod."""


class BestAlone:
    """The places of the waiting gangs of one snapshot."""

    def __init__(self, snapshot: Snapshot, extensions: Extensions) -> None:
        self._factory = gang_groups_for(snapshot, extensions)
        state = CycleState(snapshot, self._factory.fabric)
        self._books = FreeBooks(state, Scorer(state))
        self._known: dict[Hashable, list[tuple[int, Nodes]]] = {}
        self._alike = not (extensions.node_terms or extensions.leaf_terms)

    def best(
        self, gang: Gang, besides: tuple[tuple[str, str], ...] = ()
    ) -> tuple[tuple[str, str], ...] | None:
        """(pod, node) of the unbound members at the best place; `None` where none has room.

        It uses other leaves than `besides`, pods on nodes, does. Raises `KeyError` for a node
        of these that the fabric does not know.
        """
        fabric = self._books.state.fabric
        taken = {fabric.leaf_of[fabric.index[node]] for _, node in besides}
        for _, nodes in self._ranked(gang):
            if {fabric.leaf_of[node] for members in nodes for node in members} != taken:
                return tuple(
                    (pod, fabric.nodes[node].name)
                    for role, members in zip(gang.roles, nodes, strict=True)
                    for pod, node in zip(role.pods, members, strict=True)
                )
        return None

    def _ranked(self, gang: Gang) -> list[tuple[int, Nodes]]:
        """All places, the best first, with what they are worth; gangs that are alike share them."""
        group = self._factory.of(gang)
        alone = group.bound or not self._alike
        key = (
            group.kind,
            group.candidates,
            gang.strategy,
            set_key(gang) if gang.owner else None,
            gang.latency_sensitive,
            gang.preferred_domain,
            gang.key if alone else None,
        )
        if key not in self._known:
            found = [
                (sum(self._books.scorer.terms(group, gang, nodes).values()), nodes)
                for nodes in self._everywhere(group)
            ]
            self._known[key] = sorted(found, key=lambda one: -one[0])
        return self._known[key]

    def _everywhere(self, group: GangGroup) -> Iterator[Nodes]:
        books, score_class = self._books, self._books.state.score_class_of
        points = [books.scorer.node_points(group, role) for role in group.roles]

        def rank(role: int, node: int) -> int:
            return -points[role][score_class[node]]

        room = books.room(group.kind)
        for place in group.candidates.required:
            if group.fit(place, room) and books.uplinks_hold(group, place.takes):
                nodes = books.seat(group, place.takes, rank)
                if nodes is not None:
                    yield nodes
        for spine in group.candidates.loose_spines:
            nodes = books.seat_loose(group, room, spine, rank)
            if nodes is not None:
                yield nodes
