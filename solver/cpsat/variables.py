"""What the variables of a solve stand for, unit by unit."""

from __future__ import annotations

from dataclasses import dataclass, field

from fourleaf.solver.cpsat.program import Terms
from fourleaf.solver.instance.candidates import Candidate
from fourleaf.solver.instance.gang_classes import GangGroup, Seats
from fourleaf.solver.instance.gang_type import Counts


@dataclass(slots=True)
class CandidateClass:
    """Locations that are the same to every party: `worth` by party, for those that may use it.

    `places` are (location, variable); `flows` by party, where there is more than one party.
    """

    worth: dict[int, int]
    places: list[tuple[Candidate, int]] = field(default_factory=list)
    flows: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class GroupVariables:
    """All variables of one unit.

    `classes` hold its locations; `spines` are (spine, variable) of a loose unit; `takes`
    are its choices (leaf, pods per role, variable). `pods` is, per (role, leaf), the
    expression of its new pods there, and `bins` the same told apart by bin. `home` is, for
    gangs of one pod, the class, location and first variable of a leaf: each bin of it has a
    variable of its own there, so that nothing has to be split. `kept` is, of a unit that
    stands, per (role, leaf) how many members stay in each bin, and their seats there.
    """

    unit: GangGroup
    classes: list[CandidateClass] = field(default_factory=list)
    spines: list[tuple[int, int]] = field(default_factory=list)
    takes: list[tuple[int, Counts, int]] = field(default_factory=list)
    pods: dict[tuple[int, int], Terms] = field(default_factory=dict)
    bins: dict[tuple[int, int], list[tuple[NodeClass, Terms]]] = field(default_factory=dict)
    home: dict[int, tuple[CandidateClass, Candidate, int]] = field(default_factory=dict)
    kept: dict[tuple[int, int], list[tuple[NodeClass, Seats, Terms]]] = field(default_factory=dict)

    def choices(self) -> list[tuple[Candidate, int]]:
        """All (location, variable)."""
        return [choice for group in self.classes for choice in group.places]

    def placed(self, party: int) -> Terms:
        """The number of gangs of one party that are placed, as an expression."""
        if self.spines:
            return [(1, variable) for _, variable in self.spines]
        if len(self.unit.parties) == 1:
            return [(1, variable) for _, variable in self.choices()]
        return [(1, group.flows[party]) for group in self.classes if party in group.flows]


@dataclass(slots=True, eq=False)
class NodeClass:
    """Nodes of one leaf that are eligible for the same pods and worth the same."""

    leaf: int
    nodes: tuple[int, ...]

    @property
    def node(self) -> int:
        """Any node of the bin."""
        return self.nodes[0]
