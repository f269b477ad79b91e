"""A cluster on a real API server: nodes, gangs that hold their GPUs, other pods, a queue."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.dashboard.scene import gang, pod
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.live import connect
from tests.controlplane.fleet import Fleet, create_nodes

NODES, TOTAL = 1000, 10_000
GANG, NODES_PER_GANG = 32, 4
"""Pods of one GPU in a gang, and the whole nodes that they fill."""
BUSY = 900
WAITING, MEMBERS = 40, 8
NAMESPACE = "bench"

Body = dict[str, Any]


def bodies() -> Iterator[Body]:
    """All pods: gangs on `BUSY` nodes, others without GPUs on all, and gangs that wait."""
    made = 0
    for number in range(BUSY // NODES_PER_GANG):
        first = number * NODES_PER_GANG
        seats = [first + i // 8 for i in range(GANG)]
        for body in gang((NAMESPACE, f"run-{number}"), seats, 1):
            made += 1
            yield body
    for number in range(WAITING):
        for index in range(MEMBERS):
            made += 1
            yield pod(NAMESPACE, f"wait-{number}", index, MEMBERS, 8)
    for number in range(TOTAL - made):
        yield from gang((NAMESPACE, f"other-{number}"), [number % NODES], 0, "default-scheduler")


def build(kubeconfig: Path) -> None:
    """Create everything."""
    asyncio.run(_build(kubeconfig))


async def _build(kubeconfig: Path) -> None:
    await create_nodes(kubeconfig, Fleet(NODES).objects())
    cluster = await connect(str(kubeconfig), None)
    try:
        waiting: Iterable[Body] = bodies()
        queue = iter(waiting)

        async def work() -> None:
            for body in queue:
                body.pop("status")
                body["metadata"].pop("creationTimestamp")
                await cluster.create(PODS, NAMESPACE, body)

        async with asyncio.TaskGroup() as group:
            for _ in range(32):
                group.create_task(work())
    finally:
        await cluster.close()
