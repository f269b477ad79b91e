"""Memory belongs to no tenant: whatever has come and gone leaves nothing behind in any replica."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import orjson
import pytest

from fourleaf.k8s_bridge.cluster.kinds import COSCHEDULING_POD_GROUPS, EVENTS, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, nodes, target
from fourleaf.k8s_bridge.cluster.slim import object_of
from fourleaf.solver.instance import gang_classes
from tests.fuzz.law import forget
from tests.fuzz.seeds import WISHES
from tests.k8s_bridge.test_scheduler import Bench
from tests.model.readers.made import pod

OTHER = "other"
MIB = 2**20
WAVE, WAVES, WARM = 500, 20, 4
"""Pods of a wave, 10,000 in all, and waves after which everything that lasts has come to be."""

MOST_LEFT_MIB = 8.0
"""Of 8,000 pods of 8 KiB of JSON, of which each replica would keep some ten times as much. What
has been told of 10,000 objects is remembered, so that it can be counted: half of this."""

BESIDE = tuple(tracemalloc.Filter(False, f"*/{one}/*") for one in ("memory", "tests", "_pytest"))
"""The cluster itself is in this process; what it remembers of the past is not the scheduler's."""


def hostile(number: int) -> dict[str, Any]:
    """A pod of which all is its own: terms, labels, keys, amounts, group, owner."""
    values = [f"v{number}-{i}-{'x' * 50}" for i in range(120)]
    term = {"matchExpressions": [{"key": f"k{number}", "operator": "NotIn", "values": values}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    notes = {
        **WISHES,
        "topology.scheduler/gang": f"g{number}",
        f"topology.scheduler/x{number}": "y",
    }
    kinds: tuple[dict[str, Any], ...] = (
        {"annotations": {}},
        {"annotations": notes},
        {"annotations": {}, "schedulingGates": [{"name": f"gate-{number}"}]},
        {"annotations": {}, "nodeSelector": {f"no{number}": "such"}},
        {"annotations": {"gpu-scheduling-map": f"0=n{number}:0,1"}},
        {"annotations": {}, "labels": {"scheduling.x-k8s.io/pod-group": f"w{number}"}},
    )
    body = pod(f"p-{number}", number % 9, **kinds[number % len(kinds)], namespace=OTHER)
    body["spec"] |= {
        "affinity": {"nodeAffinity": required},
        "tolerations": [{"key": f"t{number}", "operator": "Exists"}],
    }
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": f"j{number}", "uid": f"u{number}"}
    if number % 5 == 0:
        body["metadata"]["ownerReferences"] = [owner]
    return body


def held() -> float:
    """MiB that the product holds, but for what it remembers within fixed bounds."""
    forget()
    gang_classes._latest.clear()
    gc.collect()
    found = tracemalloc.take_snapshot().filter_traces(BESIDE)
    return sum(one.size for one in found.traces) / MIB


async def wave(bench: Bench, first: int) -> None:
    """Hostile pods come, are seen and told of, and go with all that was said of them."""
    for number in range(first, first + WAVE):
        body = hostile(number)
        bench.cluster.store.create(PODS, OTHER, body)
        if number % 60 == 5:
            group = {"metadata": {"name": f"w{number}"}, "spec": {"minMember": 2}}
            bench.cluster.store.create(COSCHEDULING_POD_GROUPS, OTHER, group)
    await bench.clock.advance(3)
    for kind in (PODS, COSCHEDULING_POD_GROUPS, EVENTS):
        for one in (await bench.cluster.list(kind)).items:
            bench.cluster.store.remove(bench.cluster.store.find(kind, target(one)))
    await bench.clock.advance(30)


@pytest.mark.deep
async def test_ten_thousand_hostile_pods_leave_nothing_behind() -> None:
    """Leader and standby hold as much after the last wave as after the first few."""
    bench = Bench()
    try:
        for body in nodes(1, 4, 4):
            await bench.cluster.create(NODES, "", body)
        await add_namespace(bench.cluster, OTHER)
        await bench.start("leader")
        await bench.start("standby")
        tracemalloc.start()
        seen = []
        for number in range(WAVES):
            await wave(bench, number * WAVE)
            if number + 1 in (WARM, WAVES):
                seen.append(held())
    finally:
        tracemalloc.stop()
        await bench.stop()
    assert seen[1] - seen[0] < MOST_LEFT_MIB, seen


def test_long_parts_of_pods_that_are_gone_are_not_kept() -> None:
    """Of 600 pods that had 40 KB of affinity each, less than what ten of them took."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(600):
            values = [f"{number}-{i}-{'x' * 100}" for i in range(350)]
            object_of(PODS, orjson.dumps(pod(affinity={"values": values})))
        gc.collect()
        left = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert left < 400_000
