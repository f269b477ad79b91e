"""A small HTTP server that shows things and takes nothing: plain, read only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import orjson
from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Server": "fourleaf",
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; `port` 0 takes any that is free."""

    host: str = "127.0.0.1"
    port: int = 8080


class PlainServer:
    """Serves `routes` (path -> handler) while its context is open.

    Opening raises `OSError` where the address cannot be had.
    """

    def __init__(self, routes: Mapping[str, Handler], address: Address) -> None:
        self._address = address
        application = web.Application(client_max_size=1024)
        for path, handler in routes.items():
            application.router.add_get(path, handler)
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

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()


def json_page(document: dict[str, Any], status: int = 200) -> web.Response:
    """`document` as JSON."""
    return web.Response(
        body=orjson.dumps(document),
        status=status,
        content_type="application/json",
        headers=_HEADERS,
    )


def metrics_page(registry: CollectorRegistry, request: web.Request) -> web.Response:
    """The metrics of `registry`, in the format that the request asks for."""
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return web.Response(body=encode(registry), headers={"Content-Type": content_type, **_HEADERS})
