"""Addresses to listen on, as options give them, and what is said where one cannot be had."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import typer

from fourleaf.cli.bad_input import bad_input

if TYPE_CHECKING:
    from fourleaf.k8s_bridge.runtime.http.listener import AddressTaken
    from fourleaf.k8s_bridge.runtime.http.pages import Address, PageServer
    from fourleaf.model.problems import BadInput

HEALTH_OPTION = "--health-listen"


def address(listen: str, option: str = "--listen") -> tuple[str, int]:
    """Host and port of `HOST:PORT`."""
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise typer.BadParameter(f"'{listen}' is not HOST:PORT", param_hint=option)
    return host.strip("[]"), int(port)


def health_address(listen: str | None) -> Address | None:
    """Where `--health-listen` asks for probes, None where it was not given."""
    from fourleaf.k8s_bridge.runtime.http.pages import Address

    return Address(*address(listen, HEALTH_OPTION)) if listen else None


@asynccontextmanager
async def listening(server: PageServer, option: str = "--listen") -> AsyncIterator[None]:
    """The server, listening. Raises `BadInput` where its address cannot be had."""
    from fourleaf.k8s_bridge.runtime.http.listener import AddressTaken

    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(server)
        except AddressTaken as error:
            raise taken(error, option) from error
        yield


def taken(error: AddressTaken, option: str = "--listen") -> BadInput:
    """What to raise where an address cannot be listened at."""
    advice = f"Choose another address with {option} HOST:PORT."
    said = f"cannot listen: {error.strerror or error}"
    return bad_input(option, said, advice, value=error.where)
