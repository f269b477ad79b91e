"""Ends that leave nothing behind: on a signal, and with the process that began it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process
from types import FrameType
from typing import NoReturn


@contextmanager
def orderly() -> Iterator[None]:
    """Let SIGTERM end the block as an exception would, so that all is cleared away.

    Does nothing outside the main thread, where no signals arrive.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def whole() -> Iterator[None]:
    """Let a SIGTERM wait until the block is done.

    Does nothing outside the main thread, where no signals arrive.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
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
