"""All reflections of a scheduler, one task each."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import aclosing

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
        selections: Sequence[Kind | Selection],
        on_change: OnChange,
        *,
        timeouts: Timeouts | None = None,
        chance: random.Random | None = None,
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._on_change = on_change
        self._timeouts = timeouts
        self._chance = chance
        self._selections: dict[Kind, Selection] = {}
        for selection in map(selection_of, selections):
            if selection.kind in self._selections:
                raise ValueError(
                    f"informers: {selection.kind.plural}.{selection.kind.group} is there twice; "
                    "give the second one Informers of its own"
                )
            self._selections[selection.kind] = selection
        self._pulses = {kind: Pulse(kind, clock) for kind in self._selections}
        self._waiting = set(self._selections)
        self._synced = asyncio.Event()
        self._tasks: dict[Kind, asyncio.Task[None]] = {}
        self._started = False
        self._ended = asyncio.Event()

    def start(self) -> None:
        """Begin. Needs a running event loop."""
        self._started = True
        for selection in self._selections.values():
            self._begin(selection)
        if not self._waiting:
            self._synced.set()

    def select(self, among: Container[Kind], selections: Iterable[Selection]) -> None:
        """Of the kinds `among`, follow those of `selections` from now on and no other.

        Nothing waits for the first list of what is added once all has been `started`.
        """
        wanted = {one.kind: one for one in selections}
        followed = [kind for kind in self._selections if kind in among]
        for kind in [one for one in followed if self._selections[one] != wanted.get(one)]:
            del self._selections[kind], self._pulses[kind]
            if kind in self._tasks:
                self._tasks.pop(kind).cancel()
            self._on_change(kind, Absent())
            self._heard(kind)
        for kind, selection in wanted.items():
            if kind not in self._selections:
                self._selections[kind] = selection
                self._pulses[kind] = Pulse(kind, self._clock)
                if self._started:
                    self._begin(selection)

    def _begin(self, selection: Selection) -> None:
        kind = selection.kind
        task = asyncio.create_task(self._follow(selection), name=f"reflect {kind.plural}")
        task.add_done_callback(lambda _: self._ended.set())
        self._tasks[kind] = task

    async def synced(self) -> None:
        """Wait until each kind has had its first list, or is known not to be served.

        Raises what broke a reflection meanwhile.
        """
        synced_task = asyncio.create_task(self._synced.wait(), name="synced")
        try:
            while not synced_task.done():
                self._raise_broken()
                # One that is followed no longer has ended, and others have begun.
                going = [task for task in self._tasks.values() if not task.done()]
                waited = {synced_task, *going}
                await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            self._raise_broken()
        finally:
            synced_task.cancel()
            await asyncio.wait({synced_task})

    async def broken(self) -> None:
        """Wait until a reflection breaks, and raise what broke it; for a program's main group."""
        while self._tasks:
            await self._ended.wait()
            self._ended.clear()
            self._raise_broken()

    def health(self) -> dict[Kind, Health]:
        """How each kind does now, by the first kind of its subject."""
        return {kind: pulse.read() for kind, pulse in self._pulses.items()}

    def out_of_date(self) -> tuple[str, ...]:
        """Plurals of the kinds whose copy is not complete, or older than it may be."""
        now = self._clock.monotonic()
        return tuple(k.plural for k, one in self.health().items() if not one.is_current(now))

    async def close(self) -> None:
        """End all reflections and their connections. Raises what broke one before."""
        for task in self._tasks.values():
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks.values())
        self._raise_broken()

    async def __aenter__(self) -> Informers:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _follow(self, selection: Selection) -> None:
        changes = reflect(
            self._cluster,
            selection,
            self._clock,
            timeouts=self._timeouts,
            pulse=self._pulses[selection.kind],
            chance=self._chance,
        )
        async with aclosing(changes):
            async for change in changes:
                self._on_change(selection.kind, change)
                if isinstance(change, Replaced | Absent):
                    self._heard(selection.kind)

    def _heard(self, kind: Kind) -> None:
        self._waiting.discard(kind)
        if not self._waiting:
            self._synced.set()

    def _raise_broken(self) -> None:
        for task in self._tasks.values():
            if task.done() and not task.cancelled() and (error := task.exception()):
                raise error
