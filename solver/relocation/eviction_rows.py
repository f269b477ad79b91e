"""Rows about evictions: how many pods of each gang a limit counts, and that it counts few enough.

Of a gang that moves in part the rows know how many of its members move, not which: so the law of
`docs/model.md` counts each of them until all are counted that the limit names.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from fourleaf.model.gang import Gang
from fourleaf.model.running_gang import EvictionLimit, PodName, StandingGang
from fourleaf.solver.cpsat.program import UNBOUNDED, Program, Terms


class CountedPods(NamedTuple):
    """What the limit of that number names of one gang: live members, and lost ones that run."""

    number: int
    live: int
    lost: int


class LimitIndex:
    """The limits by the pods that they name."""

    def __init__(self, limits: Sequence[EvictionLimit]) -> None:
        self.limits = limits
        self._of: dict[PodName, list[int]] = defaultdict(list)
        for number, limit in enumerate(limits):
            for pod in limit.pods:
                self._of[pod].append(number)

    def counted(self, gang: Gang) -> tuple[CountedPods, ...]:
        """What each limit that concerns the gang names of it."""
        if not self._of:
            return ()
        space = gang.key.namespace
        live = self._numbers((space, pod) for role in gang.roles for pod, _ in role.bound)
        lost = self._numbers((space, pod) for role in gang.roles for pod in role.pods)
        return tuple(
            CountedPods(number, live[number], lost[number]) for number in sorted(live | lost)
        )

    def left_by(self, restarts: Iterable[StandingGang]) -> tuple[EvictionLimit, ...]:
        """The limits as far as these gangs leave them, of which every pod is evicted."""
        taken: Counter[int] = Counter()
        for one in restarts:
            for number, live, lost in self.counted(one.gang):
                taken[number] += live + lost
        return tuple(
            replace(limit, most=max(0, limit.most - taken[number])) if taken[number] else limit
            for number, limit in enumerate(self.limits)
        )

    def _numbers(self, pods: Iterable[PodName]) -> Counter[int]:
        return Counter(number for pod in pods for number in self._of.get(pod, ()))


class EvictionRows:
    """Collects what may be evicted, limit by limit, and adds a row for each.

    `slack`: a limit may be exceeded, by the variables of `excess`.
    """

    def __init__(self, program: Program, limits: Sequence[EvictionLimit], slack: bool) -> None:
        self._program = program
        self._limits = limits
        self._slack = slack
        self._terms: dict[int, Terms] = defaultdict(list)
        self._always: Counter[int] = Counter()
        self.excess: list[tuple[EvictionLimit, int]] = []

    def add(self, number: int, terms: Terms, always: int = 0) -> None:
        """Limit `number` counts `always` plus `terms`."""
        self._terms[number] += terms
        self._always[number] += always

    def add_in_part(self, number: int, named: int, gone: Terms, live: int) -> None:
        """Limit `number` names `named` of a gang's `live` members, of which live + `gone` move.

        Exactly: the smaller one of the two numbers.
        """
        if named == live:
            self.add(number, gone, live)
            return
        counted, all_named = self._program.variable(named), self._program.variable(1)
        self._program.row([*gone, (-1, counted), (-live, all_named)], UNBOUNDED, -live)
        self._program.row([(1, counted), (-named, all_named)], 0, named)
        self.add(number, [(1, counted)])

    def close(self) -> None:
        """Add the row of every limit that may count anything."""
        high = self._program.high
        for number, terms in sorted(self._terms.items()):
            limit, over = self._limits[number], []
            if self._slack:
                most = self._always[number] + sum(c * high[v] for c, v in terms if c > 0)
                over = [(-1, self._program.variable(most))]
                self.excess.append((limit, over[0][1]))
            self._program.at_most([*terms, *over], limit.most - self._always[number])
