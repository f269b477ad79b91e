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
from dataclasses import dataclass, field

from solver.bins import Bin, bins_of
from solver.dominance import Usable, prune
from solver.kinds import Counts
from solver.laws.capacity import Claim, add_capacity
from solver.locations import Location
from solver.program import Program, Terms
from solver.scorer import Scorer
from solver.units import Unit
from solver.view import View


@dataclass(slots=True)
class Class:
    """Locations that are the same to every party: `worth` by party, for those that may use it.

    `places` are (location, variable); `flows` by party, where there is more than one party.
    """

    worth: dict[int, int]
    places: list[tuple[Location, int]] = field(default_factory=list)
    flows: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class UnitVariables:
    """All variables of one unit.

    `classes` hold its locations; `spines` are (spine, variable) of a loose unit; `takes`
    are its choices (leaf, pods per role, variable). `pods` is, per (role, leaf), the
    expression of its new pods there, and `bins` the same told apart by bin. `home` is, for
    gangs of one pod, the class, location and first variable of a leaf: each bin of it has a
    variable of its own there, so that nothing has to be split.
    """

    unit: Unit
    classes: list[Class] = field(default_factory=list)
    spines: list[tuple[int, int]] = field(default_factory=list)
    takes: list[tuple[int, Counts, int]] = field(default_factory=list)
    pods: dict[tuple[int, int], Terms] = field(default_factory=dict)
    bins: dict[tuple[int, int], list[tuple[Bin, Terms]]] = field(default_factory=dict)
    home: dict[int, tuple[Class, Location, int]] = field(default_factory=dict)

    def choices(self) -> list[tuple[Location, int]]:
        """All (location, variable)."""
        return [choice for group in self.classes for choice in group.places]

    def placed(self, party: int) -> Terms:
        """The number of gangs of one party that are placed, as an expression."""
        if self.spines:
            return [(1, variable) for _, variable in self.spines]
        if len(self.unit.parties) == 1:
            return [(1, variable) for _, variable in self.choices()]
        return [(1, group.flows[party]) for group in self.classes if party in group.flows]


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
                self._add_loose(variables)
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
                self._add_node_laws(variables)

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

    def _add_loose(self, variables: UnitVariables) -> None:
        unit = variables.unit
        spine_of = self.view.ground.spine_of
        bound_spines = {spine_of[leaf] if leaf >= 0 else -1 for leaf in unit.bound}
        if len(bound_spines) > 1 or -1 in bound_spines:
            return
        for spine in unit.locations.loose_spines:
            if bound_spines and spine not in bound_spines:
                continue
            chosen = self.program.variable(unit.most)
            variables.spines.append((spine, chosen))
            total: list[Terms] = [[] for _ in unit.roles]
            add = self._add_takes if unit.by_take else self._add_counts
            for leaf in self.view.ground.spine_leaves[spine]:
                add(variables, leaf, chosen, total)
            for role, size in enumerate(unit.kind.sizes):
                self.program.equal([*total[role], (-size, chosen)], 0)

    def _add_counts(
        self, variables: UnitVariables, leaf: int, chosen: int, total: list[Terms]
    ) -> None:
        unit = variables.unit
        room = self.view.room(unit.kind).by_leaf[0][leaf]
        most = min(unit.kind.sizes[0], unit.kind.capacity[leaf])
        if room and most:
            pods = self.program.variable(min(room, most * unit.most))
            self.program.at_most([(1, pods), (-most, chosen)], 0)
            variables.pods[0, leaf] = [(1, pods)]
            total[0].append((1, pods))

    def _add_takes(
        self, variables: UnitVariables, leaf: int, chosen: int, total: list[Terms]
    ) -> None:
        unit = variables.unit
        room = self.view.room(unit.kind).by_leaf
        bound = unit.bound.get(leaf)
        here: Terms = []
        for counts in unit.locations.loose_takes(leaf):
            if bound and any(a < b for a, b in zip(counts, bound, strict=True)):
                continue
            new = unit.new_pods(leaf, counts)
            if any(n > room[role][leaf] for role, n in enumerate(new)):
                continue
            taken = self.program.variable(1)
            variables.takes.append((leaf, counts, taken))
            here.append((1, taken))
            for role, count in enumerate(counts):
                if count:
                    total[role].append((count, taken))
                if new[role]:
                    variables.pods.setdefault((role, leaf), []).append((new[role], taken))
        if bound:
            self.program.equal([*here, (-1, chosen)], 0)
        elif here:
            self.program.at_most([*here, (-1, chosen)], 0)

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
                    self._add_phantom_law(bin_, users[leaf])

    def _add_phantom_law(self, bin_: Bin, users: list[tuple[int, UnitVariables, int]]) -> None:
        """No two phantoms share a node; only nodes that could hold two need a row for it."""
        phantoms = [variables for _, variables, _ in users if variables.unit.phantom]
        if not phantoms:
            return
        room = self.view.room(phantoms[0].unit.kind).by_node[0]
        if any(room[i] > 1 for i in bin_.nodes):
            terms = [
                term
                for variables in phantoms
                for here, expression in variables.bins.get((0, bin_.leaf), [])
                if here is bin_
                for term in expression
            ]
            self.program.at_most(terms, sum(1 for i in bin_.nodes if room[i]))

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

    def _add_node_laws(self, variables: UnitVariables) -> None:
        """One pod per node, and at most so many nodes a leaf, for a unit of one gang."""
        unit = variables.unit
        kind = unit.kind
        pods_on: dict[int, Terms] = defaultdict(list)
        for split in variables.bins.values():
            for bin_, terms in split:
                pods_on[bin_.node].extend(terms)
        opened: dict[int, Terms] = defaultdict(list)
        for node, terms in pods_on.items():
            if kind.key.one_per_node:
                self.program.at_most(terms, 0 if node in unit.bound_nodes else 1)
            if kind.max_nodes is not None and node not in unit.bound_nodes:
                used = self.program.variable(1)
                self.program.at_most([*terms, (-sum(kind.sizes), used)], 0)
                opened[self.view.ground.leaf_of[node]].append((1, used))
        if kind.max_nodes is not None:
            for leaf, terms in opened.items():
                here = self.view.ground.in_leaf[leaf]
                taken = sum(1 for i in unit.bound_nodes if i in here)
                self.program.at_most(terms, kind.max_nodes - taken)
