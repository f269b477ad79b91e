"""Costs of moves, compared within each namespace alone: none prices itself out of evictions.

What a gang says that a move of its pods costs has a unit that only its own namespace shares. So the
costs of each namespace are scaled to the same average.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from fourleaf.model.running_gang import StandingGang

AVERAGE_COST = 100
"""What a pod costs that costs as much as the average one of its namespace, GPU by GPU."""


def scaled(standing: Iterable[StandingGang]) -> tuple[StandingGang, ...]:
    """The same gangs at costs that namespaces share; as they are where all are of one.

    An average counts each GPU once: pods without any are for nothing, and a tenant with enough of
    them would else make its others as dear as it likes. Where there are no others, pods count.
    """
    gangs = tuple(standing)
    sizes: Counter[str] = Counter()
    costs: Counter[str] = Counter()
    with_gpus = {one.gang.key.namespace for one in gangs if _gpus(one)}
    for one in gangs:
        name = one.gang.key.namespace
        size = _gpus(one) if name in with_gpus else len(one.live)
        sizes[name] += size
        costs[name] += size * one.move_cost
    if len(sizes) < 2:
        return gangs
    return tuple(replace(one, move_cost=_cost(one, sizes, costs)) for one in gangs)


def _cost(one: StandingGang, sizes: Counter[str], costs: Counter[str]) -> int:
    name = one.gang.key.namespace
    return max(1, AVERAGE_COST * one.move_cost * sizes[name] // max(1, costs[name]))


def _gpus(one: StandingGang) -> int:
    return sum(role.request.gpus * len(role.bound) for role in one.gang.roles)
