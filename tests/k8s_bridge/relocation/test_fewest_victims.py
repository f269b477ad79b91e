"""As few gangs go for one of a higher priority as brute force finds, from plan to eviction."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from fourleaf.model.gang import GangKey
from fourleaf.model.readers.live import LiveReader
from fourleaf.model.snapshot import Snapshot
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.oracle.moving import Worth, best_victims
from tests.simulation.progress import READ

SOME, ALL = 2, 60
"""Seeds that `make test` runs, and those that `make deep` goes up to."""
STEPS = 1_000_000
"""Of the oracle, for one question."""


def snapshot_of(bench: Bench) -> Snapshot:
    """The cluster as it is, read anew from the store, with all gangs that stand."""
    reader = LiveReader()
    for kind in READ:
        bodies = [record.listed() for record in bench.cluster.store.records(kind)]
        reader.replace_all(kind.group, kind.name, bodies)
    now = bench.clock.wall()
    standing = tuple(reader.standing(now, frozenset(), everyone=True))
    return replace(reader.reading(now).snapshot, standing=standing)


@pytest.mark.parametrize(
    "seed", [*range(SOME), *(pytest.param(n, marks=pytest.mark.deep) for n in range(SOME, ALL))]
)
async def test_as_few_go_as_have_to(seed: int) -> None:
    """Two priorities fill eight nodes by gangs of one to three; one of two to six nodes comes."""
    dice = random.Random(seed)  # noqa: S311
    bench = Bench(1, 2)
    await bench.start()
    await bench.classes(low=1, middle=5, high=10)
    names = [f"{priority}-{n}" for priority in ("middle", "low") for n in range(3)]
    for name in names:
        await bench.submit(name, dice.randint(1, 3), priority=name.partition("-")[0])
    uids = {name: set((await bench.uids(name)).values()) for name in names}
    stood = [name for name in names if await bench.places(name)]
    size = dice.randint(2, 6)
    await bench.submit("top", size, priority="high")
    before = snapshot_of(bench)
    top = before.gangs_by_key.get(GangKey(TEAM, "top"))
    best: Worth | None = ()
    if top is not None:
        best = best_victims(replace(before, gangs=(top,)), top, STEPS)
    for _ in range(20):
        if len(await bench.places("top")) == size:
            break
        await bench.clock.advance(1)
    gone = [name for name in stood if set((await bench.uids(name)).values()) != uids[name]]
    await bench.stop()
    count = {tier: sum(name.startswith(tier) for name in gone) for tier in ("middle", "low")}
    tiers = [tier for tier in ("middle", "low") if any(name.startswith(tier) for name in stood)]
    assert best is not None
    assert [-counted for counted in best[:-1]] == [count[tier] for tier in tiers if best]
