"""Memory belongs to no tenant: long parts of pods that have gone are let go."""

from __future__ import annotations

import gc
import tracemalloc

import orjson

from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.slim import object_of
from tests.model.readers.made import pod


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
