"""The HTTP server of the scheduler: probes, metrics, and its state for the commands.

Plain HTTP, read only: it shows names of gangs, nodes and reasons, never the content of any
object. Bind it to 127.0.0.1 unless the network between is trusted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import orjson
from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from k8s_bridge.telling.status import StatusSource, status_document

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; `port` 0 takes any that is free."""

    host: str = "127.0.0.1"
    port: int = 8080


class Server:
    """Serves `/healthz`, `/readyz`, `/metrics` and `/status` while its context is open.

    The loop counts as dead when it has not beaten for `stale_after` seconds. Opening raises
    `OSError` where the address cannot be had.
    """

    def __init__(
        self,
        source: StatusSource,
        registry: CollectorRegistry,
        address: Address | None = None,
        stale_after: float = 60.0,
    ) -> None:
        self._source = source
        self._registry = registry
        self._address = address or Address()
        self._stale_after = stale_after
        self._runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=1.0)

    @property
    def port(self) -> int:
        """The port it listens on, 0 while it does not."""
        addresses = self._runner.addresses
        return int(addresses[0][1]) if addresses else 0

    async def __aenter__(self) -> Server:
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

    def _application(self) -> web.Application:
        application = web.Application(client_max_size=1024)
        routes: dict[str, Handler] = {
            "/healthz": self._health,
            "/readyz": self._ready,
            "/metrics": self._metrics,
            "/status": self._status,
        }
        for path, handler in routes.items():
            application.router.add_get(path, handler)
        return application

    async def _health(self, _: web.Request) -> web.Response:
        age = self._source.status().beat_age
        alive = age <= self._stale_after
        return _json({"alive": alive, "beatAgeSeconds": round(age, 3)}, 200 if alive else 503)

    async def _ready(self, _: web.Request) -> web.Response:
        """Whether the caches are complete; a standby that could take over is ready too."""
        status = self._source.status()
        ready = not status.unsynced
        said = {"ready": ready, "leader": status.leader, "unsynced": list(status.unsynced)}
        return _json(said, 200 if ready else 503)

    async def _metrics(self, request: web.Request) -> web.Response:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return web.Response(
            body=encode(self._registry), headers={"Content-Type": content_type, **_HEADERS}
        )

    async def _status(self, _: web.Request) -> web.Response:
        return _json(status_document(self._source.status()))


_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Server": "fourleaf",
}


def _json(document: dict[str, Any], status: int = 200) -> web.Response:
    return web.Response(
        body=orjson.dumps(document),
        status=status,
        content_type="application/json",
        headers=_HEADERS,
    )
