"""Memory belongs to no tenant: what has come and gone leaves nothing behind in any replica."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import Iterable
from functools import _lru_cache_wrapper
from types import BuiltinFunctionType, FunctionType, ModuleType

import orjson
import pytest

from fourleaf.k8s_bridge.cluster import slim
from fourleaf.k8s_bridge.cluster.kinds import (
    COSCHEDULING_POD_GROUPS,
    EVENTS,
    GPU_CLAIMS,
    JOBS,
    NODES,
    PODS,
)
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, nodes, target
from fourleaf.k8s_bridge.cluster.memory.journal import WatchJournal
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.cluster.slim import object_of
from fourleaf.k8s_bridge.reporting.audit import Audit
from fourleaf.k8s_bridge.reporting.recorder.event_series import QUIET_SECONDS
from fourleaf.model.quantity import mbits
from tests.fuzz.seeds import WISHES
from tests.k8s_bridge.test_scheduler import Bench
from tests.model.readers.made import pod

OTHER = "other"
MARK = "zqz"
"""Stands in every text that a hostile pod has of its own."""
MINUTES = int(QUIET_SECONDS // 60) + 2
"""After that nothing that a replica remembers for a while is of use any more."""

_CODE = (type, ModuleType, FunctionType, BuiltinFunctionType, _lru_cache_wrapper)


def hostile(number: int) -> tuple[Body, Body, Body, Body]:
    """Make a pod of which all is its own, and a group, a claim and a Job that it names."""
    own = f"{MARK}{number}"
    term = {"matchExpressions": [{"key": own, "operator": "NotIn", "values": [own, f"{own}-2"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    kinds: tuple[Body, ...] = (
        {},
        {
            "annotations": {
                **WISHES,
                "topology.scheduler/gang": own,
                f"topology.scheduler/{own}": "",
            }
        },
        {"schedulingGates": [{"name": own}]},
        {"nodeSelector": {own: "such"}},
        {"annotations": {"gpu-scheduling-map": f"0={own}:0,1"}},
        {"labels": {"scheduling.x-k8s.io/pod-group": own}},
        {"annotations": {"gpu.scheduling/claim": own}},
        {"annotations": {"topology.scheduler/preferred-domain": own}},
    )
    body = pod(own, number % 9, namespace=OTHER, **kinds[number % len(kinds)])
    body["spec"] |= {"affinity": {"nodeAffinity": required}, "tolerations": [{"key": own}]}
    named = {"metadata": {"name": own}}
    job = {**named, "spec": {"parallelism": 2, "template": {"spec": {"containers": []}}}}
    if number % 5 == 0:
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": own, "uid": f"{own}-uid"}
        body["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
    return body, {**named, "spec": {"minMember": 2}}, {**named, "spec": {"devices": [9]}}, job


async def wave(bench: Bench, first: int, pods: int) -> None:
    """Hostile objects come, are seen and told of, and go with all that was said of them."""
    store = bench.cluster.store
    kinds = (PODS, COSCHEDULING_POD_GROUPS, GPU_CLAIMS, JOBS)
    for number in range(first, first + pods):
        for kind, body in zip(kinds, hostile(number), strict=True):
            store.create(kind, OTHER, body)
    await bench.clock.advance(3)
    for kind in (*kinds, EVENTS):
        for one in (await bench.cluster.list(kind)).items:
            store.remove(store.find(kind, target(one)))
    for _ in range(MINUTES):
        # What a server sends watches that have nothing else to say.
        store.bookmark()
        await bench.clock.advance(60)
    # The last of each kind are others', and make a cycle and an event, which forget what is gone.
    others = orjson.loads(orjson.dumps(hostile(first)).replace(MARK.encode(), b"honest"))
    for kind, body in zip(kinds, others, strict=True):
        store.create(kind, OTHER, body)
    await bench.clock.advance(20)


def held(roots: Iterable[object], others: Iterable[object]) -> list[object]:
    """All that is reached from `roots`, without `others`, code and what functions remember."""
    seen, found, there = {id(one) for one in others}, [], list(roots)
    while there:
        one = there.pop()
        if id(one) in seen or isinstance(one, _CODE):
            continue
        seen.add(id(one))
        found.append(one)
        there += gc.get_referents(one)
        if isinstance(one, asyncio.Task):
            there.append(one.get_coro())
    return found


@pytest.mark.parametrize(
    ("waves", "pods"), [(3, 40), pytest.param(20, 500, marks=pytest.mark.deep)]
)
async def test_waves_of_hostile_pods_leave_nothing_behind(waves: int, pods: int) -> None:
    """Leader and standby hold no text of pods that are gone, nor more after the last wave."""
    bench = Bench()
    bench.audit = Audit(lambda _: None, bench.clock)
    try:
        for body in nodes(1, 4, 4):
            await bench.cluster.create(NODES, "", body)
        await add_namespace(bench.cluster, OTHER)
        replicas = [(await bench.start(x), bench.tasks[-1]) for x in ("leader", "standby")]
        counts = []
        for number in range(waves):
            await wave(bench, number * pods, pods)
            gc.collect()
            # Another test may have let survivors be frozen, which `get_objects` leaves out.
            gc.unfreeze()
            # The cluster, of which they have a client, is not theirs; notes of cycles are bounded.
            journals = (one for one in gc.get_objects() if isinstance(one, WatchJournal))
            others: list[object] = [bench, bench.cluster.store, bench.clock, *journals]
            others += [asyncio.get_running_loop(), *(one.reporter._notes for one, _ in replicas)]
            found = [held(roots, others) for roots in replicas]
            marked = [t for one in found for t in one if isinstance(t, str) and MARK in t]
            assert not marked, sorted(set(marked))[:20]
            counts.append([len(one) for one in found])
    finally:
        await bench.stop()
    assert all(last < second + pods for second, last in zip(counts[1], counts[-1], strict=True))


def test_long_parts_of_pods_that_are_gone_are_not_kept() -> None:
    """Of 600 pods that had 40 KB of affinity each, less than what ten of them took."""
    # What tests before it left there would be moved to a larger table meanwhile.
    slim._SHARED.cache_clear()
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


def test_space_around_a_wish_is_not_kept() -> None:
    """Of 100 bandwidths behind 50 KB of space each, less than what ten of them took."""
    tracemalloc.start()
    try:
        for number in range(1, 101):
            assert mbits(" " * 50_000 + f"{number}Gb") == number * 1000
        left = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert left < 400_000
