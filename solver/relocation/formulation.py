"""The program of a relocation: who stays, who goes, who is placed.

Movers that stay are residents of the model. Those that go are counted, together with gangs
that look for a place, by the same integers per candidate as in "who". A mover that could keep
some of its members has a group of its own beside (`fourleaf.solver.relocation.partial_moves`). So

    gangs placed of a gang class = movers of the gang class that neither stay nor go in part
                              + applicants of the gang class that are placed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

from fourleaf.model.gang import Gang, GangKey
from fourleaf.solver.cpsat.builder import build
from fourleaf.solver.cpsat.decode import PlacedGang, decode, misfits, staying
from fourleaf.solver.cpsat.lexicographic import TierClass
from fourleaf.solver.cpsat.program import Terms
from fourleaf.solver.cpsat.residents import Resident
from fourleaf.solver.cpsat.variables import GroupVariables
from fourleaf.solver.instance.gang_classes import GangGroup, gang_order
from fourleaf.solver.objective.scorer import Scorer
from fourleaf.solver.relocation.eviction_rows import EvictionRows, LimitIndex
from fourleaf.solver.relocation.partial_moves import alone, near_unit, plain_leaves
from fourleaf.solver.relocation.participants import Mover, MoveScope, Participants


class Formulation:
    """Variables and rows of one relocation; `refined` leaves are modelled node by node."""

    def __init__(self, participants: Participants, refined: frozenset[int]) -> None:
        self.participants = participants
        state, factory = participants.state, participants.factory
        goers = [m.whole for m in participants.movers if m.reach is not MoveScope.NOWHERE]
        groups = factory.for_who([*goers, *participants.applicants])
        self._number = {group: number for number, group in enumerate(groups)}
        self._place_of = {
            gang.key: (group, number)
            for group in groups
            for number, gang_class in enumerate(group.gang_classes)
            for gang in gang_class.gangs
        }
        self._limits = LimitIndex(participants.limits)
        phantoms = [group for _, group in participants.phantoms]
        plain = plain_leaves(state, [*groups, *phantoms]) - refined
        self._near: dict[Mover, GangGroup] = {}
        for mover in participants.movers:
            base = self._base(mover)
            if base is not None and mover.seats and sum(base.kind.sizes) > 1:
                near = near_unit(state, mover, base, plain)
                if near is not None:
                    self._near[mover] = near
        self._going = {mover for mover in participants.movers if self._may_go(mover)}
        wanted = {gang.key for gang in participants.applicants}
        wanted |= {mover.key for mover in self._going}
        groups = [
            u for u in groups if any(g.key in wanted for p in u.gang_classes for g in p.gangs)
        ]
        self.model = build(
            state,
            [*groups, *self._near.values(), *phantoms],
            refined | _crowded(participants),
            Scorer(state),
            residents=self._residents(),
        )
        self.program = self.model.program
        self._variables = {v.group: v for v in self.model.groups}
        self.classes: list[TierClass] = []
        self.evictions = EvictionRows(self.program, participants.limits, participants.elastic)
        self._add_choices(groups)
        self.evictions.close()

    def _base(self, mover: Mover) -> GangGroup | None:
        known = self._place_of.get(mover.key)
        return None if known is None else known[0]

    def _may_go(self, mover: Mover) -> bool:
        base = self._base(mover)
        if base is None or (mover.reach is MoveScope.SPINES and mover.seats):
            return False
        return not (alone(base) and mover in self._near)

    def _residents(self) -> list[Resident]:
        """Movers as they stand. A mover with a variable beside `stays` stands singly."""
        self._mover_of: dict[Resident, Mover] = {}
        for mover in self.participants.movers:
            gang_class = self._place_of.get(mover.key)
            alike: object = mover
            if not mover.hit and mover not in self._near:
                price = (mover.whole.priority, mover.price, mover.live)
                quota = mover.key.namespace if self.participants.droppable else ""
                alike = (
                    None if gang_class is None else gang_class,
                    price,
                    quota,
                    self._limits.counted(mover.standing.gang),
                )
            self._mover_of[mover.resident(self.participants.state.fabric, alike)] = mover
        return list(self._mover_of)

    def _add_choices(self, groups: list[GangGroup]) -> None:
        """Tie the counts of the model to who stays, goes, and is placed."""
        program = self.program
        left: dict[tuple[GangGroup, int], Terms] = defaultdict(list)
        number: dict[tuple[GangGroup, int], int] = defaultdict(int)
        for movers, stay in self.stay_counts():
            terms: Terms = [(1, stay)]
            first = movers[0]
            if first in self._near:
                terms += self._placed(self._near[first], 0)
            if first in self._going:
                group, gang_class = self._place_of[first.key]
                left[group, gang_class] += terms
                number[group, gang_class] += len(movers)
                if len(terms) > 1:
                    program.at_most(terms, 1)
            elif self.participants.droppable:
                program.at_most(terms, len(movers))
            else:
                program.equal(terms, len(movers))
            if first.hit:
                self._add_life(first, stay)
            self._add_evictions(movers, stay)
        for tier_class in self._applicants(groups):
            group = groups[tier_class.group]
            left[group, tier_class.gang_class].append((-1, tier_class.variable))
        for group in groups:
            for gang_class in range(len(group.gang_classes)):
                key = (group, gang_class)
                program.equal([*self._placed(group, gang_class), *left[key]], number[key])

    def _add_life(self, mover: Mover, stay: int) -> None:
        """A hit gang lives unless it stays as it is."""
        lives = self.program.variable(1)
        self.program.equal([(1, lives), (1, stay)], 1)
        gang = mover.whole
        value = self.participants.value(gang)
        self.classes.append(TierClass(-1, 0, gang.priority, value, [gang], variable=lives))

    def _add_evictions(self, movers: list[Mover], stay: int) -> None:
        """What is evicted of movers that are the same to every row; lost members with the rest."""
        first = movers[0]
        for number, live, lost in self._limits.counted(first.standing.gang):
            if lost and first.hit:
                self.evictions.add(number, [(-lost, stay)], lost)
            if live and first not in self._near:
                self.evictions.add(number, [(-live, stay)], live * len(movers))
            elif live:
                gone = [(-first.live, stay), *((-count, v) for count, v in self._kept(first))]
                self.evictions.add_in_part(number, live, gone, first.live)

    def _applicants(self, groups: list[GangGroup]) -> list[TierClass]:
        found: dict[object, TierClass] = {}
        position = {group: number for number, group in enumerate(groups)}
        for gang in self.participants.applicants:
            group, gang_class = self._place_of[gang.key]
            value = self.participants.value(gang)
            counted = self._limits.counted(gang)
            key = (group, gang_class, gang.priority, value, gang.key.namespace, counted)
            if key not in found:
                found[key] = TierClass(position[group], gang_class, gang.priority, value, [])
            found[key].gangs.append(gang)
        for tier_class in found.values():
            tier_class.variable = self.program.variable(len(tier_class.gangs))
            if self.participants.must:
                self.program.equal([(1, tier_class.variable)], len(tier_class.gangs))
            for number, _, lost in self._limits.counted(tier_class.gangs[0]):
                self.evictions.add(number, [(lost, tier_class.variable)])
        self.classes += found.values()
        return list(found.values())

    def _placed(self, group: GangGroup, gang_class: int) -> Terms:
        return self._variables[group].placed(gang_class)

    def moved(self, price: bool) -> tuple[Terms, int]:
        """What is saved by not moving pods: terms to maximize, and what they are taken from.

        Each pod counts at its gang's price, or as one where `price` is false.
        """
        terms: Terms = []
        total = 0
        for movers, stay in self.stay_counts():
            mover = movers[0]
            each = mover.standing.move_cost if price else 1
            terms.append((each * mover.live, stay))
            total += each * mover.live * len(movers)
            if mover in self._near:
                terms += [(each * count, variable) for count, variable in self._kept(mover)]
        return terms, total

    def _kept(self, mover: Mover) -> Terms:
        """The members that stay of a mover that goes in part."""
        variables = self._variables[self._near[mover]]
        return [term for found in variables.kept.values() for _, _, kept in found for term in kept]

    def stay_counts(self) -> list[tuple[list[Mover], int]]:
        """Movers that are the same to every row, and the variable that counts who of them stays."""
        return [
            ([self._mover_of[one] for one in keep.residents], keep.variable)
            for keep in self.model.keeps
        ]

    def named_units(self) -> list[tuple[Hashable, GroupVariables]]:
        """Every group but the phantoms, under a name that all of its models share."""
        near = {group: mover.key for mover, group in self._near.items()}
        return [
            (near.get(v.group, self._number.get(v.group)), v)
            for v in self.model.groups
            if not v.group.phantom
        ]

    def room(self) -> Terms:
        """The value of the rooms that are kept for likely gangs."""
        return [
            (likely.value, variable)
            for likely, group in self.participants.phantoms
            for _, variable in self._placed(group, 0)
        ]

    def misfits(self, values: list[int]) -> frozenset[int]:
        """Leaves where the values obey the rows but the pods cannot be put on the nodes."""
        return misfits(self.model, values)

    def stays(self, values: list[int]) -> set[Mover]:
        """The movers that stay where they are, whole."""
        return {self._mover_of[one] for one in staying(self.model, values)}

    def decode(self, values: list[int]) -> dict[GangKey, PlacedGang]:
        """Key of each gang that is placed anew or in part -> where; one that breaks no law."""
        stays = self.stays(values)
        in_part = {
            mover
            for mover, group in self._near.items()
            if any(values[variable] for _, variable in self._placed(group, 0))
        }
        placed: dict[tuple[int, int], list[Gang]] = {}
        for position, variables in enumerate(self.model.groups):
            if not variables.group.phantom and variables.group.current_seats is None:
                for gang_class in range(len(variables.group.gang_classes)):
                    placed[position, gang_class] = []
        where = {v.group: position for position, v in enumerate(self.model.groups)}
        for mover in self._going - stays - in_part:
            group, gang_class = self._place_of[mover.key]
            placed[where[group], gang_class].append(mover.whole)
        for tier_class in self.classes:
            if tier_class.group >= 0:
                gangs = sorted(tier_class.gangs, key=gang_order)
                placed[tier_class.group, tier_class.gang_class] += gangs[
                    : values[tier_class.variable]
                ]
        for gangs in placed.values():
            gangs.sort(key=gang_order)
        found = decode(self.model, values, placed)
        return {one.gang.key: one for one in found.gangs if not one.group.phantom}


def _crowded(participants: Participants) -> frozenset[int]:
    """Leaves with nodes that the movers overcommit: only node by node are their rows exact."""
    fabric = participants.state.fabric
    held: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    odd: set[int] = set()
    for mover in participants.movers:
        for (role, node), pods in mover.seats.items():
            asked = mover.whole.roles[role].request
            row = held[node]
            row[0] += asked.gpus * pods
            row[1] += (asked.cpu or 0) * pods
            row[2] += (asked.memory or 0) * pods
            row[3] += asked.pods * pods
            if asked.extra:
                odd.add(fabric.leaf_of[node])
    for node, row in held.items():
        free = participants.state.free[node]
        have = (free.gpus, free.cpu, free.memory, free.pods)
        if any(h is not None and want > h for want, h in zip(row, have, strict=True)):
            odd.add(fabric.leaf_of[node])
    return frozenset(odd)
