"""Addresses to listen on, as options give them, and what is said where one cannot be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from fourleaf.model.problems import BadInput


def address(listen: str, option: str = "--listen") -> tuple[str, int]:
    """Host and port of `HOST:PORT`."""
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise typer.BadParameter(f"'{listen}' is not HOST:PORT", param_hint=option)
    return host.strip("[]"), int(port)


def taken(error: OSError, where: str, option: str = "--listen") -> BadInput:
    """What to raise where `where` cannot be listened at."""
    from fourleaf.model.problems import BadInput, Problem, Severity

    advice = f"Choose another address with {option} HOST:PORT."
    said = f"cannot listen: {error.strerror or error}"
    return BadInput([Problem(Severity.ERROR, option, "", "", where, said, advice)])
