"""A found relocation carried over to a finer model, but for what touches a few leaves.

Where the numbers of a leaf cannot be put on its nodes, most of what was found is still good.
Leaves of the finer model that were fine keep at least what stood or went there, so that only
what touches the others is decided anew: a small problem, and its optimum often reaches the
bound of the coarse one, which is a bound of the finer one as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass

from fourleaf.model.gang import GangKey
from fourleaf.solver.cpsat.program import Terms
from fourleaf.solver.relocation.formulation import Formulation


@dataclass(frozen=True, slots=True)
class CoarseSolution:
    """What one relocation chose: the gangs that stay, and how many go to each place."""

    stays: frozenset[GangKey]
    counts: dict[Hashable, int]


def found_in(relocation: Formulation, values: list[int]) -> CoarseSolution:
    """What the values of a relocation say, in words that fit any model of the same participants."""
    counts = {
        key: number
        for key, terms, _ in _choices(relocation)
        if (number := sum(values[variable] for _, variable in terms))
    }
    return CoarseSolution(frozenset(one.key for one in relocation.stays(values)), counts)


def hold(relocation: Formulation, found: CoarseSolution, free: Collection[int]) -> None:
    """Rows that keep what was found, but for what touches the leaves `free`."""
    program = relocation.program
    loose = set(free)
    leaf_of = relocation.participants.state.fabric.leaf_of
    for key, terms, leaves in _choices(relocation):
        least = found.counts.get(key, 0)
        if least and not loose & set(leaves):
            program.row(terms, least, sum(program.high[variable] for _, variable in terms))
    for movers, staying in relocation.stay_counts():
        seats = {leaf_of[node] for one in movers for _, node in one.seats}
        least = sum(one.key in found.stays for one in movers)
        if least and not loose & seats:
            program.row([(1, staying)], least, len(movers))


def spines_of(relocation: Formulation, leaves: Collection[int]) -> frozenset[int]:
    """All leaves of the spines in which these lie."""
    fabric = relocation.participants.state.fabric
    spines = {fabric.spine_of[leaf] for leaf in leaves}
    return frozenset(leaf for leaf, spine in enumerate(fabric.spine_of) if spine in spines)


def _choices(relocation: Formulation) -> Iterator[tuple[Hashable, Terms, tuple[int, ...]]]:
    """(name, number of gangs there, its leaves) of each place that a group may choose."""
    spine_leaves = relocation.participants.state.fabric.spine_leaves
    for name, variables in relocation.named_units():
        at: dict[int, Terms] = defaultdict(list)
        leaves: dict[int, tuple[int, ...]] = {}
        for place, variable in variables.choices():
            at[place.number].append((1, variable))
            leaves[place.number] = tuple(leaf for leaf, _ in place.takes)
        for number, terms in at.items():
            yield (name, "place", number), terms, leaves[number]
        for spine, variable in variables.spines:
            yield (name, "spine", spine), [(1, variable)], spine_leaves[spine]
