"""Pod split: which node classes of a leaf take the pods of each role, and how many."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from fourleaf.solver.cpsat.demand import Demand, NodeClass
from fourleaf.solver.cpsat.node_classes import RoleUse
from fourleaf.solver.cpsat.program import Terms
from fourleaf.solver.cpsat.variables import Model
from fourleaf.solver.instance.gang_classes import CurrentSeats, Seats


class _Fit(NamedTuple):
    """A node class that takes pods: its position in the leaf, and how many fit there."""

    position: int
    node_class: NodeClass
    pods: int


class LeafSplit:
    """The pods of one leaf over its node classes.

    `skipped`: by group, the (leaf, score class) pairs that its gangs of one pod leave out.
    `demands` collects, by node class, what the roles ask for there; it begins with what stays.
    """

    def __init__(
        self,
        model: Model,
        leaf: int,
        node_classes: Sequence[NodeClass],
        skipped: dict[int, set[tuple[int, int]]],
        demands: list[list[Demand]],
    ) -> None:
        self._model = model
        self._program = model.program
        self._leaf = leaf
        self.node_classes = node_classes
        self._skipped = skipped
        self.demands = demands

    def add(self, use: RoleUse) -> None:
        """Say which node classes of the leaf the pods of one role go to."""
        if use.current_seats is not None:
            self._split_standing(use, use.current_seats)
        elif len(self.node_classes) > 1 or use.bound:
            self._split(use)
        else:
            pods = use.pods[use.role, self._leaf]
            use.node_classes[use.role, self._leaf] = [(self.node_classes[0], pods)]
            self.demands[0].append(Demand(use.request, pods, use.by_leaf[self._leaf]))

    def _split(self, use: RoleUse) -> None:
        usable = self._usable(use)
        if len(usable) == 1:
            self._all_in_one(use, usable[0], ())
        elif self._leaf in use.variables.home:
            self._split_home(use, usable)
        else:
            split: list[tuple[NodeClass, Terms]] = []
            for position, node_class, fit in usable:
                here: Terms = [(1, self._program.variable(fit))]
                split.append((node_class, here))
                self.demands[position].append(Demand(use.request, here, fit))
            self._tie(use, split)

    def _all_in_one(self, use: RoleUse, only: _Fit, kept: Terms | tuple[()]) -> None:
        """One node class takes the pods of the role, `kept` of which stay there."""
        pods = use.pods[use.role, self._leaf]
        use.node_classes[use.role, self._leaf] = [(only.node_class, pods)]
        self.demands[only.position].append(Demand(use.request, pods, only.pods, kept))
        if only.pods < use.by_leaf[self._leaf]:
            self._program.at_most(pods, only.pods)

    def _tie(self, use: RoleUse, split: list[tuple[NodeClass, Terms]]) -> None:
        """The pods of the leaf are those of its node classes."""
        use.node_classes[use.role, self._leaf] = split
        parts = [(-count, variable) for _, terms in split for count, variable in terms]
        self._program.equal([*use.pods[use.role, self._leaf], *parts], 0)

    def _split_standing(self, use: RoleUse, current: CurrentSeats) -> None:
        """Spread the pods of a gang that stands, those that stay told apart from the others.

        A gang chooses one of its places, so where the leaf is one node class to it, what stays
        there follows from the place chosen.
        """
        key = use.role, self._leaf
        seats = current.seats.get(key, {})
        usable = self._usable(use)
        if len(usable) == 1 and key not in current.extra:
            most = sum(seats.values())
            kept: Terms = [(min(count, most), v) for count, v in use.pods[key]] if most else []
            use.variables.kept[key] = [(usable[0].node_class, seats, kept)] if kept else []
            self._all_in_one(use, usable[0], kept)
            return
        fits = {fit.position: fit.pods for fit in usable}
        split: list[tuple[NodeClass, Terms]] = []
        staying: list[tuple[NodeClass, Seats, Terms]] = []
        everywhere = {node for node_class in self.node_classes for node in node_class.nodes}
        outside = tuple(sorted(node for node in seats if node not in everywhere))
        both = [*self.node_classes, NodeClass(self._leaf, outside)]
        for position, node_class in enumerate(both):
            held = {node: seats[node] for node in node_class.nodes if node in seats}
            stands, fit = sum(held.values()), fits.get(position, 0)
            if not stands and not fit:
                continue
            room = max(fit, stands)
            here: Terms = [(1, self._program.variable(room))]
            kept = here if stands and not fit else []
            if stands and fit:
                kept = [(1, self._program.variable(stands))]
                self._program.at_most([*kept, (-1, here[0][1])], 0)
            split.append((node_class, here))
            if stands:
                staying.append((node_class, held, kept))
            if position < len(self.node_classes):
                self.demands[position].append(Demand(use.request, here, room, kept))
        use.variables.kept[key] = staying
        self._tie(use, split)

    def _split_home(self, use: RoleUse, usable: list[_Fit]) -> None:
        """A variable for each node class of a leaf, where every gang is one pod."""
        candidate_class, place, first = use.variables.home[self._leaf]
        pods = use.pods[0, self._leaf]
        high = self._program.high
        most = high[first]
        split: list[tuple[NodeClass, Terms]] = []
        for position, node_class, fit in usable:
            variable = first
            if split:
                variable = self._program.variable(most)
                candidate_class.places.append((place, variable))
                pods.append((1, variable))
            high[variable] = min(most, fit)
            here: Terms = [(1, variable)]
            split.append((node_class, here))
            self.demands[position].append(Demand(use.request, here, fit))
        if not split:
            high[first] = 0
        use.node_classes[0, self._leaf] = split

    def _usable(self, use: RoleUse) -> list[_Fit]:
        """The node classes that take pods of the role."""
        by_node = use.by_node
        usable = []
        skipped: Collection[tuple[int, int]] = self._skipped.get(use.number, ())
        score_class = self._model.state.score_class_of if skipped else []
        for position, node_class in enumerate(self.node_classes):
            if skipped and (self._leaf, score_class[node_class.node]) in skipped:
                continue
            if use.one:
                fit = sum([by_node[i] > 0 and i not in use.bound for i in node_class.nodes])
            else:
                fit = sum([by_node[i] for i in node_class.nodes])
            if fit:
                usable.append(_Fit(position, node_class, fit))
        return usable
