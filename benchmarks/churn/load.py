"""Gangs that come, run and go, and nodes that come and go under them."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any

from benchmarks.throughput.caller import PODS, Caller, RequestError
from benchmarks.throughput.load import WHOLE, Gang, pod
from tests.controlplane.fleet import LEAF_LABEL

SCHEDULER = "topology-aware-scheduler"
SIZES = (1, 1, 1, 2, 2, 4, 8)
"""Pods of a gang, each as likely as it stands here."""
GPUS = (1, 2, 4, 8)
"""GPUs of each pod of a single-pod gang; the pods of wider gangs take their nodes."""
LIFE = (5.0, 60.0)
"""Seconds from the creation of a gang until its pods are deleted, bound or not."""
ONE_IN = 20
"""Of so many gangs one is too large for now: it wants all of a leaf of which a node is cordoned."""
SPARE = 2.0
"""Seconds before that node may be back in which such a gang is deleted at the latest."""
NODE_EVERY = 2.0
"""Seconds between two changes to nodes."""
AWAY = 20.0
"""Seconds for which a node is cordoned, and then gone where it has become empty."""
AT_ONCE = 32


class Churn:
    """Keeps `rate` gangs a second coming; `came` counts them, `gangs` are there now.

    `cordoned` and `replaced` count nodes, `too_large` gangs that could not start when they came,
    `cancelled` those of them that were deleted while they waited.
    """

    def __init__(
        self, caller: Caller, nodes: Sequence[dict[str, Any]], rate: float, seed: int
    ) -> None:
        self.came = 0
        self.cordoned = 0
        self.replaced = 0
        self.too_large = 0
        self.cancelled = 0
        self.gangs: dict[str, Gang] = {}
        self._leaf_sizes = Counter(map(_leaf, nodes))
        self._short: dict[str, float] = {}
        self._caller = caller
        self._nodes = list(nodes)
        self._rate = rate
        self._dice = random.Random(seed)  # noqa: S311 - a load, not a secret
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def run(self, seconds: float) -> None:
        """Let gangs come for so long, then wait until the last one has gone."""
        async with asyncio.TaskGroup() as tasks:
            nodes = tasks.create_task(self._change_nodes())
            start = time.perf_counter()
            while (now := time.perf_counter()) < start + seconds:
                due = start + self.came / self._rate
                await asyncio.sleep(max(0.0, due - now))
                tasks.create_task(self._next())
            nodes.cancel()

    def _next(self) -> Coroutine[None, None, None]:
        """The life of the next gang."""
        self.came += 1
        name = f"c{self.came:06}"
        if self.came % ONE_IN == 0 and self._short:
            leaf = max(self._short, key=self._short.__getitem__)
            left = self._short[leaf] + AWAY - SPARE - time.perf_counter()
            if left > 0:
                return self._wait(Gang(name, self._leaf_sizes[leaf]), leaf, left)
        return self._live(Gang(name, self._dice.choice(SIZES)))

    async def _live(self, gang: Gang) -> None:
        gpus = self._dice.choice(GPUS) if gang.size == 1 else WHOLE
        life = self._dice.uniform(*LIFE)
        await self._come(gang, gpus)
        await asyncio.sleep(life)
        await self._go(gang)

    async def _wait(self, gang: Gang, leaf: str, left: float) -> None:
        """A gang of a whole leaf that is short of a node for so many seconds, and goes before."""
        life = self._dice.uniform(min(LIFE[0], left), left)
        until = time.perf_counter() + life
        self.too_large += 1
        await self._come(gang, WHOLE, {LEAF_LABEL: leaf})
        await asyncio.sleep(until - time.perf_counter())
        bodies = [await self._ask("GET", f"{PODS}/{name}") for name in gang.pods()]
        self.cancelled += not any(body["spec"].get("nodeName") for body in bodies)
        await self._go(gang)

    async def _come(self, gang: Gang, gpus: int, selector: dict[str, str] | None = None) -> None:
        told = {
            "topology.scheduler/gang": gang.name,
            "topology.scheduler/gang-size": str(gang.size),
        }
        self.gangs[gang.name] = gang
        for name in gang.pods():
            body = pod(name, SCHEDULER, annotations=told, gpus=gpus)
            body["spec"] |= {"nodeSelector": selector} if selector else {}
            await self._ask("POST", PODS, body)

    async def _go(self, gang: Gang) -> None:
        for name in gang.pods():
            await self._ask("DELETE", f"{PODS}/{name}")
        del self.gangs[gang.name]

    async def _change_nodes(self) -> None:
        """Every so often, take a node out of use for a while."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                await asyncio.sleep(NODE_EVERY)
                node = self._nodes.pop(self._dice.randrange(len(self._nodes)))
                tasks.create_task(self._away(node))

    async def _away(self, node: dict[str, Any]) -> None:
        """Cordon a node; where that leaves it empty, delete it and make it anew."""
        name = node["metadata"]["name"]
        path = f"/api/v1/nodes/{name}"
        began = time.perf_counter()
        await self._edit(path, unschedulable=True)
        self._short[_leaf(node)] = began
        await asyncio.sleep(AWAY)
        self._short.pop(_leaf(node), None)
        held = await self._ask("GET", f"/api/v1/pods?fieldSelector=spec.nodeName%3D{name}")
        if held["items"]:
            self.cordoned += 1
            await self._edit(path, unschedulable=False)
        else:
            self.replaced += 1
            await self._ask("DELETE", path)
            await asyncio.sleep(AWAY)
            await self._ask("POST", "/api/v1/nodes", node)
            # admission taints every new node until a controller sees it ready
            await self._edit(path, taints=[])
        self._nodes.append(node)

    async def _edit(self, path: str, **spec: Any) -> None:
        """Write fields of a node's spec; kubelets write nodes too, so it may take two tries."""
        while True:
            node = await self._ask("GET", path)
            node["spec"].update(spec)
            with suppress(RequestError):
                await self._ask("PUT", path, node)
                return

    async def _ask(self, method: str, path: str, body: Any = None) -> Any:
        async with self._turns:
            return await self._caller.request(method, path, body)


def _leaf(node: dict[str, Any]) -> str:
    return str(node["metadata"]["labels"][LEAF_LABEL])
