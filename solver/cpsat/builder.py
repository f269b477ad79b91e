"""The variables that "who" and "where" share: gangs per place, pods per bin.

One integer per unit and location counts the gangs placed there. Where a leaf has several
bins for a role, further integers count its pods per bin. A loose unit has an integer per
spine instead, and its pods per leaf: as one integer where all its gangs are counted
together, or as a choice among the numbers the leaf could hold, where each number has a
worth of its own.

Where the parties of a unit differ in which locations they may use or what these are worth
to them, locations with the same answer for every party form a class, and a flow per party
and class says how many of the party's gangs stand there. Such flows are a transport
problem: integral, and small however many locations there are.
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
    """Variables and capacity rows for some units on one view.

    `refined` are the leaves whose nodes are modelled one by one. `scorer` is given where
    places are compared, not just counted; nodes of different worth are then kept apart.
    `residents` are gangs that may stay where they are; `keeps` counts those that do.
    """

    def __init__(
        self,
        program: Program,
        view: CycleState,
        units: list[GangGroup],
        refined: frozenset[int],
        scorer: Scorer | None = None,
        residents: Sequence[Resident] = (),
    ) -> None:
        self.program = program
        self.view = view
        self.scorer = scorer
        self.units = [GroupVariables(unit) for unit in units]
        places = [
            (unit, [] if unit.loose else open_candidates(view, unit, scorer)) for unit in units
        ]
        self._skipped = prune(view, scorer, places) if scorer else {}
        for variables, (unit, classes) in zip(self.units, places, strict=True):
            if unit.loose:
                add_preferred_gangs(program, view, variables)
            else:
                self._add_places(variables, classes)
        careful = (v for v in self.units if v.unit.careful)
        self.refined = refined | {leaf for v in careful for _, leaf in v.pods}
        self.inexact: list[NodeClass] = []
        """Bins whose rows may admit numbers of pods that cannot be packed."""
        self.keeps: list[Keep] = []
        self._add_bins(residents)
        for variables in self.units:
            if len(variables.unit.parties) > 1:
                self._add_flows(variables)
            if variables.unit.careful:
                add_node_limits(program, view, variables)

    def _add_places(self, variables: GroupVariables, classes: list[OpenCandidates]) -> None:
        unit = variables.unit
        pods: dict[tuple[int, int], Terms] = defaultdict(list)
        plain = len(unit.roles) == 1 and not unit.bound
        single = unit.kind.sizes == (1,) and not unit.bound
        for open_ in classes:
            made = self.program.variables([fit for _, fit in open_.places])
            places = list(zip([place for place, _ in open_.places], made, strict=True))
            group = CandidateClass(open_.worth, places)
            variables.classes.append(group)
            for place, variable in places:
                for leaf, counts in place.takes:
                    if plain:
                        pods[0, leaf].append((counts[0], variable))
                        continue
                    for role, count in enumerate(unit.new_pods(leaf, counts)):
                        if count:
                            pods[role, leaf].append((count, variable))
                if single:
                    variables.home[place.takes[0][0]] = (group, place, variable)
        variables.pods = pods

    def _add_flows(self, variables: GroupVariables) -> None:
        for group in variables.classes:
            for party in group.worth:
                most = len(variables.unit.parties[party].gangs)
                group.flows[party] = self.program.variable(most)
            self.program.equal(
                [
                    *[(1, flow) for flow in group.flows.values()],
                    *[(-1, variable) for _, variable in group.places],
                ],
                0,
            )

    def _add_bins(self, residents: Sequence[Resident]) -> None:
        users: dict[int, list[RoleUse]] = defaultdict(list)
        for number, variables in enumerate(self.units):
            roles = variables.unit.roles
            of_role = [RoleUse(self.view, number, variables, role) for role in roles]
            for role, leaf in variables.pods:
                users[leaf].append(of_role[role])
        bins_in: dict[int, list[NodeClass]] = {}
        nodes_in = self._nodes_in(users, residents)
        for leaf in sorted(users):
            scored, refined = self.scorer is not None, leaf in self.refined
            bins_in[leaf] = node_classes_of(
                self.view, leaf, nodes_in[leaf], users[leaf], scored, refined
            )
        self.keeps = keeps_of(self.program, residents, bins_in) if residents else []
        staying: dict[NodeClass, list[Demand]] = defaultdict(list)
        for keep in self.keeps:
            for bin_, claim in keep.claims():
                staying[bin_].append(claim)
        capacity = Capacity(self.program, self.view)
        for leaf, bins in bins_in.items():
            here = users[leaf]
            claims: list[list[Demand]] = [list(staying.get(bin_, ())) for bin_ in bins]
            for user in here:
                self._settle(user, leaf, bins, claims)
            phantoms = [user.variables for user in here if user.variables.unit.phantom]
            for bin_, claimed in zip(bins, claims, strict=True):
                if claimed:
                    if not capacity.add(bin_, claimed):
                        self.inexact.append(bin_)
                    add_phantom_limit(self.program, self.view, bin_, phantoms)

    def _nodes_in(
        self, users: dict[int, list[RoleUse]], residents: Sequence[Resident]
    ) -> dict[int, Sequence[int]]:
        """Leaf -> the nodes with room for somebody; all, where gangs stand that may leave some."""
        in_leaf = self.view.ground.in_leaf
        if residents or any(variables.unit.stand is not None for variables in self.units):
            return {leaf: in_leaf[leaf] for leaf in users}
        rooms = {id(user.by_node): user.by_node for here in users.values() for user in here}
        roomy = [any(room) for room in zip(*rooms.values(), strict=True)]
        return {leaf: [i for i in in_leaf[leaf] if roomy[i]] for leaf in users}

    def _settle(
        self, user: RoleUse, leaf: int, bins: list[NodeClass], claims: list[list[Demand]]
    ) -> None:
        """Say which bins of the leaf the pods of one role go to."""
        if user.stand is not None:
            self._split_standing(user, user.stand, leaf, bins, claims)
        elif len(bins) > 1 or user.bound:
            self._split(user, leaf, bins, claims)
        else:
            pods = user.pods[user.role, leaf]
            user.bins[user.role, leaf] = [(bins[0], pods)]
            claims[0].append(Demand(user.request, pods, user.by_leaf[leaf]))

    def _split(
        self, user: RoleUse, leaf: int, bins: list[NodeClass], claims: list[list[Demand]]
    ) -> None:
        """Spread the pods of one role in one leaf over the bins that take them."""
        variables, role, request = user.variables, user.role, user.request
        pods = variables.pods[role, leaf]
        usable = self._usable_bins(user, leaf, bins)
        if len(usable) == 1:
            position, bin_, fit = usable[0]
            variables.bins[role, leaf] = [(bin_, pods)]
            claims[position].append(Demand(request, pods, fit))
            if fit < user.by_leaf[leaf]:
                self.program.at_most(pods, fit)
            return
        if leaf in variables.home:
            self._settle_home(variables, leaf, usable, claims)
            return
        split: list[tuple[NodeClass, Terms]] = []
        for position, bin_, fit in usable:
            here: Terms = [(1, self.program.variable(fit))]
            split.append((bin_, here))
            claims[position].append(Demand(request, here, fit))
        variables.bins[role, leaf] = split
        parts = [(-count, variable) for _, terms in split for count, variable in terms]
        self.program.equal([*pods, *parts], 0)

    def _split_standing(
        self,
        user: RoleUse,
        stand: CurrentSeats,
        leaf: int,
        bins: list[NodeClass],
        claims: list[list[Demand]],
    ) -> None:
        """Spread the pods of a gang that stands, those that stay told apart from the others.

        A gang chooses one of its places, so where the leaf is one bin to it, what stays there
        follows from the place chosen.
        """
        variables, role, request = user.variables, user.role, user.request
        pods = variables.pods[role, leaf]
        seats = stand.seats.get((role, leaf), {})
        usable = self._usable_bins(user, leaf, bins)
        if len(usable) == 1 and (role, leaf) not in stand.extra:
            position, bin_, fit = usable[0]
            most = sum(seats.values())
            kept: Terms = [(min(count, most), v) for count, v in pods] if most else []
            variables.bins[role, leaf] = [(bin_, pods)]
            variables.kept[role, leaf] = [(bin_, seats, kept)] if kept else []
            claims[position].append(Demand(request, pods, fit, kept))
            if fit < user.by_leaf[leaf]:
                self.program.at_most(pods, fit)
            return
        fits = {position: fit for position, _, fit in usable}
        split: list[tuple[NodeClass, Terms]] = []
        staying: list[tuple[NodeClass, Seats, Terms]] = []
        everywhere = {node for bin_ in bins for node in bin_.nodes}
        outside = tuple(sorted(node for node in seats if node not in everywhere))
        for position, bin_ in enumerate([*bins, NodeClass(leaf, outside)]):
            held = {node: seats[node] for node in bin_.nodes if node in seats}
            stands, fit = sum(held.values()), fits.get(position, 0)
            if not stands and not fit:
                continue
            room = max(fit, stands)
            here: Terms = [(1, self.program.variable(room))]
            kept = here if stands and not fit else []
            if stands and fit:
                kept = [(1, self.program.variable(stands))]
                self.program.at_most([*kept, (-1, here[0][1])], 0)
            split.append((bin_, here))
            if stands:
                staying.append((bin_, held, kept))
            if position < len(bins):
                claims[position].append(Demand(request, here, room, kept))
        variables.bins[role, leaf] = split
        variables.kept[role, leaf] = staying
        parts = [(-count, variable) for _, terms in split for count, variable in terms]
        self.program.equal([*pods, *parts], 0)

    def _usable_bins(
        self, user: RoleUse, leaf: int, bins: list[NodeClass]
    ) -> list[tuple[int, NodeClass, int]]:
        """The bins that take pods of the user: position, bin, and how many fit there."""
        by_node = user.by_node
        usable = []
        skipped = self._skipped.get(user.number, ())
        comfort = self.view.comfort_id if skipped else []
        for position, bin_ in enumerate(bins):
            if skipped and (leaf, comfort[bin_.node]) in skipped:
                continue
            if user.one:
                fit = sum([by_node[i] > 0 and i not in user.bound for i in bin_.nodes])
            else:
                fit = sum([by_node[i] for i in bin_.nodes])
            if fit:
                usable.append((position, bin_, fit))
        return usable

    def _settle_home(
        self,
        variables: GroupVariables,
        leaf: int,
        usable: list[tuple[int, NodeClass, int]],
        claims: list[list[Demand]],
    ) -> None:
        """A variable for each bin of a leaf, where every gang is one pod."""
        group, place, first = variables.home[leaf]
        pods = variables.pods[0, leaf]
        most = self.program.high[first]
        split: list[tuple[NodeClass, Terms]] = []
        for position, bin_, fit in usable:
            variable = first
            if split:
                variable = self.program.variable(most)
                group.places.append((place, variable))
                pods.append((1, variable))
            self.program.high[variable] = min(most, fit)
            here: Terms = [(1, variable)]
            split.append((bin_, here))
            claims[position].append(Demand(variables.unit.kind.requests[0], here, fit))
        if not split:
            self.program.high[first] = 0
        variables.bins[0, leaf] = split
