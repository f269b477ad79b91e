"""What one namespace may have evicted of others: the whole scheduler on the twin, in virtual time.

The fabric is one spine of 4 leaves of 4 nodes, full of 4 gangs of 4 pods of low priority. A
namespace may have 6 pods of others evicted in an hour.
"""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.relocation.evictions.history import HOUR_SECONDS, EvictionHistory
from fourleaf.k8s_bridge.relocation.tenants.caused_evictions import EVICTIONS_LEASE
from fourleaf.model.config.spec import CONFIG_MAP
from fourleaf.model.reasons.kinds import ReasonKind
from tests.k8s_bridge.relocation.bench import TEAM, Bench

EVIL = "evil"
CONFIG = """
apiVersion: topology.scheduler/v1alpha1
kind: SchedulerConfig
spec:
  backfill: {enabled: false}
  namespaces: {"*": {maxEvictions: 6}}
"""


@pytest.fixture
async def bench(bench: Bench) -> Bench:
    """A scheduler that leads, two priorities, a limit, and a full fabric."""
    await bench.classes(low=1, high=10)
    body = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": CONFIG}}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", body)
    for name in "abcd":
        await bench.submit(name, 4, priority="low")
    return bench


async def told(bench: Bench, name: str) -> str:
    """What the condition of the first pod of a Job of `evil` says."""
    pod = (await bench.pods(name, namespace=EVIL))[0]
    return next(
        str(one["message"])
        for one in pod["status"]["conditions"]
        if one["type"] == "PodScheduled" and one["status"] == "False"
    )


async def age(bench: Bench, seconds: float) -> None:
    """What has been kept is that much older for the next leader."""
    kept = EvictionHistory(StateLease(bench.cluster, "kube-system", EVICTIONS_LEASE), HOUR_SECONDS)
    await kept.load()
    kept.rows = [(at - seconds, who, pods) for at, who, pods in kept.rows]
    await kept.save()


async def test_a_namespace_has_no_more_evicted_than_it_may(bench: Bench) -> None:
    """4 pods, then 4 more would be 8 of 6: its second gang waits, says why, and others preempt.

    The next leader knows; the one an hour later lets it start.
    """
    await bench.submit("one", 4, priority="high", namespace=EVIL)
    await bench.clock.advance(10)
    assert len(await bench.places("one", EVIL)) == 4
    await bench.submit("two", 4, priority="high", namespace=EVIL)
    await bench.clock.advance(10)
    assert not await bench.places("two", EVIL)
    said = await told(bench, "two")
    assert "namespace evil had 4 pods of other namespaces evicted within an hour, and 6" in said
    reason = {"reason": ReasonKind.EVICTIONS_FORBIDDEN.value}
    waiting = bench.metrics.registry.get_sample_value("fourleaf_pending_gangs", reason)
    assert waiting == 1
    await bench.submit("other", 4, priority="high", namespace="good")
    await bench.clock.advance(10)
    assert len(await bench.places("other", "good")) == 4
    await bench.succeed("b")
    assert not await bench.places("two", EVIL)
    assert "evicted within an hour" in await told(bench, "two")
    await age(bench, HOUR_SECONDS)
    await bench.succeed("c")
    assert len(await bench.places("two", EVIL)) == 4


async def test_its_own_pods_count_for_nothing(bench: Bench) -> None:
    """It has had 4 pods of others evicted: what goes after that is its own gang, not a fifth."""
    await bench.submit("one", 4, priority="high", namespace=EVIL)
    await bench.clock.advance(10)
    stand = [name for name in "abcd" if await bench.places(name)]
    (gone,) = {*"abcd"} - {*stand}
    await bench.delete(gone)
    await bench.end(stand.pop())
    await bench.submit("mine", 4, priority="low", namespace=EVIL)
    await bench.clock.advance(3)
    before = {name: await bench.uids(name) for name in stand}
    await bench.submit("two", 4, priority="high", namespace=EVIL)
    await bench.clock.advance(10)
    assert len(await bench.places("two", EVIL)) == 4
    assert {name: await bench.uids(name) for name in stand} == before


async def test_one_gang_may_need_more_than_the_limit(bench: Bench) -> None:
    """A gang of 8 has 8 pods of 6 evicted, since there were none before; then no other goes."""
    await bench.submit("one", 8, priority="high", namespace=EVIL)
    await bench.clock.advance(10)
    assert len(await bench.places("one", EVIL)) == 8
    await bench.submit("two", 1, priority="high", namespace=EVIL)
    await bench.clock.advance(10)
    assert not await bench.places("two", EVIL)
    assert sum([len(await bench.places(name, TEAM)) for name in "abcd"]) == 8
