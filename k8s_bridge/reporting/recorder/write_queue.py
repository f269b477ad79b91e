"""Write queue: bounded and rate-limited; of each key only the newest item is written.

Namespaces take turns, and have writers of their own: a webhook may let every write in one hang.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

import structlog

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Conflict, NotFound, Throttled
from fourleaf.k8s_bridge.election.gate import NotLeader
from fourleaf.k8s_bridge.reporting.recorder.items_in_turn import ItemsInTurn
from fourleaf.k8s_bridge.reporting.recorder.refusal_log import RefusalLog
from fourleaf.k8s_bridge.runtime.clock import Clock

T = TypeVar("T")


HOLD_POLL_SECONDS = 0.05
"""Seconds until a queue that is held looks again."""

NAMESPACES_AT_ONCE = 4
"""Namespaces that may have all of their writers busy before others have to wait."""


def never() -> bool:
    """Nothing holds the queue."""
    return False


def no_namespace(_: object) -> str:
    """All items are of one."""
    return ""


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """How much may wait, and goes out a second and at once; by how many writers a namespace."""

    waiting: int
    rate: float
    burst: float
    writers: int = 2


@dataclass(slots=True)
class QueueCounts:
    """What became of what was put in, since the start."""

    written: int = 0
    failed: int = 0
    dropped: int = 0


class WriteQueue(Generic[T]):
    """Takes items at once and writes them in its own time; never raises what a write raises.

    Namespaces, as `namespace_of` an item says, take turns, and of each what waits longest is
    written first. What does not fit is dropped, the newest first of the namespace that has most.
    Nothing is written while `held` says so.
    """

    def __init__(
        self,
        name: str,
        clock: Clock,
        limits: QueueLimits,
        write: Callable[[T], Awaitable[None]],
        held: Callable[[], bool] = never,
        namespace_of: Callable[[T], str] = no_namespace,
    ) -> None:
        self.counts = QueueCounts()
        self._name = name
        self._clock = clock
        self._limits = limits
        self._write = write
        self._held = held
        self._namespace_of = namespace_of
        self._refusals = RefusalLog(name, clock)
        self._bucket = TokenBucket(clock, limits.rate, limits.burst)
        self._items = ItemsInTurn(limits.waiting, namespace_of)
        self._busy: dict[Hashable, str] = {}
        self._writers: Counter[str] = Counter()
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._overflowing = False
        self._log = structlog.get_logger(__name__)

    def __len__(self) -> int:
        return len(self._items)

    def put(self, key: Hashable, item: T) -> None:
        """Let `item` be written, in the place of one of the same key that still waits."""
        if self._items.put(key, item):
            self.counts.dropped += 1
            if not self._overflowing:
                self._overflowing = True
                self._log.warning("telling_too_much", lane=self._name, waiting=len(self._items))
        self._idle.clear()
        self._wake.set()

    def drop(self, keys: Iterable[Hashable]) -> None:
        """Forget what still waits under `keys`."""
        for key in keys:
            self._items.pop(key)
        self._note_idle()

    def clear(self) -> None:
        """Forget all that still waits."""
        self._items.clear()
        self._note_idle()

    async def run(self) -> None:
        """Write what comes, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._limits.writers * NAMESPACES_AT_ONCE):
                group.create_task(self._serve())

    async def settle(self) -> None:
        """Wait until nothing waits and nothing is being written; needs `run`."""
        await self._idle.wait()

    def _note_idle(self) -> None:
        if not len(self._items) and not self._busy:
            self._idle.set()

    async def _serve(self) -> None:
        while True:
            key = self._next()
            if key is None:
                self._wake.clear()
                await self._wake.wait()
                continue
            try:
                while self._held():
                    await self._clock.sleep(HOLD_POLL_SECONDS)
                await self._bucket.take()
                # What came in the meantime replaces it; what was dropped is not written.
                # Nothing of it stays in this frame, which lives as long as the process.
                await self._attempt(key)
            finally:
                self._writers -= Counter((self._busy.pop(key),))
                self._note_idle()
                if len(self._items):
                    self._wake.set()

    def _next(self) -> Hashable | None:
        """The key that has waited longest in the namespace whose turn it is, for one writer."""
        full = {one for one, count in self._writers.items() if count >= self._limits.writers}
        found = self._items.next(self._busy, full)
        if found is None:
            return None
        key, namespace = found
        self._busy[key] = namespace
        self._writers[namespace] += 1
        return key

    async def _attempt(self, key: Hashable) -> None:
        item = self._items.pop(key)
        if item is None:
            return
        try:
            await self._write(item)
        except Throttled as error:
            if key not in self._items:
                self._items.put(key, item)
            await self._clock.sleep(error.retry_after or 1.0)
        except NotLeader:
            self.clear()
        except ClusterError as error:
            self.counts.failed += 1
            # Objects that have changed or gone are everyday; refusals are not.
            if isinstance(error, Conflict | NotFound):
                self._log.debug("not_told", lane=self._name, item=str(key), why=str(error))
            else:
                self._refusals.refused(self._namespace_of(item), key, error)
        else:
            self.counts.written += 1
            self._overflowing = self._overflowing and len(self._items) > 0


class TokenBucket:
    """Holds at most `burst` tokens and gains `rate` a second; starts full."""

    def __init__(self, clock: Clock, rate: float, burst: float) -> None:
        self._clock = clock
        self._rate = rate
        self._burst = burst
        self._tokens = burst
        self._at = clock.monotonic()

    async def take(self) -> None:
        """Take one token, once there is one. Those who wait are served in turn."""
        now = self._clock.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
        self._at = now
        # A debt is what makes those who come later wait longer.
        self._tokens -= 1
        if self._tokens < 0:
            await self._clock.sleep(-self._tokens / self._rate)
