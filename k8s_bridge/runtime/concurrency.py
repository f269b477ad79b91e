"""Several requests at once, waited for together, for a moment, or in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable
from typing import Any, TypeVar

from fourleaf.k8s_bridge.runtime.clock import Clock

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


async def first_answer(steps: Iterable[Awaitable[_Result | None]]) -> _Result | None:
    """Run all steps at once; the first answer that is not None, None where all are.

    The others are cancelled then, and awaited, as where one raises.
    """
    tasks = [asyncio.ensure_future(step) for step in steps]
    try:
        for done in asyncio.as_completed(tasks):
            answer = await done
            if answer is not None:
                return answer
        return None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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


async def first_told(
    questions: Iterable[Coroutine[Any, Any, _Result | None]], clock: Clock, seconds: float
) -> _Result | None:
    """The first answer that is not None, None where all are.

    The next question is asked as soon as one is answered by None, and beside those that have not
    been answered for `seconds`. Raises what a question raises.
    """
    left = iter(questions)
    asked: set[asyncio.Future[_Result | None]] = set()
    timer: asyncio.Future[None] | None = None
    try:
        while True:
            following = next(left, None)
            if following is not None:
                asked.add(asyncio.ensure_future(following))
                timer = asyncio.ensure_future(clock.sleep(seconds))
            elif not asked:
                return None
            waits: set[asyncio.Future[Any]] = {*asked, *filter(None, [timer])}
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for one in [one for one in asked if one.done()]:
                asked.discard(one)
                answer = one.result()
                if answer is not None:
                    return answer
            if timer is not None:
                timer.cancel()
                timer = None
    finally:
        for question in asked:
            question.cancel()
        if timer is not None:
            timer.cancel()


def in_thread(
    work: Callable[[], _Result], name: str, ended: Callable[[], None] | None = None
) -> asyncio.Future[_Result]:
    """What `work`, which raises nothing, gives in a thread that keeps no process from ending.

    `ended` is called on the loop once it has given that, even where it is awaited no more.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[_Result] = loop.create_future()

    def settle(given: _Result) -> None:
        if ended is not None:
            ended()
        if not answer.done():
            answer.set_result(given)

    def run() -> None:
        given = work()
        # The process may be ending, and this is not waited for any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, given)

    threading.Thread(target=run, name=name, daemon=True).start()
    return answer
