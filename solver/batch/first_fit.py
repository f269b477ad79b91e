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


def plain(unit: GangGroup) -> bool:
    """Whether all that a gang of the unit needs is room in one of its leaves."""
    return (
        not (unit.loose or unit.careful or unit.bound)
        and len(unit.kind.sizes) == 1
        and unit.kind.requests[0].wants is None
        and all(party.locations.of_one_leaf for party in unit.parties)
    )


def demand(unit: GangGroup) -> tuple[int, int, int]:
    """How much room one gang needs: GPUs, CPU, memory."""
    ((request,), (pods,)) = unit.kind.requests, unit.kind.sizes
    return pods * request.gpus, pods * (request.cpu or 0), pods * (request.memory or 0)


class FirstFit:
    """What is free on every node while gangs are seated one after the other.

    Devices are left out: who demands nothing of them takes what others leave.
    """

    def __init__(self, view: CycleState, placed: Iterable[PlacedGang]) -> None:
        self._view = view
        self._free: list[Resources] = list(view.free)
        self._rest = AmountCache()
        gpus = view.slots(1)
        self._gpus = [sum(gpus[nodes.start : nodes.stop]) for nodes in view.ground.in_leaf]
        for one in placed:
            for request, nodes in zip(one.unit.kind.requests, one.nodes, strict=True):
                self._take(request, nodes)

    def seat(self, unit: GangGroup, gangs: Mapping[int, list[Gang]]) -> list[PlacedGang] | None:
        """Nodes for the gangs of a plain unit, by party; `None` where not all find room.

        The parties that may use the fewest nodes come first, the fullest leaves as well.
        """
        seated: list[PlacedGang] = []
        for number in sorted(gangs, key=lambda number: unit.parties[number].kind.breadth):
            party, waiting = unit.parties[number], gangs[number]
            leaves = iter(self._leaves(party))
            leaf = next(leaves, None)
            for gang in waiting:
                while leaf is not None and (nodes := self._find(party, leaf)) is None:
                    leaf = next(leaves, None)
                if leaf is None or nodes is None:
                    return None
                seated.append(PlacedGang(gang, unit, [nodes]))
        return seated

    def _leaves(self, party: GangClass) -> list[int]:
        (request,), (pods,) = party.kind.requests, party.kind.sizes
        gpus, least = self._gpus, pods * request.gpus
        places = self._view.open_places(party.kind, party.locations)
        leaves = [leaf for place, _ in places for leaf, _ in place.takes if gpus[leaf] >= least]
        return sorted(leaves, key=gpus.__getitem__)

    def _find(self, party: GangClass, leaf: int) -> list[int] | None:
        """Take the nodes of the leaf for one gang, each pod where it leaves fewest GPUs."""
        (request,), (pods,) = party.kind.requests, party.kind.sizes
        free = self._free
        nodes: list[int] = []
        roomy = [i for i in party.kind.eligible[0][leaf] if free[i].gpus >= request.gpus]
        for i in sorted(roomy, key=lambda i: (free[i].gpus, i)):
            nodes += [i] * min(pods - len(nodes), self._rest.fits(free[i], request))
            if len(nodes) == pods:
                self._take(request, nodes)
                return nodes
        return None

    def _take(self, request: Resources, nodes: list[int]) -> None:
        for node in nodes:
            self._free[node] = self._rest.after(self._free[node], request)
            self._gpus[self._view.ground.leaf_of[node]] -= request.gpus
