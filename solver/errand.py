"""A computation on a thread of its own that is waited for until a deadline, then dropped."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class OverdueError(Exception):
    """An errand was not done in time."""


class Dropped(BaseException):  # noqa: N818 - like GeneratorExit, it ends a thread and is no error
    """Raised inside an errand that nobody waits for any more."""


class Errand(Generic[T]):
    """Runs `work` at once. `work` must be pure Python without locks of its own.

    A dropped errand is stopped by an exception raised inside it, so that it neither takes
    processor time from what follows nor piles up from call to call.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._value: T | None = None
        self._error: Exception | None = None
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._stoppable = True
        self._thread = threading.Thread(target=self._run, name="errand", daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        """Whether `result` would return or raise without waiting."""
        return self._done.is_set()

    def result(self, until: float) -> T:
        """What `work` returned, or the exception that it raised.

        Waits until `until` (monotonic seconds), then drops the errand and raises
        `OverdueError`.
        """
        if not self._done.wait(max(0.0, until - time.monotonic())):
            self.drop()
            raise OverdueError
        if self._error is not None:
            raise self._error
        return cast(T, self._value)

    def drop(self) -> None:
        """Stop the errand at its next Python instruction, if it still runs."""
        with self._lock:
            ident = self._thread.ident
            if self._stoppable and ident is not None:
                self._stoppable = False
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(ident), ctypes.py_object(Dropped)
                )

    def _run(self) -> None:
        try:
            try:
                self._value = self._work()
            except Exception as error:  # noqa: BLE001 - handed to whoever asks for the result
                self._error = error
            with self._lock:
                self._stoppable = False
            self._done.set()
        except Dropped:
            pass
