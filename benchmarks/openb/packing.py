"""What still fits into a node: the best packing of phantoms into its CPU and devices.

A phantom is a pod of a kind of the recent mix at a price. The value of a node's room is the
greatest sum of prices of phantoms that fit into it together: shares on one device each, whole
GPUs on untouched devices, CPU over all of them. Memory, which is plentiful, is left out. CPU
counts in steps and shares in hundredths of a GPU, what is asked for rounded up and what is free
rounded down, so that nothing is counted that would not fit; for a bound, the other way round.

Tables run over CPU, and are made from smaller to larger rooms: a device with so much left, an
untouched device, some untouched devices, a node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.openb.cluster import DEVICES
from benchmarks.openb.load import WHOLE, Pod

STEP = 500
"""Thousandths of a core in a step of the tables, where nothing else is said."""
GRAIN = 10
"""Thousandths of a GPU in a step of the tables."""
LARGEST = 128_000
"""CPU of the largest node that tables are made for; more is as good as that."""
EPSILON = 1e-9
"""Values that differ by no more are equal."""

Values = NDArray[np.float64]
Choices = NDArray[np.int_]


def joined(first: Values, second: Values) -> tuple[Values, Choices]:
    """The best of two rooms that share their CPU, and how much of it goes to the first.

    best[c] = max over k of first[c - k] + second[k].
    """
    best = np.full(len(first), -np.inf)
    split = np.zeros(len(first), dtype=int)
    steps = np.flatnonzero(np.diff(second, prepend=-np.inf) > 0)
    for k in steps:
        values = first[: len(first) - k] + second[k]
        better = values > best[k:] + EPSILON
        best[k:][better] = values[better]
        split[k:][better] = np.flatnonzero(better)
    return best, split


class Packing:
    """The best packings of `kinds`, each of them worth its price.

    `step` are the thousandths of a core in a step; `generous` counts all that might fit.
    """

    def __init__(
        self,
        kinds: Sequence[Pod],
        prices: Iterable[float],
        step: int = STEP,
        generous: bool = False,
    ) -> None:
        self._kinds = kinds
        self._prices = [float(price) for price in prices]
        self._step, self._most = step, LARGEST // step
        self._generous = generous
        self._steps = [self._rounded(kind.cpu, step) for kind in kinds]
        self._sizes = [self._rounded(kind.share, GRAIN) for kind in kinds]
        paid = [i for i, price in enumerate(self._prices) if price > EPSILON]
        sharing = [i for i in paid if kinds[i].gpus and kinds[i].share < WHOLE]
        self._whole = [i for i in paid if kinds[i].gpus and kinds[i].share == WHOLE]
        self._bare = [i for i in paid if not kinds[i].gpus]
        self._device = self._devices_with(sharing)
        self._untouched = self._all_untouched()
        self._cpu = self._cpu_alone()
        self._node = [joined(values, self._cpu[0]) for values, _ in self._untouched]
        self.worth = lru_cache(maxsize=None)(self._worth)

    def _rounded(self, asked: int, step: int) -> int:
        """What is asked for in steps, at least one."""
        return max(1, asked // step if self._generous else -(-asked // step))

    def value(self, cpu: int, gpu: Sequence[int]) -> float:
        """The value of a node with `cpu` thousandths of a core and `gpu` of each device left."""
        untouched = sum(1 for free in gpu if free == WHOLE)
        parts = tuple(sorted(free // GRAIN for free in gpu if GRAIN <= free < WHOLE))
        return float(self.worth(untouched, parts)[self._at(cpu)])

    def _at(self, cpu: int) -> int:
        return min(self._most, cpu // self._step)

    def best(self, cpu: int, gpus: int) -> Counter[int]:
        """Which kinds the best packing of an empty node holds how often, by number."""
        found: Counter[int] = Counter()
        at = self._at(cpu)
        left = int(self._node[gpus][1][at])
        self._trace_cpu(at - left, found)
        while gpus:
            choice = int(self._untouched[gpus][1][left])
            if choice < 0:
                found[-1 - choice] += 1
                gpus -= self._kinds[-1 - choice].gpus
                left -= self._steps[-1 - choice]
            else:
                self._trace_device(left - choice, found)
                gpus, left = gpus - 1, choice
        return found

    def _worth(self, untouched: int, parts: tuple[int, ...]) -> Values:
        if not parts:
            return self._node[untouched][0]
        return joined(self.worth(untouched, parts[:-1]), self._device[parts[-1]][0])[0]

    def _devices_with(self, sharing: list[int]) -> list[tuple[Values, Choices]]:
        """By what is left of a device: its value, and the kind to begin with or -1 for none."""
        tables = [(np.zeros(self._most + 1), np.full(self._most + 1, -1))]
        for left in range(1, WHOLE // GRAIN + 1):
            values, choices = tables[-1][0].copy(), tables[-1][1].copy()
            for i in sharing:
                size = self._sizes[i]
                if size <= left:
                    self._improve(values, choices, tables[left - size][0], i, i)
            tables.append((values, choices))
        return tables

    def _all_untouched(self) -> list[tuple[Values, Choices]]:
        """By number of untouched devices: their value, and -1 - kind or the CPU of all but one."""
        tables = [(np.zeros(self._most + 1), np.zeros(self._most + 1, dtype=int))]
        for count in range(1, DEVICES + 1):
            values, choices = joined(tables[-1][0], self._device[-1][0])
            for i in self._whole:
                if self._kinds[i].gpus <= count:
                    rest = tables[count - self._kinds[i].gpus][0]
                    self._improve(values, choices, rest, i, -1 - i)
            tables.append((values, choices))
        return tables

    def _cpu_alone(self) -> tuple[Values, Choices]:
        """The value of CPU without devices, and the kind to begin with or -1 for one step less."""
        values, choices = np.zeros(self._most + 1), np.full(self._most + 1, -1)
        for at in range(1, self._most + 1):
            values[at] = values[at - 1]
            for i in self._bare:
                if self._steps[i] > at:
                    continue
                value = values[at - self._steps[i]] + self._prices[i]
                if value > values[at] + EPSILON:
                    values[at], choices[at] = value, i
        return values, choices

    def _improve(
        self, values: Values, choices: Choices, rest: Values, kind: int, choice: int
    ) -> None:
        """Take `choice` wherever one pod of `kind` beside the best of `rest` is better."""
        steps = self._steps[kind]
        if steps > self._most:
            return
        offered = rest[: self._most + 1 - steps] + self._prices[kind]
        better = offered > values[steps:] + EPSILON
        values[steps:][better] = offered[better]
        choices[steps:][better] = choice

    def _trace_device(self, cpu: int, found: Counter[int]) -> None:
        left = len(self._device) - 1
        while (kind := int(self._device[left][1][cpu])) >= 0:
            found[kind] += 1
            left -= self._sizes[kind]
            cpu -= self._steps[kind]

    def _trace_cpu(self, cpu: int, found: Counter[int]) -> None:
        while cpu:
            kind = int(self._cpu[1][cpu])
            if kind < 0:
                cpu -= 1
            else:
                found[kind] += 1
                cpu -= self._steps[kind]
