"""Capacity of a node class: GPUs by slot rows, everything else by sums.

Slot rows: for every GPU size g asked for, the pods of size h >= g take floor(h / g) slots
of size g each, and the free GPUs f of a node offer floor(f / g). Floor is superadditive,
so every packing obeys the rows; where sizes divide each other they are also sufficient.
Where they do not, the sum of GPUs is added, which makes the rows of one node exact for any
request.

Pods that stand may stay although the node is overcommitted; no new pod comes there before
it no longer is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from fourleaf.model.resources import Resources, unlisted
from fourleaf.solver.cpsat.constraints.devices import add_devices
from fourleaf.solver.cpsat.demand import Demand, NodeClass
from fourleaf.solver.cpsat.program import UNBOUNDED, Program, Terms
from fourleaf.solver.instance.cycle_state import CycleState


@dataclass(frozen=True, slots=True)
class _Slots:
    """The rows about GPUs: (GPUs or slots by request, how many there are).

    `alone`: nothing but GPUs can run out.
    """

    rows: tuple[tuple[Mapping[int, int], int], ...]
    alone: bool


class Capacity:
    """The rows of one program, one node class after the other.

    What they say depends on the requests and on what is free; classes that share both share it.
    """

    def __init__(self, program: Program, state: CycleState) -> None:
        self._program = program
        self._state = state
        self._slots: dict[tuple[tuple[int, ...], tuple[int, ...]], _Slots] = {}

    def add(self, node_class: NodeClass, demands: list[Demand]) -> None:
        """Rows that keep the demands within what is free in the node class."""
        alike = _by_request(demands)
        free_id = self._state.free_id
        key = (tuple(alike), tuple([free_id[i] for i in node_class.nodes]))
        slots = self._slots.get(key)
        if slots is None:
            requests = {number: demand.request for number, demand in alike.items()}
            slots = self._slots[key] = _slots(self._state, node_class, requests)
        together = list(alike.values())
        for amounts, free in slots.rows:
            _add_sum(self._program, together, [amounts[number] for number in alike], free)
        if not slots.alone:
            _add_others(self._program, self._state, node_class, demands)


def _by_request(demands: list[Demand]) -> dict[int, Demand]:
    """By the identity of the request, all demands for it as one, whose room is not known."""
    found: dict[int, Demand] = {}
    for demand in demands:
        known = found.get(id(demand.request))
        if known is None:
            terms = list(demand.terms)
            found[id(demand.request)] = Demand(demand.request, terms, 0, demand.kept, demand.stands)
            continue
        known.terms += demand.terms
        if demand.kept:
            known.kept = [*known.kept, *demand.kept]
            known.stands += demand.stands
    return found


def _slots(state: CycleState, node_class: NodeClass, requests: Mapping[int, Resources]) -> _Slots:
    sizes = sorted({request.gpus for request in requests.values()} - {0})
    rows = []
    for size in sizes:
        slots = state.slots(size)
        times = {key: request.gpus // size for key, request in requests.items()}
        rows.append((times, sum([slots[i] for i in node_class.nodes])))
    if any(b % a for a, b in pairwise(sizes)):
        gpus = sum([max(0, state.free[i].gpus) for i in node_class.nodes])
        rows.append(({key: request.gpus for key, request in requests.items()}, gpus))
    amounts = {state.free_id[i]: i for i in node_class.nodes}.values()
    alone = all(state.gpus_bind(request, i) for request in requests.values() for i in amounts)
    return _Slots(tuple(rows), alone)


def _add_others(
    program: Program, state: CycleState, node_class: NodeClass, demands: list[Demand]
) -> None:
    """Everything but GPUs: devices, CPU, memory, pod slots and named extras."""
    free = [state.free[i] for i in node_class.nodes]
    add_devices(program, state, node_class, demands)
    for demand in demands:
        program.at_most(demand.terms, demand.room)
    if all(f.cpu is not None for f in free):
        _add_sum(program, demands, [c.request.cpu or 0 for c in demands], _sum(f.cpu for f in free))
    if all(f.memory is not None for f in free):
        _add_sum(
            program, demands, [c.request.memory or 0 for c in demands], _sum(f.memory for f in free)
        )
    _add_sum(program, demands, [c.request.pods for c in demands], sum(max(0, f.pods) for f in free))
    extras = [dict(f.extra) for f in free]
    asked = [dict(demand.request.extra) for demand in demands]
    for name in sorted({name for one in asked for name in one}):
        left = sum(max(0, extra.get(name, unlisted(name))) for extra in extras)
        _add_sum(program, demands, [one.get(name, 0) for one in asked], left)


def _add_sum(program: Program, demands: list[Demand], amounts: list[int], free: int) -> None:
    terms: Terms = []
    stands = 0
    for demand, amount in zip(demands, amounts, strict=True):
        stands += amount * demand.stands
        if amount == 1:
            terms += demand.terms
        elif amount:
            terms += [(count * amount, variable) for count, variable in demand.terms]
    if stands > free:
        _add_overcommitted(program, demands, amounts, free, stands)
    elif terms:
        program.at_most(terms, free)


def _add_overcommitted(
    program: Program, demands: list[Demand], amounts: list[int], free: int, stands: int
) -> None:
    """What stands exceeds what there is: all of it may stay, or new pods come and it fits."""
    some = program.variable(1)
    every: Terms = [(stands - free, some)]
    new: Terms = [(-max(0, free), some)]
    for demand, amount in zip(demands, amounts, strict=True):
        if amount:
            here = [(count * amount, variable) for count, variable in demand.terms]
            every += here
            new += here
            new += [(-count * amount, variable) for count, variable in demand.kept]
    program.at_most(every, stands)
    program.row(new, UNBOUNDED, 0)


def _sum(amounts: Iterable[int | None]) -> int:
    return sum(max(0, amount or 0) for amount in amounts)
