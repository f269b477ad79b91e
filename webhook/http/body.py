"""The body of a request, counted as it arrives."""

from __future__ import annotations

from fastapi import Request


class TooLarge(Exception):
    """The body is longer than what is read of any."""


async def whole_body(request: Request, most: int) -> bytes:
    """The body; what it says of its own length is believed only where that is too long.

    Raises `TooLarge`, and `ClientDisconnect` where the rest never came.
    """
    stated = request.headers.get("content-length", "")
    if stated.isdecimal() and (len(stated) > 18 or int(stated) > most):
        raise TooLarge
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise TooLarge
        parts.append(part)
    return b"".join(parts)
