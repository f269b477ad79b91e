"""Several requests at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Coroutine, Iterable
from typing import Any, TypeVar

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


async def patiently(
    tasks: Collection[asyncio.Task[None]], patience: Coroutine[Any, Any, None]
) -> None:
    """Wait for all tasks, or until `patience` is over; those that are not done go on."""
    timer = asyncio.ensure_future(patience)
    done = asyncio.ensure_future(asyncio.wait(tasks))
    try:
        await asyncio.wait({done, timer}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        done.cancel()
        timer.cancel()
