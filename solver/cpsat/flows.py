"""Flows: how many gangs of each gang class stand in each candidate class of a group.

A transport problem: integral, and small however many candidates there are. A flow for each gang
class and candidate class grows with the square of what gangs wish for, though a place is worth more
than elsewhere only to those whose preferred domain it meets. So in large programs candidate classes
that the same gang classes may use, over as many leaves and spines, share the flows of all gangs
that gain nothing there, and have flows of their own for the others alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

from fourleaf.solver.cpsat.program import Program
from fourleaf.solver.cpsat.variables import CandidateClass, GroupVariables, SharedFlows


def add_flows(program: Program, variables: GroupVariables, shared: bool) -> None:
    """The flows of a group of several gang classes, those that gain nothing `shared` or apart."""
    alike: dict[Hashable, list[CandidateClass]] = defaultdict(list)
    for number, candidate_class in enumerate(variables.classes):
        span = candidate_class.places[0][0].span
        key = (tuple(candidate_class.worth), span) if shared else number
        alike[key].append(candidate_class)
    gangs = [len(gang_class.gangs) for gang_class in variables.group.gang_classes]
    for classes in alike.values():
        if len(classes) == 1:
            one = classes[0]
            one.flows = {number: program.variable(gangs[number]) for number in one.worth}
            placed = [(-1, variable) for _, variable in one.places]
            program.equal([*[(1, flow) for flow in one.flows.values()], *placed], 0)
        else:
            variables.shared.append(_share(program, classes, gangs))


def _share(
    program: Program, classes: Sequence[CandidateClass], gangs: Sequence[int]
) -> SharedFlows:
    """One flow a gang class for all `classes`, and flows of their own where they are worth more."""
    least = {number: min(one.worth[number] for one in classes) for number in classes[0].worth}
    shared = SharedFlows(least, {number: program.variable(gangs[number]) for number in least})
    balance = [(1, flow) for flow in shared.flows.values()]
    for one in classes:
        one.flows = {
            number: program.variable(gangs[number])
            for number, points in one.worth.items()
            if points > least[number]
        }
        placed = [(-1, variable) for _, variable in one.places]
        own = [(1, flow) for flow in one.flows.values()]
        if own:
            program.at_most([*own, *placed], 0)
        balance += [*own, *placed]
        shared.classes.append(one)
    program.equal(balance, 0)
    return shared
