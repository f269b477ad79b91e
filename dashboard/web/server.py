"""The HTTP server of the pages: answers may last, as those that follow the cluster do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fourleaf.dashboard.web.guard import MOST_BODY_BYTES, App
from fourleaf.k8s_bridge.runtime.http.limits import LIMITS
from fourleaf.k8s_bridge.runtime.http.listener import Listener

DASHBOARD_LIMITS = replace(LIMITS, body=MOST_BODY_BYTES, streams=True, idle=30.0, drain=2.0)


class DashboardServer(Listener):
    """Serves `app` at `host:port` while its context is open. `port` 0 takes any that is free.

    Opening raises `OSError` where the address cannot be had. `leaving` is called first of all
    when it closes, so that answers without end find theirs.
    """

    def __init__(self, app: App, host: str, port: int, leaving: Callable[[], None]) -> None:
        super().__init__(app, host, port, limits=DASHBOARD_LIMITS)
        self._leaving = leaving

    @property
    def idle(self) -> bool:
        """Whether no connection is open, as every page holds one that follows the cluster."""
        return not self.server_state.connections

    async def __aexit__(self, *error: object) -> None:
        self._leaving()
        await super().__aexit__(*error)
