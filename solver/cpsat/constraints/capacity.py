"""Capacity of a bin: GPUs by slot rows, everything else by sums.

Slot rows: for every GPU size g asked for, the pods of size h >= g take floor(h / g) slots
of size g each, and the free GPUs f of a node offer floor(f / g). Floor is superadditive,
so every packing obeys the rows; where sizes divide each other they are also sufficient.
Where they do not, the sum of GPUs is added, which makes the rows of one node exact for any
request.

Pods that stand may stay although the node is overcommitted; nobody new comes there before
it no longer is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from fourleaf.model.resources import PORT_PREFIX, Resources
from fourleaf.solver.cpsat.constraints.demand import Demand
from fourleaf.solver.cpsat.constraints.devices import add_devices
from fourleaf.solver.cpsat.program import UNBOUNDED, Program, Terms
from fourleaf.solver.cpsat.variables import NodeClass
from fourleaf.solver.instance.cycle_state import CycleState


@dataclass(frozen=True, slots=True)
class _Slots:
    """The rows about GPUs: (GPUs or slots by request, how many there are).

    `divide`: the sizes divide each other. `alone`: nothing but GPUs can run out.
    """

    rows: tuple[tuple[Mapping[int, int], int], ...]
    divide: bool
    alone: bool


class Capacity:
    """The rows of one program, one bin after the other.

    What they say depends on the requests and on what is free; bins that share both share it.
    """

    def __init__(self, program: Program, view: CycleState) -> None:
        self._program = program
        self._view = view
        self._slots: dict[tuple[tuple[int, ...], tuple[int, ...]], _Slots] = {}

    def add(self, bin_: NodeClass, claims: list[Demand]) -> bool:
        """Rows that keep the claims within what is free in the bin.

        Returns whether they are exact: every answer that obeys them can be packed on the nodes.
        """
        alike = _by_request(claims)
        free_id = self._view.free_id
        key = (tuple(alike), tuple([free_id[i] for i in bin_.nodes]))
        slots = self._slots.get(key)
        if slots is None:
            requests = {number: claim.request for number, claim in alike.items()}
            slots = self._slots[key] = _slots(self._view, bin_, requests)
        together = list(alike.values())
        for amounts, free in slots.rows:
            _add_sum(self._program, together, [amounts[number] for number in alike], free)
        single = len(bin_.nodes) == 1
        if slots.alone:
            pinned = len(slots.rows) > 1 and any(claim.kept for claim in claims)
            return single or (slots.divide and not pinned)
        _add_others(self._program, self._view, bin_, claims)
        return single


def _by_request(claims: list[Demand]) -> dict[int, Demand]:
    """By the identity of the request, all claims that ask for it as one; its room is not known."""
    found: dict[int, Demand] = {}
    for claim in claims:
        known = found.get(id(claim.request))
        if known is None:
            terms = list(claim.terms)
            found[id(claim.request)] = Demand(claim.request, terms, 0, claim.kept, claim.stands)
            continue
        known.terms += claim.terms
        if claim.kept:
            known.kept = [*known.kept, *claim.kept]
            known.stands += claim.stands
    return found


def _slots(view: CycleState, bin_: NodeClass, requests: Mapping[int, Resources]) -> _Slots:
    sizes = sorted({request.gpus for request in requests.values()} - {0})
    rows = []
    for size in sizes:
        slots = view.slots(size)
        times = {key: request.gpus // size for key, request in requests.items()}
        rows.append((times, sum([slots[i] for i in bin_.nodes])))
    divide = all(b % a == 0 for a, b in pairwise(sizes))
    if not divide:
        gpus = sum([max(0, view.free[i].gpus) for i in bin_.nodes])
        rows.append(({key: request.gpus for key, request in requests.items()}, gpus))
    amounts = {view.free_id[i]: i for i in bin_.nodes}.values()
    alone = all(view.gpus_bind(request, i) for request in requests.values() for i in amounts)
    return _Slots(tuple(rows), divide, alone)


def _add_others(program: Program, view: CycleState, bin_: NodeClass, claims: list[Demand]) -> None:
    """Everything but GPUs: devices, CPU, memory, pod slots and named extras."""
    free = [view.free[i] for i in bin_.nodes]
    add_devices(program, view, bin_, claims)
    for claim in claims:
        program.at_most(claim.terms, claim.room)
    if all(f.cpu is not None for f in free):
        _add_sum(program, claims, [c.request.cpu or 0 for c in claims], _sum(f.cpu for f in free))
    if all(f.memory is not None for f in free):
        _add_sum(
            program, claims, [c.request.memory or 0 for c in claims], _sum(f.memory for f in free)
        )
    _add_sum(program, claims, [c.request.pods for c in claims], sum(max(0, f.pods) for f in free))
    for name in sorted({name for claim in claims for name, _ in claim.request.extra}):
        default = 1 if name.startswith(PORT_PREFIX) else 0
        left = sum(max(0, dict(f.extra).get(name, default)) for f in free)
        _add_sum(program, claims, [c.request.amount(name) for c in claims], left)


def _add_sum(program: Program, claims: list[Demand], amounts: list[int], free: int) -> None:
    terms: Terms = []
    stands = 0
    for claim, amount in zip(claims, amounts, strict=True):
        stands += amount * claim.stands
        if amount == 1:
            terms += claim.terms
        elif amount:
            terms += [(count * amount, variable) for count, variable in claim.terms]
    if stands > free:
        _add_overcommitted(program, claims, amounts, free, stands)
    elif terms:
        program.at_most(terms, free)


def _add_overcommitted(
    program: Program, claims: list[Demand], amounts: list[int], free: int, stands: int
) -> None:
    """What stands exceeds what there is: all of it may stay, or somebody new comes and it fits."""
    some = program.variable(1)
    every: Terms = [(stands - free, some)]
    new: Terms = [(-max(0, free), some)]
    for claim, amount in zip(claims, amounts, strict=True):
        if amount:
            here = [(count * amount, variable) for count, variable in claim.terms]
            every += here
            new += here
            new += [(-count * amount, variable) for count, variable in claim.kept]
    program.at_most(every, stands)
    program.row(new, UNBOUNDED, 0)


def _sum(amounts: Iterable[int | None]) -> int:
    return sum(max(0, amount or 0) for amount in amounts)
