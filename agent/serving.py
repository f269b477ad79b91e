"""The HTTP server of an agent: probes and metrics. Plain HTTP, read only."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

import orjson
from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from k8s_bridge.serving import Address

STALE_AFTER = 180.0
"""Seconds without a round after which the agent counts as dead: no wait of its is that long."""

_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Server": "fourleaf-agent",
}


class AgentServer:
    """Serves `/healthz`, `/readyz` and `/metrics` while its context is open.

    `beat_age` tells the seconds since the last round, `ready` whether one was finished. Opening
    raises `OSError` where the address cannot be had.
    """

    def __init__(
        self,
        beat_age: Callable[[], float],
        ready: Callable[[], bool],
        registry: CollectorRegistry,
        address: Address,
        refresh: Callable[[], None],
    ) -> None:
        self._beat_age = beat_age
        self._ready = ready
        self._registry = registry
        self._address = address
        self._refresh = refresh
        application = web.Application(client_max_size=1024)
        application.router.add_get("/healthz", self._health)
        application.router.add_get("/readyz", self._readiness)
        application.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)

    @property
    def port(self) -> int:
        """The port it listens on, 0 while it does not."""
        addresses = self._runner.addresses
        return int(addresses[0][1]) if addresses else 0

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._address.host, self._address.port).start()
        except BaseException:
            await self._runner.cleanup()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._runner.cleanup()

    async def _health(self, _: web.Request) -> web.Response:
        age = self._beat_age()
        return _json({"alive": age <= STALE_AFTER, "beatAgeSeconds": round(age, 3)})

    async def _readiness(self, _: web.Request) -> web.Response:
        return _json({"ready": self._ready()})

    async def _metrics(self, request: web.Request) -> web.Response:
        self._refresh()
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return web.Response(
            body=encode(self._registry), headers={"Content-Type": content_type, **_HEADERS}
        )


def _json(said: dict[str, bool | float]) -> web.Response:
    good = bool(said.get("alive", said.get("ready")))
    return web.Response(
        body=orjson.dumps(said),
        status=200 if good else 503,
        content_type="application/json",
        headers=_HEADERS,
    )
