"""The variables that "who" and "where" share: gangs per place, pods per node class.

One integer per group and candidate counts the gangs placed there. Where a leaf has several
node classes for a role, further integers count its pods per node class. A loose group has an integer per
spine instead, and its pods per leaf: as one integer where all its gangs are counted
together, or as a choice among the numbers the leaf could hold, where each number has a
worth of its own.

Where the gang classes of a group differ in which candidates they may use or what these are worth
to them, candidates with the same answer for every gang class form a class, and a flow per gang class
and class says how many of the gang class's gangs stand there. Such flows are a transport
problem: integral, and small however many candidates there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from fourleaf.solver.cpsat.constraints.capacity import Capacity
from fourleaf.solver.cpsat.constraints.demand import Demand
from fourleaf.solver.cpsat.constraints.node_limits import add_node_limits, add_phantom_limit
from fourleaf.solver.cpsat.dominance import prune
from fourleaf.solver.cpsat.node_classes import RoleUse, node_classes_of
from fourleaf.solver.cpsat.open_candidates import OpenCandidates, open_candidates
from fourleaf.solver.cpsat.preferred_gangs import add_preferred_gangs
from fourleaf.solver.cpsat.program import Program, Terms
from fourleaf.solver.cpsat.residents import Keep, Resident, keeps_of
from fourleaf.solver.cpsat.variables import CandidateClass, GroupVariables, NodeClass
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import CurrentSeats, GangGroup, Seats
from fourleaf.solver.objective.scorer import Scorer


class Model:
    """Variables and capacity rows for some groups on one view.

    `refined` are the leaves whose nodes are modelled one by one. `scorer` is given where
    places are compared, not just counted; nodes of different worth are then kept apart.
    `residents` are gangs that may stay where they are; `keeps` counts those that do.
    """

    def __init__(
        self,
        program: Program,
        state: CycleState,
        groups: list[GangGroup],
        refined: frozenset[int],
        scorer: Scorer | None = None,
        residents: Sequence[Resident] = (),
    ) -> None:
        self.program = program
        self.state = state
        self.scorer = scorer
        self.groups = [GroupVariables(group) for group in groups]
        places = [
            (group, [] if group.loose else open_candidates(state, group, scorer))
            for group in groups
        ]
        self._skipped = prune(state, scorer, places) if scorer else {}
        for variables, (group, classes) in zip(self.groups, places, strict=True):
            if group.loose:
                add_preferred_gangs(program, state, variables)
            else:
                self._add_places(variables, classes)
        careful = (v for v in self.groups if v.group.careful)
        self.refined = refined | {leaf for v in careful for _, leaf in v.pods}
        self.inexact: list[NodeClass] = []
        """Node classes whose rows may admit numbers of pods that cannot be packed."""
        self.keeps: list[Keep] = []
        self._add_bins(residents)
        for variables in self.groups:
            if len(variables.group.gang_classes) > 1:
                self._add_flows(variables)
            if variables.group.careful:
                add_node_limits(program, state, variables)

    def _add_places(self, variables: GroupVariables, classes: list[OpenCandidates]) -> None:
        group = variables.group
        pods: dict[tuple[int, int], Terms] = defaultdict(list)
        plain = len(group.roles) == 1 and not group.bound
        single = group.kind.sizes == (1,) and not group.bound
        for open_ in classes:
            made = self.program.variables([fit for _, fit in open_.places])
            places = list(zip([place for place, _ in open_.places], made, strict=True))
            candidate_class = CandidateClass(open_.worth, places)
            variables.classes.append(candidate_class)
            for place, variable in places:
                for leaf, counts in place.takes:
                    if plain:
                        pods[0, leaf].append((counts[0], variable))
                        continue
                    for role, count in enumerate(group.new_pods(leaf, counts)):
                        if count:
                            pods[role, leaf].append((count, variable))
                if single:
                    variables.home[place.takes[0][0]] = (candidate_class, place, variable)
        variables.pods = pods

    def _add_flows(self, variables: GroupVariables) -> None:
        for candidate_class in variables.classes:
            for gang_class in candidate_class.worth:
                most = len(variables.group.gang_classes[gang_class].gangs)
                candidate_class.flows[gang_class] = self.program.variable(most)
            self.program.equal(
                [
                    *[(1, flow) for flow in candidate_class.flows.values()],
                    *[(-1, variable) for _, variable in candidate_class.places],
                ],
                0,
            )

    def _add_bins(self, residents: Sequence[Resident]) -> None:
        uses: dict[int, list[RoleUse]] = defaultdict(list)
        for number, variables in enumerate(self.groups):
            roles = variables.group.roles
            of_role = [RoleUse(self.state, number, variables, role) for role in roles]
            for role, leaf in variables.pods:
                uses[leaf].append(of_role[role])
        classes_in: dict[int, list[NodeClass]] = {}
        nodes_in = self._nodes_in(uses, residents)
        for leaf in sorted(uses):
            scored, refined = self.scorer is not None, leaf in self.refined
            classes_in[leaf] = node_classes_of(
                self.state, leaf, nodes_in[leaf], uses[leaf], scored, refined
            )
        self.keeps = keeps_of(self.program, residents, classes_in) if residents else []
        staying: dict[NodeClass, list[Demand]] = defaultdict(list)
        for keep in self.keeps:
            for node_class, demand in keep.demands():
                staying[node_class].append(demand)
        capacity = Capacity(self.program, self.state)
        for leaf, node_classes in classes_in.items():
            here = uses[leaf]
            demands: list[list[Demand]] = [
                list(staying.get(node_class, ())) for node_class in node_classes
            ]
            for use in here:
                self._settle(use, leaf, node_classes, demands)
            phantoms = [use.variables for use in here if use.variables.group.phantom]
            for node_class, demanded in zip(node_classes, demands, strict=True):
                if demanded:
                    if not capacity.add(node_class, demanded):
                        self.inexact.append(node_class)
                    add_phantom_limit(self.program, self.state, node_class, phantoms)

    def _nodes_in(
        self, uses: dict[int, list[RoleUse]], residents: Sequence[Resident]
    ) -> dict[int, Sequence[int]]:
        """Leaf -> the nodes with room for somebody; all, where gangs stand that may leave some."""
        in_leaf = self.state.fabric.in_leaf
        if residents or any(variables.group.current_seats is not None for variables in self.groups):
            return {leaf: in_leaf[leaf] for leaf in uses}
        rooms = {id(use.by_node): use.by_node for here in uses.values() for use in here}
        roomy = [any(room) for room in zip(*rooms.values(), strict=True)]
        return {leaf: [i for i in in_leaf[leaf] if roomy[i]] for leaf in uses}

    def _settle(
        self, use: RoleUse, leaf: int, node_classes: list[NodeClass], demands: list[list[Demand]]
    ) -> None:
        """Say which node classes of the leaf the pods of one role go to."""
        if use.current_seats is not None:
            self._split_standing(use, use.current_seats, leaf, node_classes, demands)
        elif len(node_classes) > 1 or use.bound:
            self._split(use, leaf, node_classes, demands)
        else:
            pods = use.pods[use.role, leaf]
            use.node_classes[use.role, leaf] = [(node_classes[0], pods)]
            demands[0].append(Demand(use.request, pods, use.by_leaf[leaf]))

    def _split(
        self, use: RoleUse, leaf: int, node_classes: list[NodeClass], demands: list[list[Demand]]
    ) -> None:
        """Spread the pods of one role in one leaf over the node classes that take them."""
        variables, role, request = use.variables, use.role, use.request
        pods = variables.pods[role, leaf]
        usable = self._usable_bins(use, leaf, node_classes)
        if len(usable) == 1:
            position, node_class, fit = usable[0]
            variables.node_classes[role, leaf] = [(node_class, pods)]
            demands[position].append(Demand(request, pods, fit))
            if fit < use.by_leaf[leaf]:
                self.program.at_most(pods, fit)
            return
        if leaf in variables.home:
            self._settle_home(variables, leaf, usable, demands)
            return
        split: list[tuple[NodeClass, Terms]] = []
        for position, node_class, fit in usable:
            here: Terms = [(1, self.program.variable(fit))]
            split.append((node_class, here))
            demands[position].append(Demand(request, here, fit))
        variables.node_classes[role, leaf] = split
        parts = [(-count, variable) for _, terms in split for count, variable in terms]
        self.program.equal([*pods, *parts], 0)

    def _split_standing(
        self,
        use: RoleUse,
        current_seats: CurrentSeats,
        leaf: int,
        node_classes: list[NodeClass],
        demands: list[list[Demand]],
    ) -> None:
        """Spread the pods of a gang that stands, those that stay told apart from the others.

        A gang chooses one of its places, so where the leaf is one node class to it, what stays there
        follows from the place chosen.
        """
        variables, role, request = use.variables, use.role, use.request
        pods = variables.pods[role, leaf]
        seats = current_seats.seats.get((role, leaf), {})
        usable = self._usable_bins(use, leaf, node_classes)
        if len(usable) == 1 and (role, leaf) not in current_seats.extra:
            position, node_class, fit = usable[0]
            most = sum(seats.values())
            kept: Terms = [(min(count, most), v) for count, v in pods] if most else []
            variables.node_classes[role, leaf] = [(node_class, pods)]
            variables.kept[role, leaf] = [(node_class, seats, kept)] if kept else []
            demands[position].append(Demand(request, pods, fit, kept))
            if fit < use.by_leaf[leaf]:
                self.program.at_most(pods, fit)
            return
        fits = {position: fit for position, _, fit in usable}
        split: list[tuple[NodeClass, Terms]] = []
        staying: list[tuple[NodeClass, Seats, Terms]] = []
        everywhere = {node for node_class in node_classes for node in node_class.nodes}
        outside = tuple(sorted(node for node in seats if node not in everywhere))
        for position, node_class in enumerate([*node_classes, NodeClass(leaf, outside)]):
            held = {node: seats[node] for node in node_class.nodes if node in seats}
            stands, fit = sum(held.values()), fits.get(position, 0)
            if not stands and not fit:
                continue
            room = max(fit, stands)
            here: Terms = [(1, self.program.variable(room))]
            kept = here if stands and not fit else []
            if stands and fit:
                kept = [(1, self.program.variable(stands))]
                self.program.at_most([*kept, (-1, here[0][1])], 0)
            split.append((node_class, here))
            if stands:
                staying.append((node_class, held, kept))
            if position < len(node_classes):
                demands[position].append(Demand(request, here, room, kept))
        variables.node_classes[role, leaf] = split
        variables.kept[role, leaf] = staying
        parts = [(-count, variable) for _, terms in split for count, variable in terms]
        self.program.equal([*pods, *parts], 0)

    def _usable_bins(
        self, use: RoleUse, leaf: int, node_classes: list[NodeClass]
    ) -> list[tuple[int, NodeClass, int]]:
        """The node classes that take pods of the user: position, node class, and how many fit there."""
        by_node = use.by_node
        usable = []
        skipped = self._skipped.get(use.number, ())
        score_class = self.state.score_class_of if skipped else []
        for position, node_class in enumerate(node_classes):
            if skipped and (leaf, score_class[node_class.node]) in skipped:
                continue
            if use.one:
                fit = sum([by_node[i] > 0 and i not in use.bound for i in node_class.nodes])
            else:
                fit = sum([by_node[i] for i in node_class.nodes])
            if fit:
                usable.append((position, node_class, fit))
        return usable

    def _settle_home(
        self,
        variables: GroupVariables,
        leaf: int,
        usable: list[tuple[int, NodeClass, int]],
        demands: list[list[Demand]],
    ) -> None:
        """A variable for each node class of a leaf, where every gang is one pod."""
        candidate_class, place, first = variables.home[leaf]
        pods = variables.pods[0, leaf]
        most = self.program.high[first]
        split: list[tuple[NodeClass, Terms]] = []
        for position, node_class, fit in usable:
            variable = first
            if split:
                variable = self.program.variable(most)
                candidate_class.places.append((place, variable))
                pods.append((1, variable))
            self.program.high[variable] = min(most, fit)
            here: Terms = [(1, variable)]
            split.append((node_class, here))
            demands[position].append(Demand(variables.group.kind.requests[0], here, fit))
        if not split:
            self.program.high[first] = 0
        variables.node_classes[0, leaf] = split
