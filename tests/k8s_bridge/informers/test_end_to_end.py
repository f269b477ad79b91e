"""Whatever happens to lists and watches, the copy comes to equal the cluster, never going back."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict

import pytest

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, JOB_SETS, NODES, Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster, MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.informers import (
    Absent,
    Change,
    Informers,
    Put,
    ReflectorState,
    Replaced,
    Timeouts,
)
from tests.k8s_bridge.informers.faults import Faulty
from tests.k8s_bridge.informers.scripted import Store
from tests.twins.virtual_clock import VirtualClock

KINDS = {NODES: "", CONFIG_MAPS: "default"}
TROUBLE = 1800
REST = 600
BRISK = Timeouts(absent_again=20, refused_again=10, list_within=10)


class Copy:
    """Folds changes, and checks that no object and no list is older than one before it."""

    def __init__(self) -> None:
        self.stores = {kind: Store() for kind in (*KINDS, JOB_SETS)}
        self.newest: defaultdict[tuple[Kind, str], int] = defaultdict(int)

    def __call__(self, kind: Kind, change: Change) -> None:
        """Fold one change."""
        if isinstance(change, Replaced):
            self._check(kind, "", change.version)
        elif not isinstance(change, Absent):
            metadata = change.body["metadata"]
            if isinstance(change, Put):
                self._check(kind, metadata["name"], metadata["resourceVersion"])
            self._check(kind, "", metadata["resourceVersion"])
        self.stores[kind].fold(change)

    def _check(self, kind: Kind, name: str, version: str) -> None:
        assert int(version) >= self.newest[kind, name], f"{kind.plural} {name} goes back in time"
        self.newest[kind, name] = int(version)


async def _write(cluster: MemoryCluster, clock: VirtualClock, chance: random.Random) -> None:
    """Make, change and delete objects for `TROUBLE` seconds, and forget history now and then."""
    while clock.monotonic() < TROUBLE:
        await clock.sleep(chance.uniform(0, 4))
        kind, namespace = chance.choice(list(KINDS.items()))
        target = Target(namespace, f"o{chance.randrange(8)}")
        there = {item["metadata"]["name"] for item in (await cluster.list(kind, namespace)).items}
        if target.name not in there:
            await cluster.create(kind, namespace, {"metadata": {"name": target.name}})
        elif chance.random() < 0.3:
            await cluster.delete(kind, target)
        else:
            stamp = {"metadata": {"annotations": {"at": str(clock.monotonic())}}}
            await cluster.patch(kind, target, stamp)
        if chance.random() < 0.02:
            cluster.store.compact()
        if chance.random() < 0.02:
            cluster.store.end_watches()


async def _bookmarks(store: MemoryStore, clock: VirtualClock) -> None:
    while True:
        await clock.sleep(60)
        store.bookmark()


async def _truth(cluster: MemoryCluster, kind: Kind) -> dict[str, str]:
    listing = await cluster.list(kind)
    return {
        f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}": item["metadata"][
            "resourceVersion"
        ]
        for item in listing.items
    }


@pytest.mark.parametrize("seed", range(12))
async def test_after_faults_the_copy_equals_the_cluster(seed: int) -> None:
    """Half an hour of writes and faults of all sorts, ten minutes of peace: nothing is missing."""
    clock, chance = VirtualClock(), random.Random(seed)  # noqa: S311 - has to repeat
    store = MemoryStore(clock, seed=seed, keep=25, missing=[JOB_SETS])
    cluster, copy = MemoryCluster(store), Copy()
    faulty = Faulty(cluster, seed)

    async def story() -> None:
        marks = asyncio.create_task(_bookmarks(store, clock))
        async with Informers(
            faulty, clock, list(copy.stores), copy, timeouts=BRISK, chance=chance
        ) as informers:
            await _write(cluster, clock, chance)
            faulty.faults = False
            await informers.synced()
            await clock.sleep(REST)
            health = informers.health()
        marks.cancel()
        for kind in KINDS:
            assert copy.stores[kind].versions == await _truth(cluster, kind)
            assert health[kind].state is ReflectorState.FOLLOWING
            assert health[kind].age(clock.monotonic()) <= 60 + 4
        assert health[JOB_SETS].state is ReflectorState.ABSENT
        assert not copy.stores[JOB_SETS].versions

    before = asyncio.all_tasks()
    await clock.run(story(), within=2 * (TROUBLE + REST))
    assert asyncio.all_tasks() == before
    assert faulty.happened.total() > 50


async def test_missed_deletions_show_after_a_compaction() -> None:
    """A watch is cut, an object goes, its history is forgotten: the copy has let it go."""
    clock = VirtualClock()
    cluster, copy = MemoryCluster(clock=clock), Copy()
    for name in ("stays", "goes"):
        await cluster.create(NODES, "", {"metadata": {"name": name}})

    async with Informers(cluster, clock, [NODES], copy) as informers:
        await clock.run(informers.synced(), within=600)
        assert set(copy.stores[NODES].versions) == {"/stays", "/goes"}
        cluster.store.end_watches()
        await cluster.delete(NODES, Target("", "goes"))
        cluster.store.compact()
        await clock.advance(10)
        assert set(copy.stores[NODES].versions) == {"/stays"}
        assert informers.health()[NODES].relists == 1


async def test_a_kind_that_the_twin_does_not_serve_is_absent() -> None:
    """The twin's 404 for a kind counts as absence, which is synced."""
    clock = VirtualClock()
    cluster, copy = MemoryCluster(MemoryStore(clock, missing=[JOB_SETS])), Copy()
    async with Informers(cluster, clock, [JOB_SETS], copy) as informers:
        await clock.run(informers.synced(), within=600)
        assert informers.health()[JOB_SETS].state is ReflectorState.ABSENT
