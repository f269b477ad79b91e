"""Places that are kept for lower gangs: a higher one ends them where it could have one itself.

The fabric is one spine of 2 leaves of 4 nodes of 8 GPUs; one pod of the highest priority stays for
ever on one of them. A gang that has waited for 20 s gets a place kept.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.memory.actors import GANG, GANG_SIZE, pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Target
from tests.k8s_bridge.relocation.bench import Bench

AFTER = 20.0


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A scheduler that leads, and the pod that stays."""
    bench = Bench(leaves=2)
    await bench.start()
    await bench.config(f"{{backfill: {{afterSeconds: {AFTER:g}}}}}")
    await bench.classes(low=1, high=10)
    await bench.submit("stays", 1, priority="high")
    yield bench
    await bench.stop()


async def submit_wide(bench: Bench, namespace: str, gang: str, priority: str) -> None:
    """A gang of all 8 nodes, which nothing makes anew."""
    for number in range(8):
        await add_member(bench, namespace, f"{gang}-{number}", priority)
    await bench.clock.advance(2)


async def add_member(bench: Bench, namespace: str, name: str, priority: str) -> None:
    """A pod of it."""
    said = {GANG: name.rpartition("-")[0], GANG_SIZE: "8"}
    body = pod(name, namespace=namespace, annotations=said)
    body["spec"]["priorityClassName"] = priority
    await submit(bench.cluster, namespace, [body])


async def test_who_has_no_place_ends_none(bench: Bench) -> None:
    """A pod of another scheduler keeps a higher one from the node that it names: `wide` has its."""
    await submit_wide(bench, "honest", "wide", "low")
    await bench.clock.advance(AFTER + 2)
    assert await bench.reservations() == ["honest/wide"]
    await bench.submit_hopeless("evil", 1, priority="high")
    for _ in range(12):
        await bench.clock.advance(5)
        assert await bench.reservations() == ["honest/wide"]


async def test_however_many_they_are(bench: Bench) -> None:
    """40 higher ones of one namespace have no place: `wide` waits for a look at one of them."""
    await bench.submit_hopeless("evil", 40, priority="high")
    await submit_wide(bench, "honest", "wide", "low")
    await bench.clock.advance(AFTER + 2)
    assert await bench.reservations() == ["honest/wide"]


async def test_none_of_many_namespaces_comes_first(bench: Bench) -> None:
    """35 have one each, which is looked at again after 35 s: `wide` does not wait for that."""
    for number in range(35):
        await bench.submit_hopeless(f"evil-{number}", 1, priority="high")
    await submit_wide(bench, "honest", "wide", "low")
    await bench.clock.advance(AFTER + 37)
    assert await bench.reservations() == ["honest/wide"]


async def test_lower_ones_have_a_place_while_a_namespace_rests(bench: Bench) -> None:
    """`evil` has a member of its gang made anew once its place is kept: `low` comes first, 20 s."""
    await submit_wide(bench, "honest", "low", "low")
    await submit_wide(bench, "evil", "big", "high")
    await submit_wide(bench, "evil", "next", "high")
    await bench.clock.advance(AFTER + 2)
    assert await bench.reservations() == ["evil/big"]
    await bench.cluster.delete(PODS, Target("evil", "big-0"))
    await bench.clock.advance(2)
    await add_member(bench, "evil", "big-0", "high")
    await bench.clock.advance(3)
    assert await bench.reservations() == ["honest/low"]
    await bench.clock.advance(AFTER)
    assert await bench.reservations() == ["evil/next"]
