"""When the dashboard is ready: once no page has to wait any more for what can be done before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from fourleaf.dashboard.sources.source import ClusterSource

_log = structlog.get_logger(__name__)


class Readiness:
    """Says no until `source` was read, and a page of it shown once.

    The first look at 1000 nodes and 10,000 pods takes half a second, all others a fiftieth of it.
    """

    def __init__(self, source: ClusterSource) -> None:
        self._source = source
        self._shown = False

    @property
    def lacking(self) -> tuple[str, ...]:
        """Why it says no: kinds that are not up to date, else the first page; empty for a yes."""
        unsynced = self._source.unsynced
        return unsynced if unsynced or self._shown else ("the first page",)

    async def run(self, show: Callable[[], Awaitable[None]]) -> None:
        """Once everything is known, draw pages with `show` and throw them away."""
        try:
            await self._source.synced()
            await show()
        except Exception:  # noqa: BLE001 - a request for the page hears what is wrong with it
            _log.exception("first_page_failed")
        self._shown = True
