"""A cluster that fails its readers in every way that a real one does, until it is told to stop."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Gone, NotFound, Refused, Throttled
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.protocol import Listing, WatchEvent

FAILURES = (
    Ambiguous("no answer"),
    Ambiguous("bad gateway", 502),
    Throttled("busy", 429, retry_after=3),
    Throttled("shutting down", 503),
    Gone("too old resource version", 410, "Expired"),
    Refused("unauthorized", 401, "Unauthorized"),
    Refused("forbidden", 403, "Forbidden"),
    NotFound("the server could not find the requested resource", 404),
)


class Faulty:
    """`list` and `watch` of the twin, with failures, cuts, stalls, repeats and stale lists."""

    def __init__(self, cluster: MemoryCluster, seed: int) -> None:
        self.cluster = cluster
        self.chance = random.Random(seed)  # noqa: S311 - has to repeat
        self.faults = True
        self.happened = Counter[str]()
        self._past: dict[Kind, list[Listing]] = {}

    async def list(
        self,
        kind: Kind,
        namespace: str = "",
        labels: str = "",
        cached: bool = False,
        fields: str = "",
    ) -> Listing:
        """The list, one of the past, a failure, or no answer."""
        if self._strikes("list failed", 0.3):
            raise self.chance.choice(FAILURES)
        if self._strikes("list hung", 0.05):
            await asyncio.get_running_loop().create_future()
        past = self._past.setdefault(kind, [])
        past.append(await self.cluster.list(kind, namespace, labels, cached, fields))
        return self.chance.choice(past) if self._strikes("list stale", 0.3) else past[-1]

    async def watch(
        self, kind: Kind, version: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """The events, until something goes wrong."""
        if self._strikes("watch failed", 0.3):
            raise self.chance.choice(FAILURES)
        sent: list[WatchEvent] = []
        watch = self.cluster.watch(kind, version, namespace, labels, fields)
        async with aclosing(watch) as events:
            async for event in events:
                if self._strikes("watch cut", 0.03):
                    raise self.chance.choice(FAILURES)
                if self._strikes("watch ended", 0.03):
                    return
                if self._strikes("watch stalled", 0.02):
                    await asyncio.get_running_loop().create_future()
                if sent and self._strikes("event repeated", 0.05):
                    yield self.chance.choice(sent)
                sent.append(event)
                yield event

    def _strikes(self, fault: str, share: float) -> bool:
        struck = self.faults and self.chance.random() < share
        self.happened[fault] += struck
        return struck
