"""Gangs that need no model to be counted: those of one leaf, seated beside the scarce ones.

Whether a batch fits is decided by its largest gangs. So "who" asks the solver about those
alone, as if all others could be placed: no plan places more. Where the others then find room
one after the other, that bound is reached and the answer is the best one; where some do not,
the solver is asked about all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fourleaf.model.gang import Gang
from fourleaf.model.resources import Resources
from fourleaf.solver.cpsat.decode import PlacedGang
from fourleaf.solver.instance.amount_cache import AmountCache
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangClass, GangGroup


def plain(group: GangGroup) -> bool:
    """Whether its gangs need no more than room in one leaf, whichever devices are free there."""
    return group.in_one_leaf and group.kind.requests[0].wants is None


def demand(group: GangGroup) -> tuple[int, int, int]:
    """How much room one gang needs: GPUs, CPU, memory."""
    ((request,), (pods,)) = group.kind.requests, group.kind.sizes
    return pods * request.gpus, pods * (request.cpu or 0), pods * (request.memory or 0)


class FirstFit:
    """What is free on every node while gangs are seated one after the other.

    Devices are left out: who demands nothing of them takes what others leave.
    """

    def __init__(self, state: CycleState, placed: Iterable[PlacedGang]) -> None:
        self._state = state
        self._free: list[Resources] = list(state.free)
        self._rest = AmountCache()
        gpus = state.slots(1)
        self._gpus = [sum(gpus[nodes.start : nodes.stop]) for nodes in state.fabric.in_leaf]
        for one in placed:
            for request, nodes in zip(one.group.kind.requests, one.nodes, strict=True):
                self._take(request, nodes)

    def seat(self, group: GangGroup, gangs: Mapping[int, list[Gang]]) -> list[PlacedGang] | None:
        """Nodes for the gangs of a plain group, by gang class; `None` where not all find room.

        The gang classes that may use the fewest nodes come first, the fullest leaves as well.
        """
        seated: list[PlacedGang] = []
        for number in sorted(gangs, key=lambda number: group.gang_classes[number].kind.breadth):
            gang_class, waiting = group.gang_classes[number], gangs[number]
            leaves = iter(self._leaves(gang_class))
            leaf = next(leaves, None)
            for gang in waiting:
                while leaf is not None and (nodes := self._find(gang_class, leaf)) is None:
                    leaf = next(leaves, None)
                if leaf is None or nodes is None:
                    return None
                seated.append(PlacedGang(gang, group, [nodes]))
        return seated

    def _leaves(self, gang_class: GangClass) -> list[int]:
        (request,), (pods,) = gang_class.kind.requests, gang_class.kind.sizes
        gpus, least = self._gpus, pods * request.gpus
        places = self._state.open_places(gang_class.kind, gang_class.candidates)
        leaves = [leaf for place, _ in places for leaf, _ in place.takes if gpus[leaf] >= least]
        return sorted(leaves, key=gpus.__getitem__)

    def _find(self, gang_class: GangClass, leaf: int) -> list[int] | None:
        """Take the nodes of the leaf for one gang, each pod where it leaves fewest GPUs."""
        (request,), (pods,) = gang_class.kind.requests, gang_class.kind.sizes
        free = self._free
        nodes: list[int] = []
        roomy = [i for i in gang_class.kind.eligible[0][leaf] if free[i].gpus >= request.gpus]
        for i in sorted(roomy, key=lambda i: (free[i].gpus, i)):
            nodes += [i] * min(pods - len(nodes), self._rest.fits(free[i], request))
            if len(nodes) == pods:
                self._take(request, nodes)
                return nodes
        return None

    def _take(self, request: Resources, nodes: list[int]) -> None:
        for node in nodes:
            self._free[node] = self._rest.after(self._free[node], request)
            self._gpus[self._state.fabric.leaf_of[node]] -= request.gpus
