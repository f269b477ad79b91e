"""What one namespace may have evicted of others: the whole scheduler on the twin, in virtual time.

The fabric is one spine of 4 leaves of 4 nodes. Where gangs preempt, it is full of 4 gangs of 4 pods
of low priority, and a namespace may have 6 pods of others evicted in an hour.
"""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.relocation.evictions.history import HOUR_SECONDS, EvictionHistory
from fourleaf.k8s_bridge.relocation.tenants.caused_evictions import EVICTIONS_LEASE
from fourleaf.model.config.spec import CONFIG_MAP
from fourleaf.model.reasons.kinds import ReasonKind
from tests.k8s_bridge.relocation.bench import TEAM, Bench, leaf_of
from tests.k8s_bridge.relocation.test_moving import ask, halves

EVIL = "evil"
CRITICAL = 2_000_001_000
"""The value of system-node-critical, which a tenant may name where no quota forbids it."""
CONFIG = """
apiVersion: topology.scheduler/v1alpha1
kind: SchedulerConfig
spec:
  backfill: {{enabled: false}}
  defragmentation: {{movesPerHour: 8, minimumRuntimeSeconds: 60}}
  namespaces: {{"*": {{maxEvictions: {most}}}}}
"""


async def allow(bench: Bench, most: int) -> None:
    """Write a config with a limit of so many pods."""
    data = {"config.yaml": CONFIG.format(most=most)}
    body = {"metadata": {"name": CONFIG_MAP}, "data": data}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", body)


@pytest.fixture
async def full(bench: Bench) -> Bench:
    """A scheduler that leads, two priorities, a limit, and a full fabric."""
    await bench.classes(low=1, high=CRITICAL)
    await allow(bench, 6)
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


async def charged(bench: Bench) -> dict[str, int]:
    """The pods of others that each namespace has had evicted, as the next leader finds them."""
    await bench.clock.advance(1)
    kept = EvictionHistory(
        StateLease(bench.cluster, "kube-system", EVICTIONS_LEASE, bench.clock), HOUR_SECONDS
    )
    await kept.load()
    return {who: sum(row[2] for row in kept.rows if row[1] == who) for _, who, _ in kept.rows}


async def age(bench: Bench, seconds: float) -> None:
    """What has been kept is that much older for the next leader."""
    kept = EvictionHistory(
        StateLease(bench.cluster, "kube-system", EVICTIONS_LEASE, bench.clock), HOUR_SECONDS
    )
    await kept.load()
    kept.rows = [(at - seconds, who, pods) for at, who, pods in kept.rows]
    await kept.kept.save(kept.rows)


async def test_a_namespace_has_no_more_evicted_than_it_may(full: Bench) -> None:
    """4 pods, then 4 more would be 8 of 6: its second gang waits, says why, and others preempt.

    The next leader knows; the one an hour later lets it start.
    """
    await full.submit("one", 4, priority="high", namespace=EVIL)
    await full.clock.advance(10)
    assert len(await full.places("one", EVIL)) == 4
    await full.submit("two", 4, priority="high", namespace=EVIL)
    await full.clock.advance(10)
    assert not await full.places("two", EVIL)
    said = await told(full, "two")
    assert "namespace evil had 4 pods of other namespaces evicted within an hour, and 6" in said
    reason = {"reason": ReasonKind.EVICTIONS_FORBIDDEN.value}
    waiting = full.metrics.registry.get_sample_value("fourleaf_pending_gangs", reason)
    assert waiting == 1
    await full.submit("other", 4, priority="high", namespace="good")
    await full.clock.advance(10)
    assert len(await full.places("other", "good")) == 4
    await full.succeed("b")
    assert not await full.places("two", EVIL)
    assert "evicted within an hour" in await told(full, "two")
    await age(full, HOUR_SECONDS)
    await full.succeed("c")
    assert len(await full.places("two", EVIL)) == 4


async def test_its_own_pods_count_for_nothing(full: Bench) -> None:
    """It has had 4 pods of others evicted: what goes after that is its own gang, not a fifth."""
    await full.submit("one", 4, priority="high", namespace=EVIL)
    await full.clock.advance(10)
    stand = [name for name in "abcd" if await full.places(name)]
    (gone,) = {*"abcd"} - {*stand}
    await full.delete(gone)
    await full.end(stand.pop())
    await full.submit("mine", 4, priority="low", namespace=EVIL)
    await full.clock.advance(3)
    before = {name: await full.uids(name) for name in stand}
    await full.submit("two", 4, priority="high", namespace=EVIL)
    await full.clock.advance(10)
    assert len(await full.places("two", EVIL)) == 4
    assert {name: await full.uids(name) for name in stand} == before


