"""Five hundred seeds, half of them for safety alone, half for progress as well."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.simulation.run import Verdict, run

pytestmark = pytest.mark.no_cover
"""Counting lines would take longer than the runs; other tests reach the same ones."""

SOME = 8
"""Seeds that `make test` runs."""

CHUNK = 50
"""Seeds that one test runs; each test on its own has to do enough."""

FAULTS = (
    "409",
    "410",
    "429",
    "500",
    "binding forbidden",
    "binding refused",
    "budget",
    "clock jumped",
    "compaction",
    "crash",
    "cut off",
    "delayed",
    "delivered twice",
    "event repeated",
    "format set",
    "kind not served",
    "leader's lease tampered with",
    "lost after",
    "lost before",
    "machine suspended",
    "pause",
    "replica of the version before",
    "replica of this version",
    "slow to end",
    "stale list",
    "stale start",
    "watch cut",
    "watch stalled",
    "watches reordered",
)
LEAST = 3
"""How often each fault has to strike in a chunk."""

ENOUGH = {
    "committed": 500,
    "bound": 1000,
    "rolling back": 3,
    "evicted": 5,
    "took over": 70,
    "crashed": 50,
    "at rest": 2 * CHUNK,
    "all bound": CHUNK,
    "job done": 50,
    "config bad": 10,
    "config good": 10,
    "node cordon": 20,
    "node delete": 20,
    "node create": 20,
    "node shrink": 20,
    "node fail": 20,
    "node relabel": 20,
    "node die": 20,
    "node rack": 20,
    "node drain": 20,
    "relocation repair": 10,
    "relocation restart": 5,
    "relocation drain": 3,
    "relocation preemption": 2,
    "relocation defragmentation": 3,
    "relocation reservation": 10,
    "pods delete": 20,
    "pods end_one": 20,
    "pods foreign": 20,
    "pods resize": 20,
    "pods steal": 20,
    "owner late": 20,
    "owner made anew": 5,
    "owner deleted": 5,
    "owner Job": 10,
    "owner JobSet": 5,
    "owner PyTorchJob": 5,
    "job backs off": 5,
    "job set starts over": 1,
    "eviction served: rollback": 3,
    "bound with a volume": 20,
    "crowded": 1,
}
"""How often what has to happen for a chunk to mean anything."""

SERVED = tuple(
    f"eviction served: {what}"
    for what in ("repair", "restart", "drain", "preemption", "defragmentation")
)
"""What evictions of a relocation come to where nothing comes between."""


@pytest.mark.parametrize("first", range(0, SOME, 4))
def test_some_seeds(first: int) -> None:
    """No law is broken: a few of the seeds, of which `make deep` runs all."""
    verdicts = [_run(seed) for seed in range(first, first + 4)]
    broken = [str(verdict) for verdict in verdicts if verdict.breaches]
    assert not broken, "\n" + "\n".join(broken)


@pytest.mark.parametrize("first", range(0, 500, CHUNK))
def test_seeds(first: int) -> None:
    """No law is broken under any plan of faults, and every plan does its work."""
    verdicts = [_run(seed) for seed in range(first, first + CHUNK)]
    broken = [str(verdict) for verdict in verdicts if verdict.breaches]
    assert not broken, "\n" + "\n".join(broken)
    injected = sum((verdict.injected for verdict in verdicts), Counter[str]())
    happened = sum((verdict.happened for verdict in verdicts), Counter[str]())
    rare = {name: injected[name] for name in FAULTS if injected[name] < LEAST}
    assert not rare, f"faults that hardly struck: {rare}"
    little = {name: happened[name] for name, least in ENOUGH.items() if happened[name] < least}
    assert not little, f"what hardly happened: {little}"
    excused = sum(n for what, n in happened.items() if what.startswith("eviction excused"))
    assert excused <= sum(happened[what] for what in SERVED), "most evictions are excused"


def _run(seed: int) -> Verdict:
    return run(seed, "progress" if seed % 2 else "safety")
