"""Capacity of a bin: GPUs by slot rows, everything else by sums.

Slot rows: for every GPU size g asked for, the pods of size h >= g take floor(h / g) slots
of size g each, and the free GPUs f of a node offer floor(f / g). Floor is superadditive,
so every packing obeys the rows; where sizes divide each other they are also sufficient.
On a bin of one node the sums are added, which makes the rows exact for any request.

Pods that stand may stay although the node is overcommitted; nobody new comes there before
it no longer is.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from model.resources import PORT_PREFIX
from solver.bins import Bin
from solver.laws.claim import Claim
from solver.laws.devices import add_devices
from solver.program import UNBOUNDED, Program, Terms
from solver.view import View


def add_capacity(program: Program, view: View, bin_: Bin, claims: list[Claim]) -> bool:
    """Rows that keep the claims within what is free in the bin.

    Returns whether they are exact: every answer that obeys them can be packed on the nodes.
    """
    sizes = sorted({claim.request.gpus for claim in claims} - {0})
    for size in sizes:
        slots = view.slots(size)
        times = [claim.request.gpus // size for claim in claims]
        _add_sum(program, claims, times, sum([slots[i] for i in bin_.nodes]))
    alone = len(bin_.nodes) == 1
    divide = all(b % a == 0 for a, b in pairwise(sizes))
    if alone or not divide:
        gpus = sum([max(0, view.free[i].gpus) for i in bin_.nodes])
        _add_sum(program, claims, [c.request.gpus for c in claims], gpus)
    requests = {id(claim.request): claim.request for claim in claims}.values()
    amounts = {view.free_id[i]: i for i in bin_.nodes}.values()
    if all(view.gpus_bind(request, i) for request in requests for i in amounts):
        pinned = len(sizes) > 1 and any(claim.kept for claim in claims)
        return alone or (divide and not pinned)
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
    return alone


def _add_sum(program: Program, claims: list[Claim], amounts: list[int], free: int) -> None:
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
    program: Program, claims: list[Claim], amounts: list[int], free: int, stands: int
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
