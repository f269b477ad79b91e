"""Addresses to listen on, as options give them, and serving there until a signal to stop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any

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


async def serve_until_stopped(
    server: PageServer, probes: PageServer | None, work: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    """Do `work` until SIGTERM or SIGINT, while `server`, and `probes` where given, listen.

    Raises `BadInput` where an address cannot be had.
    """
    from fourleaf.k8s_bridge.runtime.http.listener import AddressTaken

    async with AsyncExitStack() as stack:
        for one, option in ((server, "--listen"), (probes, HEALTH_OPTION)):
            try:
                if one is not None:
                    await stack.enter_async_context(one)
            except AddressTaken as error:
                raise taken(error, option) from error
        task = asyncio.create_task(work())
        on_signal(task.cancel)
        with suppress(asyncio.CancelledError):
            await task


def on_signal(stop: Callable[[], object]) -> None:
    """Have SIGTERM and SIGINT call `stop`."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)


def taken(error: AddressTaken, option: str = "--listen") -> BadInput:
    """What to raise where an address cannot be listened at."""
    advice = f"Choose another address with {option} HOST:PORT."
    said = f"cannot listen: {error.strerror or error}"
    return bad_input(option, said, advice, value=error.where)
