"""An event loop without time and without sockets: it runs until nothing is ready."""

from __future__ import annotations

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any


class Turns(asyncio.AbstractEventLoop):
    """Runs callbacks in the order in which they came; the same calls give the same run."""

    def __init__(self) -> None:
        self._due: deque[tuple[asyncio.Handle, Callable[..., Any], tuple[Any, ...]]] = deque()
        self._tasks: list[asyncio.Task[Any]] = []

    def settle(self) -> None:
        """Run until all tasks wait for somebody outside."""
        before = asyncio._get_running_loop()
        asyncio._set_running_loop(self)
        try:
            while self._due:
                handle, callback, args = self._due.popleft()
                if not handle.cancelled():
                    callback(*args)
        finally:
            asyncio._set_running_loop(before)

    def end(self) -> None:
        """Cancel all tasks and let them clean up."""
        for task in self._tasks:
            task.cancel()
        self.settle()
        for task in self._tasks:
            if task.done() and not task.cancelled():
                task.exception()

    def call_soon(
        self,
        callback: Callable[..., Any],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        """Run `callback` after all that is due already."""
        context = context or contextvars.copy_context()
        handle = asyncio.Handle(callback, args, self, context)
        self._due.append((handle, context.run, (callback, *args)))
        return handle

    def create_future(self) -> asyncio.Future[Any]:
        """A future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(
        self,
        coro: Coroutine[Any, Any, Any],
        *,
        name: str | None = None,
        context: contextvars.Context | None = None,
    ) -> asyncio.Task[Any]:
        """Run `coro` beside the others."""
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=self, name=name, context=context)
        self._tasks.append(task)
        return task

    def get_debug(self) -> bool:
        """Never."""
        return False

    def is_running(self) -> bool:
        """Always, for those who ask are run by it."""
        return True

    def is_closed(self) -> bool:
        """Never."""
        return False

    def time(self) -> float:
        """No time passes."""
        return 0.0

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """What nobody waits for is nobody's trouble: the tasks of a dead leader."""
