"""Residents: gangs that may stay exactly where they are, counted by one variable where alike.

Their pods take the room of the node classes in which their nodes lie. Residents with pods in the
same node classes are the same to every row, so one integer counts how many of them stay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fourleaf.model.resources import Resources
from fourleaf.solver.cpsat.demand import Demand, NodeClass
from fourleaf.solver.cpsat.program import Program


@dataclass(frozen=True, slots=True, eq=False)
class Resident:
    """One gang as it stands: `seats` are (node, request, pods).

    Only residents with equal `alike` are counted together. `demand` is (leaf, Mbit/s) that it
    takes from uplinks. Requests are those of kinds, the same object for equal ones.
    """

    alike: Hashable
    seats: tuple[tuple[int, Resources, int], ...]
    demand: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Keep:
    """Residents that are the same to every row; `variable` counts those that stay.

    `seats` are (node class, request, pods) of each of them.
    """

    residents: list[Resident]
    variable: int
    seats: list[tuple[NodeClass, Resources, int]]

    def demands(self) -> Iterator[tuple[NodeClass, Demand]]:
        """What those that stay take of each node class."""
        for node_class, request, pods in self.seats:
            terms = [(pods, self.variable)]
            most = pods * len(self.residents)
            yield node_class, Demand(request, terms, most, terms, most)


def keeps_of(
    program: Program, residents: Sequence[Resident], node_classes: Mapping[int, Sequence[NodeClass]]
) -> list[Keep]:
    """The residents by what they take; where no node class is, no other gang wants room."""
    numbered = [node_class for here in node_classes.values() for node_class in here]
    at = {node: number for number, node_class in enumerate(numbered) for node in node_class.nodes}
    by_key: dict[Hashable, list[Resident]] = {}
    taken: dict[Hashable, dict[tuple[int, int], tuple[Resources, int]]] = {}
    for resident in residents:
        pods: dict[tuple[int, int], int] = defaultdict(int)
        known: dict[int, Resources] = {}
        for node, request, count in resident.seats:
            if node in at:
                pods[at[node], id(request)] += count
                known[id(request)] = request
        key = (resident.alike, resident.demand, tuple(sorted(pods.items())))
        by_key.setdefault(key, []).append(resident)
        taken[key] = {where: (known[where[1]], count) for where, count in pods.items()}
    return [
        Keep(
            members,
            program.variable(len(members)),
            [
                (numbered[node_class], *taken[key][node_class, asked])
                for node_class, asked in taken[key]
            ],
        )
        for key, members in by_key.items()
    ]
