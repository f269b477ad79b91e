"""Several requests at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

_Result = TypeVar("_Result")


async def together(steps: Iterable[Awaitable[_Result]]) -> list[_Result]:
    """Run all steps at once; where one raises, the others are cancelled and awaited first."""
    tasks = [asyncio.ensure_future(step) for step in steps]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
