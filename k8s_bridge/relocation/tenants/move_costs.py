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
"""What a pod costs that costs as much as the average one of its namespace."""


def scaled(standing: Iterable[StandingGang]) -> tuple[StandingGang, ...]:
    """The same gangs at costs that namespaces share; as they are where all are of one."""
    gangs = tuple(standing)
    pods: Counter[str] = Counter()
    costs: Counter[str] = Counter()
    for one in gangs:
        live = len(one.live)
        pods[one.gang.key.namespace] += live
        costs[one.gang.key.namespace] += live * one.move_cost
    if len(pods) < 2:
        return gangs
    return tuple(replace(one, move_cost=_cost(one, pods, costs)) for one in gangs)


def _cost(one: StandingGang, pods: Counter[str], costs: Counter[str]) -> int:
    name = one.gang.key.namespace
    return max(1, AVERAGE_COST * one.move_cost * pods[name] // max(1, costs[name]))
