"""Deadlines of a call, and computations that are waited for until then and then dropped."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Self, TypeVar, cast

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

T = TypeVar("T")

GRACE_SECONDS = 0.1
"""Seconds after the time limit that checking and explaining may still take."""

CHECKING_SHARE = 0.2
"""Of the time limit, the most that is kept back for checking and explaining."""

GREEDY_SHARE = 0.6
"""Of the time until the worker has to answer, what our own plan may take for placing gangs."""

OWN_PATIENCE_SHARE = 0.2
"""Of the time limit, for how long our own plan for many gangs waits for that of the worker."""

LOOKS_PER_SECOND = 2_000_000
"""How many times a second our own plan looks at a node for a gang, on a machine that is loaded."""

SOLVER_SHARE = 0.9
"""Of the time that is left, what CP-SAT is told to take: it overruns its own limit."""

LIMIT_STEPS = 20
"""The worker's limit comes in steps, because it keeps what it has built by config."""


RAISE_AGAIN_SECONDS = 0.2
"""How long a dropped task has to end: what is raised in a finalizer or callback ends only that."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Moments of one call, in monotonic seconds; `limit` is the time limit in seconds.

    Our own plan ends with what it has at `own`. The worker must have answered by `answer`,
    reasons end with what they have at `told`, and everything must be done by `done`.
    """

    began: float
    limit: float
    answer: float
    done: float

    @classmethod
    def from_now(cls, limit: float, checking: float) -> Self:
        """Start a call of `limit` seconds, of which checking is expected to take `checking`."""
        began = time.monotonic()
        answer = began + limit - min(1.5 * checking, CHECKING_SHARE * limit)
        return cls(began, limit, answer, began + limit + GRACE_SECONDS)

    @property
    def own(self) -> float:
        """When our own plan takes no further gang: it has to be scored and checked yet."""
        return self.began + max(GRACE_SECONDS / 2, GREEDY_SHARE * (self.answer - self.began))

    def begin(self, looks: int) -> float:
        """When our own plan begins that looks so often at a node for a gang, at once for none.

        Unless the worker has answered or failed before. However many they are, it has as much time
        for them as one that is begun at once, as far as it needs it.
        """
        if not looks:
            return self.began
        patience = self.began + OWN_PATIENCE_SHARE * self.limit
        return max(self.began, min(patience, self.own - looks / LOOKS_PER_SECOND))

    @property
    def told(self) -> float:
        """When no further gang is asked about: half of the grace is for handing over."""
        return self.done - GRACE_SECONDS / 2

    def child_seconds(self) -> float:
        """Tell what the worker may take from now on, rounded down to a step of the limit."""
        step = self.limit / LIMIT_STEPS
        left = (self.answer - time.monotonic()) * SOLVER_SHARE
        return max(1.0, left // step) * step


class OverdueError(Exception):
    """A background task was not done in time."""


class TaskDropped(BaseException):
    """Raised inside a background task that is not waited for any more."""


def say_nothing_of_dropped_tasks() -> None:
    """Let `TaskDropped` in a finalizer or callback, where Python can only report it, be no line."""
    report = sys.unraisablehook

    def hook(unraisable: UnraisableHookArgs) -> None:
        if unraisable.exc_type is not TaskDropped:
            report(unraisable)

    sys.unraisablehook = hook


class BackgroundTask(Generic[T]):
    """Runs `work` at once, or from `begin` (monotonic seconds) on if nothing waits for it before.

    `work` must be pure Python without locks of its own.

    A dropped background task is stopped by an exception raised inside it, so that it neither takes
    processor time from what follows nor piles up from call to call. It is not traced: that
    exception would leave the locks of coverage or of a debugger held for ever.
    """

    def __init__(self, work: Callable[[], T], begin: float = 0.0) -> None:
        self._work = work
        self._begin = begin
        self._wanted = threading.Event()
        self._value: T | None = None
        self._error: Exception | None = None
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._stoppable = self._dropped = False
        self._thread = threading.Thread(target=self._run, name="errand", daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        """Whether `result` would return or raise without waiting."""
        return self._done.is_set()

    def result(self, until: float) -> T:
        """Return what `work` returned, or raise the exception that it raised.

        Waits until `until` (monotonic seconds), then drops the background task and raises
        `OverdueError`.
        """
        self._wanted.set()
        if not self._done.wait(max(0.0, until - time.monotonic())):
            self.drop()
            raise OverdueError
        if self._error is not None:
            raise self._error
        return cast(T, self._value)

    def drop(self) -> None:
        """Stop the background task at its next Python instruction, if it still runs."""
        self._wanted.set()
        with self._lock:
            if self._dropped or not self._stoppable:
                self._dropped = True
                return
            self._dropped = True
            self._raise()
        self._again().start()

    def _raise(self) -> None:
        ident = self._thread.ident
        if ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(ident), ctypes.py_object(TaskDropped)
            )

    def _again(self) -> threading.Timer:
        timer = threading.Timer(RAISE_AGAIN_SECONDS, self._insist)
        timer.daemon = True
        return timer

    def _insist(self) -> None:
        with self._lock:
            if not self._stoppable:
                return
            self._raise()
        self._again().start()

    def _run(self) -> None:
        sys.settrace(None)
        self._wanted.wait(max(0.0, self._begin - time.monotonic()))
        with suppress(TaskDropped):  # raised again just when it had been caught
            try:
                self._work_and_tell()
            except TaskDropped:
                self._stoppable = False

    def _work_and_tell(self) -> None:
        with self._lock:
            if self._dropped:
                return
            self._stoppable = True
        try:
            self._value = self._work()
        except Exception as error:  # noqa: BLE001 - raised again by `result`
            self._error = error
        with self._lock:
            self._stoppable = False
        self._done.set()