async def test_one_gang_may_need_more_than_the_limit(full: Bench) -> None:
    """A gang of 8 has 8 pods of 6 evicted, since there were none before; then no other goes."""
    await full.submit("one", 8, priority="high", namespace=EVIL)
    await full.clock.advance(10)
    assert len(await full.places("one", EVIL)) == 8
    await full.submit("two", 1, priority="high", namespace=EVIL)
    await full.clock.advance(10)
    assert not await full.places("two", EVIL)
    assert sum([len(await full.places(name, TEAM)) for name in "abcd"]) == 8


async def crowd(bench: Bench, most: int) -> None:
    """A leaf is shared by `e` of `evil` and two movable pods of `ml`; of the rest, `x` has a node.

    Members that `e` lost are placed anew, its others stay where they are.
    """
    await allow(bench, most)
    for name, size in (("c", 8), ("d", 3), ("x", 1)):
        await bench.submit(name, size)
    await bench.submit("e", 2, namespace=EVIL, repair_policy="patch")
    for name in ("m", "n"):
        await bench.submit(name, 1, movable="true")
    leaves = {leaf_of(node) for node in (await bench.places("e", EVIL)).values()}
    assert leaves == {*await bench.leaves("m"), *await bench.leaves("n")}
    await bench.end("x")


async def steal(bench: Bench, name: str) -> None:
    """`evil` deletes a pod of its gang, and has a pod of another scheduler take its GPUs."""
    one = (await bench.pods("e", namespace=EVIL))[0]
    thief = pod(name, 8, "default-scheduler", labels={"batch.kubernetes.io/job-name": name})
    thief["spec"]["nodeName"] = one["spec"]["nodeName"]
    await bench.cluster.delete(PODS, Target(EVIL, one["metadata"]["name"]))
    await submit(bench.cluster, EVIL, [thief])
    await bench.clock.advance(20)


async def test_who_has_others_moved_for_its_repairs_is_charged(bench: Bench) -> None:
    """One pod may go in an hour: one moves; then the gang waits, says why, and the other stays."""
    await crowd(bench, 1)
    before = {**await bench.uids("m"), 1: (await bench.uids("n"))[0]}
    await steal(bench, "thief")
    assert len(await bench.places("e", EVIL)) == 2
    between = {**await bench.uids("m"), 1: (await bench.uids("n"))[0]}
    assert sum(between[i] != before[i] for i in range(2)) == 1
    assert await charged(bench) == {EVIL: 1}
    await bench.end("d")
    await steal(bench, "second")
    assert len(await bench.places("e", EVIL)) == 1
    assert {**await bench.uids("m"), 1: (await bench.uids("n"))[0]} == between
    waits = [one for one in await bench.pods("e", namespace=EVIL) if "nodeName" not in one["spec"]]
    said = [one["message"] for one in waits[0]["status"]["conditions"]]
    assert "had 1 pod of other namespaces evicted within an hour, and 1" in said[0]


async def test_a_node_that_dies_is_the_fault_of_no_namespace(bench: Bench) -> None:
    """None may go; the gang whose node died is repaired all the same, and nothing is charged."""
    await crowd(bench, 0)
    bench.lose((await bench.places("e", EVIL))[0])
    await bench.clock.advance(90)
    assert len(await bench.places("e", EVIL)) == 2
    assert len(bench.solved.repairs[-1].moves) == 1
    assert await charged(bench) == {}


@pytest.mark.parametrize(("most", "moves"), [(0, 0), (6, 2)])
async def test_who_starts_by_a_defragmentation_is_charged(
    bench: Bench, most: int, moves: int
) -> None:
    """A gang of `evil` would start once two pods of `ml` have moved: where none may, none does."""
    await allow(bench, most)
    await halves(bench, movable="true")
    uids = {name: await bench.uids(name) for name in "abc"}
    await bench.submit("four", 4, namespace=EVIL)
    await bench.clock.advance(60)
    await ask(bench)
    await bench.clock.advance(20)
    moved = [name for name in "abc" if await bench.uids(name) != uids[name]]
    assert len(moved) == moves // 2
    assert len(await bench.places("four", EVIL)) == 2 * moves
    assert await charged(bench) == ({EVIL: 2} if moves else {})
