"""A cluster that answers lists and watches from a script, and what reads it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.protocol import Body, Listing, WatchEvent
from fourleaf.k8s_bridge.informers import (
    Absent,
    Change,
    Pulse,
    Put,
    Replaced,
    Selection,
    Timeouts,
    reflect,
)
from fourleaf.k8s_bridge.runtime.clock import Clock

SILENCE = float("inf")
LIST = "list"
WATCH = "watch"


@dataclass
class Script:
    """Answers in order; the last list repeats, and after the last watch all is silent.

    In a watch, a number is a silence in seconds, and the watch ends with its last step.
    """

    lists: list[Listing | Exception | float]
    watches: list[list[WatchEvent | Exception | float]] = field(default_factory=list)


@dataclass(frozen=True)
class Asked:
    """One request: when, what for, from which version."""

    at: float
    verb: str
    version: str = ""
    cached: bool = False


class Scripted:
    """`list` and `watch` of a cluster; kinds without a script are not served."""

    def __init__(self, clock: Clock, scripts: dict[Kind, Script]) -> None:
        self.clock = clock
        self.scripts = scripts
        self.asked: list[Asked] = []
        self.open = 0

    def times(self, verb: str) -> list[float]:
        """When it was asked."""
        return [round(asked.at, 6) for asked in self.asked if asked.verb == verb]

    def versions(self) -> list[str]:
        """From where the watches started."""
        return [asked.version for asked in self.asked if asked.verb == WATCH]

    async def list(
        self,
        kind: Kind,
        namespace: str = "",
        labels: str = "",
        cached: bool = False,
        fields: str = "",
    ) -> Listing:
        """The next list of the script."""
        self.asked.append(Asked(self.clock.monotonic(), LIST, cached=cached))
        await asyncio.sleep(0)
        lists = self._script(kind).lists
        answer = lists.pop(0) if len(lists) > 1 else lists[0]
        if isinstance(answer, float):
            await self._silence(answer)
            return await self.list(kind, namespace, labels, cached, fields)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def watch(
        self, kind: Kind, version: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """The next watch of the script."""
        self.asked.append(Asked(self.clock.monotonic(), WATCH, version))
        await asyncio.sleep(0)
        watches = self._script(kind).watches
        self.open += 1
        try:
            for step in watches.pop(0) if watches else [SILENCE]:
                if isinstance(step, float):
                    await self._silence(step)
                elif isinstance(step, Exception):
                    raise step
                else:
                    yield step
        finally:
            self.open -= 1

    def _script(self, kind: Kind) -> Script:
        if kind not in self.scripts:
            raise NotFound("the server could not find the requested resource", 404)
        return self.scripts[kind]

    async def _silence(self, seconds: float) -> None:
        if seconds == SILENCE:
            await asyncio.get_running_loop().create_future()
        await self.clock.sleep(seconds)


class Longest(random.Random):
    """Chance that always gives the longest wait, so that times can be worked out by hand."""

    def uniform(self, a: float, b: float) -> float:
        """The upper end."""
        return b


def body(name: str, version: int, **extra: Any) -> Body:
    """An object at a version."""
    return {"metadata": {"namespace": "ml", "name": name, "resourceVersion": str(version)}, **extra}


def listing(version: int, *items: Body) -> Listing:
    """All objects at a version."""
    return Listing(list(items), str(version))


def put(name: str, version: int) -> WatchEvent:
    """The event of a change."""
    return WatchEvent("MODIFIED", body(name, version))


def deleted(name: str, version: int) -> WatchEvent:
    """The event of a deletion."""
    return WatchEvent("DELETED", body(name, version))


def bookmark(version: int) -> WatchEvent:
    """The event that only says how far the server has got."""
    return WatchEvent("BOOKMARK", {"metadata": {"resourceVersion": str(version)}})


@asynccontextmanager
async def reading(
    cluster: Any,
    what: Kind | Selection,
    clock: Clock,
    patience: Timeouts | None = None,
    pulse: Pulse | None = None,
) -> AsyncIterator[list[Change]]:
    """What a reflection has told so far; the longest waits of all."""
    changes: list[Change] = []

    async def read() -> None:
        reflected = reflect(cluster, what, clock, timeouts=patience, pulse=pulse, chance=Longest())
        async with aclosing(reflected):
            async for change in reflected:
                changes.append(change)  # noqa: PERF401 - one at a time, to be looked at meanwhile

    task = asyncio.create_task(read())
    try:
        yield changes
    finally:
        task.cancel()
        await asyncio.wait({task})


def told(changes: list[Change]) -> list[str]:
    """The changes in short: `=a@1,b@2` for a list, `+a@3`, `-a@4`, `absent`."""
    return [_short(change) for change in changes]


def _short(change: Change) -> str:
    if isinstance(change, Absent):
        return "absent"
    if isinstance(change, Replaced):
        return "=" + ",".join(_named(item) for item in change.items)
    return ("+" if isinstance(change, Put) else "-") + _named(change.body)


def _named(item: Body) -> str:
    return f"{item['metadata']['name']}@{item['metadata']['resourceVersion']}"


class Store:
    """What a consumer makes of changes: the versions of the objects by name."""

    def __init__(self) -> None:
        self.versions: dict[str, str] = {}

    def fold(self, change: Change) -> None:
        """Apply one change."""
        if isinstance(change, Replaced):
            self.versions = dict(self._entry(item) for item in change.items)
        elif isinstance(change, Put):
            name, version = self._entry(change.body)
            self.versions[name] = version
        elif isinstance(change, Absent):
            self.versions = {}
        else:
            self.versions.pop(self._entry(change.body)[0], None)

    @staticmethod
    def _entry(item: Body) -> tuple[str, str]:
        metadata = item["metadata"]
        return f"{metadata.get('namespace', '')}/{metadata['name']}", metadata["resourceVersion"]
