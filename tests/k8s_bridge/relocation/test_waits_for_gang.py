"""Gangs that wait for another one to start first, while places are kept for them."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import JOBS, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import LEAF, add_namespace, node, pod
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.next_action import progress
from fourleaf.k8s_bridge.relocation.records import UNREADY, Purpose, Relocation, Seat
from fourleaf.model.gang import GangKey
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import counted
from tests.k8s_bridge.ledger.harness import InstantClock
from tests.k8s_bridge.relocation.bench import Bench, leaf_of
from tests.twins.jobs import job

AFTER_SECONDS = 20.0


def required(app: str, key: str) -> Body:
    """Affinity to pods of that app, of any namespace, in the same domain."""
    term: Body = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term | {"namespaceSelector": {}}]}


@pytest.mark.parametrize(
    ("near", "kind", "why"),
    [("a", ReasonKind.WAITS_FOR_GANG, ""), ("b", ReasonKind.GATED, UNREADY)],
)
def test_a_gang_that_waits_for_another_keeps_its_place(
    near: str, kind: ReasonKind, why: str
) -> None:
    """Of two pods of app a that want to be near one, the first goes ahead: that is over soon.

    The second keeps its place, and is not bound to it meanwhile, although it is free. One that
    wants to be near app b waits until somebody starts such a pod, which may be never.
    """
    cache = ClusterCache(InstantClock())
    for number in range(2):
        one = node(f"n-{number}", "leaf", "spine", gpus=1)
        one["metadata"]["resourceVersion"] = "1"
        cache.take(NODES, one)
    for name, app in (("p-0", "a"), ("p-1", near)):
        body = pod(name, 1, namespace="ml", uid=name, resourceVersion="2", labels={"app": "a"})
        body["spec"]["affinity"] = {"podAffinity": required(app, "kubernetes.io/hostname")}
        body["status"] = {"phase": "Pending"}
        cache.take(PODS, body)
    key = GangKey("ml", "p-1")
    gang = cache.reading().snapshot.gangs_by_key[key]
    assert gang.hold is not None
    assert gang.hold.kind is kind
    request = counted(gang.roles[0].request)
    seat = Seat(Target("ml", "p-1", "p-1"), (1, 0, 0), "", "n-1", request)
    one = Relocation(key, Purpose.RESERVATION, (seat,), (), until=1e9)
    found = progress(one, ClusterView(cache, cache.reading(), (one,), frozenset(), 0.0))
    assert (found.over, found.why) == (bool(why), why)
    assert found.placed is None


async def test_a_place_that_is_kept_breaks_no_anti_affinity() -> None:
    """Two Jobs keep each other off their leaf, and two nodes of one leaf become free at once.

    One of them is kept for `old`, which has found no place before, so that `late` of another
    namespace goes ahead: it starts, and `old` is not bound beside it.
    """
    bench = Bench(leaves=2)
    await bench.config(f"{{backfill: {{afterSeconds: {AFTER_SECONDS:g}}}}}")
    await bench.start()
    await bench.submit("pair", 2, expected_duration="100s")
    for number in range(6):
        await bench.submit(f"other-{number}", 1, expected_duration="5000s")

    async def submit(name: str, namespace: str) -> None:
        await add_namespace(bench.cluster, namespace)
        body = job(name, 1)
        template = body["spec"]["template"]
        template["metadata"]["labels"] = {"app": "a"}
        template["spec"]["affinity"] = {"podAntiAffinity": required("a", LEAF)}
        await bench.cluster.create(JOBS, namespace, body)

    await submit("old", "evil")
    await bench.clock.advance(AFTER_SECONDS + 5)
    assert await bench.reservations() == ["evil/old"]
    await submit("late", "honest")
    await bench.clock.advance(5)
    assert await bench.reservations() == ["evil/old"]
    pair = {leaf_of(one) for one in (await bench.places("pair")).values()}
    await bench.end("pair")
    await bench.clock.advance(5)
    late = await bench.places("late", "honest")
    assert {leaf_of(one) for one in late.values()} == pair
    assert await bench.places("old", "evil") == {}
    await bench.stop()
