"""From changes of the cluster to news for open pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import orjson
import structlog

from fourleaf.dashboard.event_stream import Hub
from fourleaf.dashboard.sources.source import ClusterSource
from fourleaf.dashboard.views.fabric import FabricView, LeafCell, key_of, words
from fourleaf.k8s_bridge.runtime.clock import Clock

GATHER_SECONDS = 0.03
"""Seconds after a look in which changes are gathered: a gang's pods come together."""
REST_FACTOR = 2.0
"""That pause as a multiple of what the look took: looks take a third of the time at most."""
LOOK_SECONDS = 5.0
"""Seconds after which to look although nothing has changed: what is known grows old by itself."""

_log = structlog.get_logger(__name__)

Look = Callable[[], FabricView]
Draw = Callable[[LeafCell, str], str]


class ChangeFeed:
    """Looks at the map anew as the cluster changes, and sends the leaves that look different.

    The first change after a pause is looked at without delay. Without readers there is a look
    from time to time, so that a new reader does not have to wait for all that has changed.

    News: `fabric` says that leaves came or went, or that something else is not up to date, and the
    whole map is to be loaded; else `leaves` are those that look different, drawn.
    """

    def __init__(
        self, source: ClusterSource, hub: Hub, clock: Clock, look: Look, draw: Draw
    ) -> None:
        self._source = source
        self._hub = hub
        self._clock = clock
        self._look = look
        self._draw = draw
        self._leaves: dict[str, LeafCell] = {}
        self._version = 0
        self._unsynced: tuple[str, ...] = ()
        self._looked = float("-inf")

    async def run(self) -> None:
        """Follow for ever."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._source.changed(), LOOK_SECONDS)
            began = self._clock.monotonic()
            if not len(self._hub) and began - self._looked < LOOK_SECONDS:
                continue
            try:
                self.step()
            except Exception:  # noqa: BLE001 - one bad look must not end the news for good
                _log.exception("step_failed")
            self._looked = self._clock.monotonic()
            await self._clock.sleep(max(GATHER_SECONDS, REST_FACTOR * (self._looked - began)))

    def greeting(self) -> bytes:
        """What a new reader is told first: the version that all further news build on.

        A page that shows another one loads its map anew.
        """
        if not len(self._hub):
            view = self._look()
            self._leaves, self._version = _leaves(view), view.version
            self._unsynced = tuple(view.unsynced)
        return b"event: hello\ndata: " + orjson.dumps({"version": self._version}) + b"\n\n"

    def step(self) -> None:
        """Look once, and tell what is different since the last look."""
        view = self._look()
        unsynced = tuple(view.unsynced)
        if (view.version, unsynced) == (self._version, self._unsynced):
            return
        leaves = _leaves(view)
        before, self._leaves, self._version = self._leaves, leaves, view.version
        same = before.keys() == leaves.keys() and unsynced == self._unsynced
        self._unsynced = unsynced
        drawn = {
            name: self._draw(leaf, name)
            for name, leaf in leaves.items()
            if same and before[name] != leaf
        }
        news = {
            "version": view.version,
            "fabric": not same,
            "leaves": drawn,
            "totals": view.totals.model_dump(by_alias=True) | words(view.totals),
        }
        self._hub.send(b"event: changed\ndata: " + orjson.dumps(news) + b"\n\n")


def _leaves(view: FabricView) -> dict[str, LeafCell]:
    return {key_of(row, leaf): leaf for row in view.spines for leaf in row.leaves}
