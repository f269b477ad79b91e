"""When nodes fail and come back: the same for every policy under the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fourleaf.simulator.trace import DAY


@dataclass(frozen=True, slots=True)
class Outage:
    """One failure of `node` from second `at` for `seconds`."""

    node: str
    at: int
    seconds: int


def outages(
    nodes: Sequence[str], rate: float, mean: int, until: int, seed: int
) -> Iterator[Outage]:
    """Failures before `until`: `rate` per 1000 node-days, away for `mean` seconds on average.

    Both times are exponential, and every node is as likely as the next to fail.
    """
    if not rate:
        return
    dice = random.Random(f"failures {seed}")  # noqa: S311 - a replay, not a secret
    per_second = rate / 1000 / DAY * len(nodes)
    at = 0.0
    while (at := at + dice.expovariate(per_second)) < until:
        node = dice.choice(nodes)
        yield Outage(node, int(at), max(1, round(dice.expovariate(1 / mean))))
