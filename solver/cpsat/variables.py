"""What the variables of a solve stand for, group by group."""

from __future__ import annotations

from dataclasses import dataclass, field

from fourleaf.solver.cpsat.program import Terms
from fourleaf.solver.instance.candidates import Candidate
from fourleaf.solver.instance.gang_classes import GangGroup, Seats
from fourleaf.solver.instance.gang_type import Counts


@dataclass(slots=True)
class CandidateClass:
    """Candidates that are the same to every gang class: `worth` by gang class, for those that may use it.

    `places` are (candidate, variable); `flows` by gang class, where there is more than one gang class.
    """

    worth: dict[int, int]
    places: list[tuple[Candidate, int]] = field(default_factory=list)
    flows: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class GroupVariables:
    """All variables of one group.

    `classes` hold its candidates; `spines` are (spine, variable) of a loose group; `takes`
    are its choices (leaf, pods per role, variable). `pods` is, per (role, leaf), the
    expression of its new pods there, and `node classes` the same told apart by node class. `home` is, for
    gangs of one pod, the class, candidate and first variable of a leaf: each node class of it has a
    variable of its own there, so that nothing has to be split. `kept` is, of a group that
    stands, per (role, leaf) how many members stay in each node class, and their seats there.
    """

    group: GangGroup
    classes: list[CandidateClass] = field(default_factory=list)
    spines: list[tuple[int, int]] = field(default_factory=list)
    takes: list[tuple[int, Counts, int]] = field(default_factory=list)
    pods: dict[tuple[int, int], Terms] = field(default_factory=dict)
    node_classes: dict[tuple[int, int], list[tuple[NodeClass, Terms]]] = field(default_factory=dict)
    home: dict[int, tuple[CandidateClass, Candidate, int]] = field(default_factory=dict)
    kept: dict[tuple[int, int], list[tuple[NodeClass, Seats, Terms]]] = field(default_factory=dict)

    def choices(self) -> list[tuple[Candidate, int]]:
        """All (candidate, variable)."""
        return [choice for candidate_class in self.classes for choice in candidate_class.places]

    def placed(self, gang_class: int) -> Terms:
        """The number of gangs of one gang class that are placed, as an expression."""
        if self.spines:
            return [(1, variable) for _, variable in self.spines]
        if len(self.group.gang_classes) == 1:
            return [(1, variable) for _, variable in self.choices()]
        return [
            (1, candidate_class.flows[gang_class])
            for candidate_class in self.classes
            if gang_class in candidate_class.flows
        ]


@dataclass(slots=True, eq=False)
class NodeClass:
    """Nodes of one leaf that are eligible for the same pods and worth the same."""

    leaf: int
    nodes: tuple[int, ...]

    @property
    def node(self) -> int:
        """Any node of the node class."""
        return self.nodes[0]
