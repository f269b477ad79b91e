"""Variables of a program: what each stands for, group by group, and the model that they make."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from fourleaf.solver.cpsat.demand import NodeClass
from fourleaf.solver.cpsat.program import Program, Terms
from fourleaf.solver.cpsat.residents import Keep
from fourleaf.solver.instance.candidates import Candidate
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup, Seats
from fourleaf.solver.instance.gang_type import Counts
from fourleaf.solver.instance.spread_sets import SpreadSet


@dataclass(slots=True)
class CandidateClass:
    """Candidates that are the same to every gang class."""

    worth: dict[int, int]
    """Gang class -> points, for those that may use the candidates."""
    places: list[tuple[Candidate, int]] = field(default_factory=list)
    """(candidate, variable): how many gangs are placed there."""
    flows: dict[int, int] = field(default_factory=dict)
    """Gang class -> variable: how many of its gangs are, where there are several gang classes."""


@dataclass(slots=True)
class SharedFlows:
    """Gangs in several candidate classes to which these are worth the least that any of them is."""

    worth: dict[int, int]
    """Gang class -> points."""
    flows: dict[int, int]
    """Gang class -> variable: how many of its gangs are, on what the classes' own flows leave."""
    classes: list[CandidateClass] = field(default_factory=list)


@dataclass(slots=True)
class GroupVariables:
    """All variables of one group."""

    group: GangGroup
    classes: list[CandidateClass] = field(default_factory=list)
    """The candidates of the group, in classes."""
    shared: list[SharedFlows] = field(default_factory=list)
    """Flows that candidate classes of a large program share."""
    spines: list[tuple[int, int]] = field(default_factory=list)
    """(spine, variable) of a loose group: how many gangs are placed there."""
    takes: list[tuple[int, Counts, int]] = field(default_factory=list)
    """(leaf, pods per role, variable): the choices of a loose group that are told apart."""
    pods: dict[tuple[int, int], Terms] = field(default_factory=dict)
    """(role, leaf) -> the new pods there."""
    node_classes: dict[tuple[int, int], list[tuple[NodeClass, Terms]]] = field(default_factory=dict)
    """The same, told apart by node class."""
    home: dict[int, tuple[CandidateClass, Candidate, int]] = field(default_factory=dict)
    """Leaf -> class, candidate and first variable, for gangs of one pod: each node class has a
    variable of its own there, so that nothing has to be split."""
    room_of: int | None = None
    """Position of the group whose `pods` count those of this one too, for phantoms that may use
    any leaves of a spine: which of them takes what there makes no difference."""
    kept: dict[tuple[int, int], list[tuple[NodeClass, Seats, Terms]]] = field(default_factory=dict)
    """(role, leaf) -> how many members stay in each node class, and their seats there, for a group
    that stands."""

    def choices(self) -> list[tuple[Candidate, int]]:
        """All (candidate, variable)."""
        return [choice for candidate_class in self.classes for choice in candidate_class.places]

    def all_flows(self) -> list[tuple[dict[int, int], dict[int, int]]]:
        """(points, flows) by gang class, of every candidate class and of what these share."""
        own = [(one.worth, one.flows) for one in self.classes]
        return own + [(one.worth, one.flows) for one in self.shared]

    def placed(self, gang_class: int) -> Terms:
        """The number of gangs of one gang class that are placed, as an expression."""
        if self.spines:
            return [(1, variable) for _, variable in self.spines]
        if len(self.group.gang_classes) == 1:
            return [(1, variable) for _, variable in self.choices()]
        return [(1, flows[gang_class]) for _, flows in self.all_flows() if gang_class in flows]


@dataclass(slots=True, eq=False)
class SpreadRows:
    """A spread set in the program: the groups of its gangs, and variables for what is too many."""

    of: SpreadSet
    groups: list[GroupVariables]
    excess: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Leaf -> the variables that count pods which are one too many on their nodes there."""


@dataclass(slots=True, eq=False)
class Model:
    """The variables of some groups on one state, and the program that they belong to."""

    program: Program
    state: CycleState
    groups: list[GroupVariables]
    refined: frozenset[int]
    """Leaves whose nodes are modelled one by one."""
    spreads: list[SpreadRows] = field(default_factory=list)
    """What pods that are kept apart may come to."""
    keeps: list[Keep] = field(default_factory=list)
    """Residents that may stay where they are, counted."""
    rooms: list[tuple[int, int]] = field(default_factory=list)
    """(nodes, variable): how many phantoms of that size that may use any leaves are in a spine."""
    large: bool = False
    """Whether the program is so large that its relaxation is solved first."""
