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

from solver.bins import Bin, bins_of
from solver.dominance import Usable, prune
from solver.laws.capacity import Claim, add_capacity
from solver.laws.nodes import add_node_laws, add_phantom_law
from solver.loose import add_loose
from solver.program import Program, Terms
from solver.scorer import Scorer
from solver.units import Unit
from solver.variables import Class, UnitVariables
from solver.view import View


class Layout:
    """Variables and capacity rows for some units on one view.

    `refined` are the leaves whose nodes are modelled one by one. `scorer` is given where
    places are compared, not just counted; nodes of different worth are then kept apart.
    """

    def __init__(
        self,
        program: Program,
        view: View,
        units: list[Unit],
        refined: frozenset[int],
        scorer: Scorer | None = None,
    ) -> None:
        self.program = program
        self.view = view
        self.scorer = scorer
        self.units = [UnitVariables(unit) for unit in units]
        usable = [(unit, self._usable(unit)) for unit in units]
        self._skipped = prune(view, scorer, usable) if scorer else {}
        for variables, (unit, places) in zip(self.units, usable, strict=True):
            if unit.loose:
                add_loose(program, view, variables)
            else:
                self._add_places(variables, places)
        careful = (v for v in self.units if v.unit.careful)
        self.refined = refined | {leaf for v in careful for _, leaf in v.pods}
        self.inexact: list[Bin] = []
        """Bins whose rows may admit numbers of pods that cannot be packed."""
        self._add_bins()
        for variables in self.units:
            if len(variables.unit.parties) > 1:
                self._add_flows(variables)
            if variables.unit.careful:
                add_node_laws(program, view, variables)

    def _usable(self, unit: Unit) -> dict[int, Usable]:
        """Locations with room now, by number."""
        usable: dict[int, Usable] = {}
        if unit.loose:
            return usable
        for number, party in enumerate(unit.parties):
            if unit.bound:
                room = self.view.room(unit.kind).by_leaf
                places = [(p, 1) for p in party.locations.required if unit.fit_bound(p, room)]
            else:
                places = self.view.open_places(party.kind, party.locations)
            if self.scorer:
                worth = self.scorer.alignment(unit, party, [place for place, _ in places])
            else:
                worth = [0] * len(places)
            for (place, fit), points in zip(places, worth, strict=True):
                known = usable.get(place.number)
                if known is None:
                    usable[place.number] = Usable(place, min(fit, unit.most), [(number, points)])
                else:
                    known.worth.append((number, points))
        return usable

    def _add_places(self, variables: UnitVariables, usable: dict[int, Usable]) -> None:
        unit = variables.unit
        classes: dict[tuple[tuple[int, int], ...], Class] = {}
        pods: dict[tuple[int, int], Terms] = defaultdict(list)
        plain = len(unit.roles) == 1 and not unit.bound
        for entry in usable.values():
            place, kinship = entry.place, tuple(entry.worth)
            group = classes.get(kinship)
            if group is None:
                group = classes[kinship] = Class(dict(entry.worth))
            variable = self.program.variable(entry.fit)
            group.places.append((place, variable))
            for leaf, counts in place.takes:
                if plain:
                    pods[0, leaf].append((counts[0], variable))
                    continue
                for role, count in enumerate(unit.new_pods(leaf, counts)):
                    if count:
                        pods[role, leaf].append((count, variable))
            if unit.kind.sizes == (1,) and not unit.bound:
                variables.home[place.takes[0][0]] = (group, place, variable)
        variables.pods = pods
        variables.classes = list(classes.values())

    def _add_flows(self, variables: UnitVariables) -> None:
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

    def _add_bins(self) -> None:
        users: dict[int, list[tuple[int, UnitVariables, int]]] = defaultdict(list)
        for number, variables in enumerate(self.units):
            for role, leaf in variables.pods:
                users[leaf].append((number, variables, role))
        for leaf in sorted(users):
            kinds = [(v.unit.kind, role) for _, v, role in users[leaf]]
            bins = bins_of(self.view, leaf, kinds, self.scorer is not None, leaf in self.refined)
            claims: list[list[Claim]] = [[] for _ in bins]
            for number, variables, role in users[leaf]:
                self._split(number, variables, role, leaf, bins, claims)
            for bin_, claimed in zip(bins, claims, strict=True):
                if claimed:
                    if not add_capacity(self.program, self.view, bin_, claimed):
                        self.inexact.append(bin_)
                    phantoms = [variables for _, variables, _ in users[leaf]]
                    add_phantom_law(self.program, self.view, bin_, phantoms)

    def _split(
        self,
        number: int,
        variables: UnitVariables,
        role: int,
        leaf: int,
        bins: list[Bin],
        claims: list[list[Claim]],
    ) -> None:
        """Spread the pods of one role in one leaf over the bins that take them."""
        unit = variables.unit
        room = self.view.room(unit.kind)
        by_node = room.by_node[role]
        request = unit.kind.requests[role]
        one = unit.kind.key.one_per_node
        pods = variables.pods[role, leaf]
        if len(bins) == 1 and not unit.bound_nodes:
            variables.bins[role, leaf] = [(bins[0], pods)]
            claims[0].append(Claim(request, pods, room.by_leaf[role][leaf]))
            return
        usable = []
        skipped = self._skipped.get(number, ())
        for position, bin_ in enumerate(bins):
            if skipped and (leaf, self.view.comfort_id[bin_.node]) in skipped:
                continue
            if one:
                fit = sum([by_node[i] > 0 and i not in unit.bound_nodes for i in bin_.nodes])
            else:
                fit = sum([by_node[i] for i in bin_.nodes])
            if fit:
                usable.append((position, bin_, fit))
        if len(usable) == 1:
            position, bin_, fit = usable[0]
            variables.bins[role, leaf] = [(bin_, pods)]
            claims[position].append(Claim(request, pods, fit))
            if fit < room.by_leaf[role][leaf]:
                self.program.at_most(pods, fit)
            return
        if leaf in variables.home:
            self._settle_home(variables, leaf, usable, claims)
            return
        split: list[tuple[Bin, Terms]] = []
        for position, bin_, fit in usable:
            here: Terms = [(1, self.program.variable(fit))]
            split.append((bin_, here))
            claims[position].append(Claim(request, here, fit))
        variables.bins[role, leaf] = split
        parts = [(-count, variable) for _, terms in split for count, variable in terms]
        self.program.equal([*pods, *parts], 0)

    def _settle_home(
        self,
        variables: UnitVariables,
        leaf: int,
        usable: list[tuple[int, Bin, int]],
        claims: list[list[Claim]],
    ) -> None:
        """A variable for each bin of a leaf, where every gang is one pod."""
        group, place, first = variables.home[leaf]
        pods = variables.pods[0, leaf]
        most = self.program.high[first]
        split: list[tuple[Bin, Terms]] = []
        for position, bin_, fit in usable:
            variable = first
            if split:
                variable = self.program.variable(most)
                group.places.append((place, variable))
                pods.append((1, variable))
            self.program.high[variable] = min(most, fit)
            here: Terms = [(1, variable)]
            split.append((bin_, here))
            claims[position].append(Claim(variables.unit.kind.requests[0], here, fit))
        if not split:
            self.program.high[first] = 0
        variables.bins[0, leaf] = split
