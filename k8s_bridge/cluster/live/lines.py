"""Lines out of chunks."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator


async def lines(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """All whole lines, without their ends; what follows the last line end is dropped.

    A line may span many chunks: its parts are joined once.
    """
    parts: list[bytes] = []
    async for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        if ended:
            ended[0] = b"".join([*parts, ended[0]])
            parts.clear()
            for line in ended:
                if line:
                    yield line
        if rest:
            parts.append(rest)
