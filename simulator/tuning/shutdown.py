"""Ends that leave nothing behind: on a signal, and with the process that began it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import parent_process
from types import FrameType
from typing import Any, NoReturn


@contextmanager
def _on_sigterm(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    """Have SIGTERM call `handler` in the block; outside the main thread no signals arrive."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def orderly() -> AbstractContextManager[None]:
    """Let SIGTERM end the block as an exception would, so that all is cleared away."""
    return _on_sigterm(_end)


@contextmanager
def whole() -> Iterator[None]:
    """Let a SIGTERM wait until the block is done."""
    came: list[int] = []
    try:
        with _on_sigterm(lambda number, _: came.append(number)):
            yield
    finally:
        if came:
            signal.raise_signal(signal.SIGTERM)


def end_with_parent() -> None:
    """End this process, a child of `multiprocessing`, once its parent has ended in any way."""
    parent = parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="parent", daemon=True).start()


def _end(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
