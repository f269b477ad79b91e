"""Errands end when they are dropped, and break nothing that others hold."""

from __future__ import annotations

import sys
import threading
import time
from types import FrameType
from typing import Any

import pytest

from fourleaf.solver.process.deadlines import (
    BackgroundTask,
    OverdueError,
    say_nothing_of_dropped_tasks,
)

SOON = 30.0
"""Seconds; what is waited for takes a thousandth of one on an idle machine."""


class Spinning:
    """Work without an end, which says when it has begun and when it has been stopped."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.stopped = threading.Event()

    def __call__(self) -> None:
        """Go on until somebody ends it."""
        try:
            self.begun.set()
            while True:
                _nothing()
        finally:
            self.stopped.set()


def _nothing() -> None:
    """A call, which a tracer hears of."""


def test_a_value_and_an_error_are_handed_over() -> None:
    """In time each is what the work came to."""
    assert BackgroundTask(lambda: 7).result(time.monotonic() + SOON) == 7
    with pytest.raises(ZeroDivisionError):
        BackgroundTask(lambda: 1 // 0).result(time.monotonic() + SOON)


def test_work_begins_when_it_is_time_or_when_it_is_wanted() -> None:
    """Three are to begin in an hour: one is waited for, one is dropped, and the third goes on."""
    begun = list[str]()
    later = time.monotonic() + 3600.0
    wanted, dropped, waiting = (BackgroundTask(lambda n=n: begun.append(n), later) for n in "abc")
    dropped.drop()
    time.sleep(0.05)
    assert begun == []
    wanted.result(time.monotonic() + SOON)
    assert begun == ["a"]
    soon = BackgroundTask(lambda: begun.append("d"), time.monotonic() + 0.05)
    while not soon.done:
        time.sleep(0.01)
    assert begun == ["a", "d"]
    waiting.drop()


def test_who_is_late_is_stopped() -> None:
    """Its thread takes no more time."""
    work = Spinning()
    errand = BackgroundTask(work)
    assert work.begun.wait(SOON)
    with pytest.raises(OverdueError):
        errand.result(time.monotonic())
    assert work.stopped.wait(SOON)
    assert not errand.done


def test_what_a_finalizer_swallows_is_raised_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work goes on after the first one, which Python may not hand on, and ends at the next."""
    told: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: told.append(one.exc_type))
    say_nothing_of_dropped_tasks()
    work = Spinning()

    class Swallowing:
        def __del__(self) -> None:
            work.begun.set()
            while True:
                _nothing()

    def swallow_first() -> None:
        Swallowing()
        work()

    errand = BackgroundTask(swallow_first)
    assert work.begun.wait(SOON)
    errand.drop()
    assert work.stopped.wait(SOON)
    assert told == []


def test_other_errors_of_finalizers_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a dropped task is no line."""
    told: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: told.append(one.exc_type))
    say_nothing_of_dropped_tasks()

    class Failing:
        def __del__(self) -> None:
            raise LookupError

    Failing()
    assert told == [LookupError]


def test_dropped_before_it_begins_or_after_it_ends_is_no_trouble() -> None:
    """At whatever moment, and twice; what is done stays done."""
    for pause in (0.0, 0.0001, 0.001):
        errand = BackgroundTask(lambda: 7)
        time.sleep(pause)
        errand.drop()
        errand.drop()
    done = BackgroundTask(lambda: 7)
    assert done.result(time.monotonic() + SOON) == 7
    done.drop()
    assert done.result(time.monotonic()) == 7


@pytest.mark.no_cover
def test_a_tracer_is_never_interrupted() -> None:
    """Coverage and debuggers trace threads and take locks there, which nobody would give back."""
    lock = threading.Lock()

    def take() -> None:
        lock.acquire()

    def tracer(frame: FrameType, event: str, arg: Any) -> Any:
        take()
        lock.release()
        return tracer

    usual = threading.gettrace()
    threading.settrace(tracer)
    try:
        for _ in range(100):
            work = Spinning()
            errand = BackgroundTask(work)
            assert work.begun.wait(SOON)
            errand.drop()
            assert work.stopped.wait(SOON)
            assert lock.acquire(timeout=SOON)
            lock.release()
    finally:
        threading.settrace(usual)  # type: ignore[arg-type]
