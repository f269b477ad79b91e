"""All reflections of a scheduler, one task each."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import aclosing
from types import TracebackType

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.protocol import Cluster
from fourleaf.k8s_bridge.informers.changes import Absent, Change, Replaced
from fourleaf.k8s_bridge.informers.health import Health, Pulse
from fourleaf.k8s_bridge.informers.reflector import reflect
from fourleaf.k8s_bridge.informers.selection import Selection, selection_of
from fourleaf.k8s_bridge.informers.timeouts import Timeouts
from fourleaf.k8s_bridge.runtime.clock import Clock

OnChange = Callable[[Kind, Change], None]


class Informers:
    """Calls `on_change(kind, change)` for each change to any of `subjects`, in order per kind.

    `kind` is the first of the subject's, whichever alternative is served. A call that raises
    ends that kind's reflection and shows in `synced`, `broken` and `close`. An async context
    manager; outside of one, call `start` and `close`. Raises `ValueError` for two subjects of
    one kind.
    """

    def __init__(
        self,
        cluster: Cluster,
        clock: Clock,
        subjects: Sequence[Kind | Selection],
        on_change: OnChange,
        *,
        patience: Timeouts | None = None,
        chance: random.Random | None = None,
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._on_change = on_change
        self._patience = patience
        self._chance = chance
        self._subjects: dict[Kind, Selection] = {}
        for subject in map(selection_of, subjects):
            if subject.kind in self._subjects:
                raise ValueError(
                    f"reflectors: subjects: {subject.kind.plural}.{subject.kind.group} is there "
                    "twice; give the second one Reflectors of its own"
                )
            self._subjects[subject.kind] = subject
        self._pulses = {kind: Pulse(kind, clock) for kind in self._subjects}
        self._waiting = set(self._subjects)
        self._synced = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin. Needs a running event loop."""
        for kind, subject in self._subjects.items():
            task = asyncio.create_task(self._follow(subject), name=f"reflect {kind.plural}")
            self._tasks.append(task)
        if not self._waiting:
            self._synced.set()

    async def synced(self) -> None:
        """Wait until each kind has had its first list, or is known not to be served.

        Raises what broke a reflection meanwhile.
        """
        told = asyncio.create_task(self._synced.wait(), name="synced")
        try:
            await asyncio.wait({told, *self._tasks}, return_when=asyncio.FIRST_COMPLETED)
            self._raise_broken()
        finally:
            told.cancel()
            await asyncio.wait({told})

    async def broken(self) -> None:
        """Wait until a reflection breaks, and raise what broke it; for a program's main group."""
        if self._tasks:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
            self._raise_broken()

    def health(self) -> dict[Kind, Health]:
        """How each kind does now, by the first kind of its subject."""
        return {kind: pulse.read() for kind, pulse in self._pulses.items()}

    async def close(self) -> None:
        """End all reflections and their connections. Raises what broke one before."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._raise_broken()

    async def __aenter__(self) -> Informers:
        self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _follow(self, subject: Selection) -> None:
        changes = reflect(
            self._cluster,
            subject,
            self._clock,
            patience=self._patience,
            pulse=self._pulses[subject.kind],
            chance=self._chance,
        )
        async with aclosing(changes):
            async for change in changes:
                self._on_change(subject.kind, change)
                if isinstance(change, Replaced | Absent):
                    self._waiting.discard(subject.kind)
                    if not self._waiting:
                        self._synced.set()

    def _raise_broken(self) -> None:
        for task in self._tasks:
            if task.done() and not task.cancelled() and (error := task.exception()):
                raise error
