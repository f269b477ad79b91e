"""The program of a relocation: who stays, who goes, who is placed.

Movers that stay are residents of the layout. Those that go are counted, together with gangs
that look for a place, by the same integers per location as in "who". A mover that could keep
some of its members has a unit of its own beside (`fourleaf.solver.relocation.partial_moves`). So

    gangs placed of a party = movers of the party that neither stay nor go in part
                              + applicants of the party that are placed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

from fourleaf.model.gang import Gang
from fourleaf.solver.cpsat.builder import Model
from fourleaf.solver.cpsat.constraints.uplinks import add_uplinks
from fourleaf.solver.cpsat.decode import PlacedGang, decode, misfits, staying
from fourleaf.solver.cpsat.lexicographic import TierClass
from fourleaf.solver.cpsat.program import Program, Terms
from fourleaf.solver.cpsat.residents import Resident
from fourleaf.solver.cpsat.variables import GroupVariables
from fourleaf.solver.instance.gang_classes import GangGroup, gang_order
from fourleaf.solver.objective.scorer import Scorer
from fourleaf.solver.relocation.partial_moves import alone, near_unit, plain_leaves
from fourleaf.solver.relocation.participants import Mover, MoveScope, Participants


class Formulation:
    """Variables and rows of one relocation; `refined` leaves are modelled node by node."""

    def __init__(self, cast: Participants, refined: frozenset[int]) -> None:
        self.cast = cast
        self.program = Program()
        view, factory = cast.view, cast.factory
        goers = [m.whole for m in cast.movers if m.reach is not MoveScope.NOWHERE]
        units = factory.for_who([*goers, *cast.applicants])
        self._number = {id(unit): number for number, unit in enumerate(units)}
        self._party = {
            id(gang): (unit, number)
            for unit in units
            for number, party in enumerate(unit.parties)
            for gang in party.gangs
        }
        phantoms = [unit for _, unit in cast.phantoms]
        plain = plain_leaves(view, [*units, *phantoms]) - refined
        self._near: dict[Mover, GangGroup] = {}
        for mover in cast.movers:
            base = self._base(mover)
            if base is not None and mover.seats and sum(base.kind.sizes) > 1:
                near = near_unit(view, mover, base, plain)
                if near is not None:
                    self._near[mover] = near
        self._going = {mover for mover in cast.movers if self._may_go(mover)}
        wanted = {id(gang) for gang in cast.applicants}
        wanted |= {id(mover.whole) for mover in self._going}
        units = [u for u in units if any(id(g) in wanted for p in u.parties for g in p.gangs)]
        residents = self._residents()
        self.layout = Model(
            self.program,
            view,
            [*units, *self._near.values(), *phantoms],
            refined | _crowded(cast),
            residents=residents,
        )
        add_uplinks(self.layout, Scorer(view))
        self._variables = {id(v.unit): v for v in self.layout.units}
        self.classes: list[TierClass] = []
        self._add_choices(units)

    def _base(self, mover: Mover) -> GangGroup | None:
        known = self._party.get(id(mover.whole))
        return None if known is None else known[0]

    def _may_go(self, mover: Mover) -> bool:
        base = self._base(mover)
        if base is None or (mover.reach is MoveScope.SPINES and mover.seats):
            return False
        return not (alone(base) and mover in self._near)

    def _residents(self) -> list[Resident]:
        """Movers as they stand. A mover with a variable beside `stays` stands singly."""
        self._mover_of: dict[Resident, Mover] = {}
        for mover in self.cast.movers:
            party = self._party.get(id(mover.whole))
            alike: object = mover
            if not mover.hit and mover not in self._near:
                price = (mover.whole.priority, mover.price, mover.live)
                quota = mover.key.namespace if self.cast.droppable else ""
                alike = (None if party is None else (id(party[0]), party[1]), price, quota)
            self._mover_of[mover.resident(self.cast.view.ground, alike)] = mover
        return list(self._mover_of)

    def _add_choices(self, units: list[GangGroup]) -> None:
        """Tie the counts of the layout to who stays, goes, and is placed."""
        program = self.program
        left: dict[tuple[int, int], Terms] = defaultdict(list)
        number: dict[tuple[int, int], int] = defaultdict(int)
        for movers, stay in self.may_stay():
            terms: Terms = [(1, stay)]
            first = movers[0]
            if first in self._near:
                terms += self._placed(self._near[first], 0)
            if first in self._going:
                unit, party = self._party[id(first.whole)]
                left[id(unit), party] += terms
                number[id(unit), party] += len(movers)
                if len(terms) > 1:
                    program.at_most(terms, 1)
            elif self.cast.droppable:
                program.at_most(terms, len(movers))
            else:
                program.equal(terms, len(movers))
            if first.hit:
                self._add_life(first, stay)
        for gang_class in self._applicants(units):
            unit = units[gang_class.unit]
            left[id(unit), gang_class.party].append((-1, gang_class.variable))
        for unit in units:
            for party in range(len(unit.parties)):
                key = (id(unit), party)
                program.equal([*self._placed(unit, party), *left[key]], number[key])

    def _add_life(self, mover: Mover, stay: int) -> None:
        """A hit gang lives unless it stays as it is."""
        lives = self.program.variable(1)
        self.program.equal([(1, lives), (1, stay)], 1)
        gang = mover.whole
        value = self.cast.value(gang)
        self.classes.append(TierClass(-1, 0, gang.priority, value, [gang], variable=lives))

    def _applicants(self, units: list[GangGroup]) -> list[TierClass]:
        found: dict[object, TierClass] = {}
        position = {id(unit): number for number, unit in enumerate(units)}
        for gang in self.cast.applicants:
            unit, party = self._party[id(gang)]
            value = self.cast.value(gang)
            key = (id(unit), party, gang.priority, value, gang.key.namespace)
            if key not in found:
                found[key] = TierClass(position[id(unit)], party, gang.priority, value, [])
            found[key].gangs.append(gang)
        for group in found.values():
            group.variable = self.program.variable(len(group.gangs))
            if self.cast.must:
                self.program.equal([(1, group.variable)], len(group.gangs))
        self.classes += found.values()
        return list(found.values())

    def _placed(self, unit: GangGroup, party: int) -> Terms:
        return self._variables[id(unit)].placed(party)

    def moved(self, price: bool) -> tuple[Terms, int]:
        """What is saved by not moving pods: terms to maximize, and what they are taken from.

        Each pod counts at its gang's price, or as one where `price` is false.
        """
        terms: Terms = []
        total = 0
        for movers, stay in self.may_stay():
            mover = movers[0]
            each = mover.standing.move_cost if price else 1
            terms.append((each * mover.live, stay))
            total += each * mover.live * len(movers)
            if mover in self._near:
                variables = self._variables[id(self._near[mover])]
                terms += [
                    (each * count, variable)
                    for found in variables.kept.values()
                    for _, _, kept in found
                    for count, variable in kept
                ]
        return terms, total

    def may_stay(self) -> list[tuple[list[Mover], int]]:
        """Movers that are the same to every row, and the variable that counts who of them stays."""
        return [
            ([self._mover_of[one] for one in keep.residents], keep.variable)
            for keep in self.layout.keeps
        ]

    def named_units(self) -> list[tuple[Hashable, GroupVariables]]:
        """Every unit but the phantoms, under a name that all models of the cast share."""
        near = {id(unit): mover.key for mover, unit in self._near.items()}
        return [
            (near.get(id(v.unit), self._number.get(id(v.unit))), v)
            for v in self.layout.units
            if not v.unit.phantom
        ]

    def room(self) -> Terms:
        """The value of the rooms that are kept for likely gangs."""
        return [
            (likely.value, variable)
            for likely, unit in self.cast.phantoms
            for _, variable in self._placed(unit, 0)
        ]

    def misfits(self, values: list[int]) -> frozenset[int]:
        """Leaves where the values obey the rows but the pods cannot be put on the nodes."""
        return misfits(self.layout, values)

    def stays(self, values: list[int]) -> set[Mover]:
        """The movers that stay where they are, whole."""
        return {self._mover_of[one] for one in staying(self.layout, values)}

    def decode(self, values: list[int]) -> dict[int, PlacedGang]:
        """Identity of each gang that is placed anew or in part -> where; one that breaks no law."""
        stays = self.stays(values)
        in_part = {
            mover
            for mover, unit in self._near.items()
            if any(values[variable] for _, variable in self._placed(unit, 0))
        }
        placed: dict[tuple[int, int], list[Gang]] = {}
        for position, variables in enumerate(self.layout.units):
            if not variables.unit.phantom and variables.unit.stand is None:
                for party in range(len(variables.unit.parties)):
                    placed[position, party] = []
        where = {id(v.unit): position for position, v in enumerate(self.layout.units)}
        for mover in self._going - stays - in_part:
            unit, party = self._party[id(mover.whole)]
            placed[where[id(unit)], party].append(mover.whole)
        for group in self.classes:
            if group.unit >= 0:
                gangs = sorted(group.gangs, key=gang_order)
                placed[group.unit, group.party] += gangs[: values[group.variable]]
        for gangs in placed.values():
            gangs.sort(key=gang_order)
        found = decode(self.layout, values, placed)
        return {id(one.gang): one for one in found.gangs if not one.unit.phantom}


def _crowded(cast: Participants) -> frozenset[int]:
    """Leaves with nodes that the movers overcommit: only node by node are their rows exact."""
    ground = cast.view.ground
    held: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    odd: set[int] = set()
    for mover in cast.movers:
        for (role, node), pods in mover.seats.items():
            asked = mover.whole.roles[role].request
            row = held[node]
            row[0] += asked.gpus * pods
            row[1] += (asked.cpu or 0) * pods
            row[2] += (asked.memory or 0) * pods
            row[3] += asked.pods * pods
            if asked.extra:
                odd.add(ground.leaf_of[node])
    for node, row in held.items():
        free = cast.view.free[node]
        have = (free.gpus, free.cpu, free.memory, free.pods)
        if any(h is not None and want > h for want, h in zip(row, have, strict=True)):
            odd.add(ground.leaf_of[node])
    return frozenset(odd)
