"""Bare bindings: what the API server takes where nobody has to think about where."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.throughput.caller import PODS, Caller, together
from benchmarks.throughput.contenders import plane
from benchmarks.throughput.load import NAMESPACE, Case, fabric, pod
from tests.controlplane.fleet import create_nodes

NOBODY = "nobody"
"""The scheduler that the pods name, so that the benchmark alone binds them."""


@dataclass(frozen=True, slots=True)
class Bare:
    """Seconds that it took to create all pods, and after that to bind them all."""

    pods: int
    create: float
    bind: float

    @property
    def rate(self) -> float:
        """Bindings a second."""
        return self.pods / self.bind


def bare(case: Case) -> Bare:
    """Bind as many pods as `case` has, 64 at a time, each to a node that was known before."""
    nodes = fabric(case.nodes)
    with plane() as control:
        asyncio.run(create_nodes(control.kubeconfig(), nodes))
        with control.api() as api:
            api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        names = [node["metadata"]["name"] for node in nodes]
        return asyncio.run(_bound(control.kubeconfig(), names[: case.pods]))


async def _bound(kubeconfig: Path, nodes: list[str]) -> Bare:
    async with Caller(kubeconfig) as caller:

        async def create(node: str) -> None:
            await caller.request("POST", PODS, pod(f"p-{node}", NOBODY))

        async def bind(node: str) -> None:
            body = {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"name": f"p-{node}"},
                "target": {"apiVersion": "v1", "kind": "Node", "name": node},
            }
            await caller.request("POST", f"{PODS}/p-{node}/binding", body)

        start = time.perf_counter()
        await together(nodes, create)
        created = time.perf_counter()
        await together(nodes, bind)
        return Bare(len(nodes), created - start, time.perf_counter() - created)
