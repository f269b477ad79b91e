"""Signs of life of who runs a trial, so that a trial whose worker died is not waited for.

A worker counts up in its trial while it runs. No clocks are compared: a trial is silent for as
long as the one who looks has seen the same count. Optuna's own heartbeat knows databases alone,
and studies also live in journals.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.trial import FrozenTrial

WORKER = "worker"
COUNT = "beat"
HEARTBEAT_SECONDS = 15.0
"""Seconds between two signs of life."""
SILENCE_SECONDS = 120.0
"""Seconds of silence after which a worker counts as dead."""


def name_of(pid: int) -> str:
    """What a worker is called in the trials that it runs: host, namespace of its pid, pid."""
    return f"{_here()}{pid}"


@contextmanager
def beating(trial: Trial, every: float = HEARTBEAT_SECONDS) -> Iterator[None]:
    """Give signs of life in `trial` every so many seconds, until the block ends."""
    from optuna.exceptions import OptunaError

    over = threading.Event()

    def beat() -> None:
        count = 0
        while not over.wait(every):
            count += 1
            try:
                trial.set_user_attr(COUNT, count)
            except (OptunaError, OSError):
                # A storage that is busy now takes the next one, in time.
                continue

    thread = threading.Thread(target=beat, name="beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class Watch:
    """Tells which trials run no longer, although the study has them running."""

    def __init__(
        self, grace: float = SILENCE_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._grace = grace
        self._clock = clock
        self._heard: dict[int, tuple[object, float]] = {}

    def dead(self, study: Study) -> list[FrozenTrial]:
        """Those whose process has ended on this machine, and those silent for `grace` seconds."""
        from optuna.trial import TrialState

        now, found = self._clock(), []
        for trial in study.get_trials(deepcopy=False, states=[TrialState.RUNNING]):
            sign = trial.user_attrs.get(WORKER), trial.user_attrs.get(COUNT)
            last, since = self._heard.get(trial.number, (None, now))
            if sign != last:
                self._heard[trial.number], since = (sign, now), now
            if _ended(str(sign[0])) or now - since >= self._grace:
                found.append(trial)
        return found


def _here() -> str:
    """This machine, as far as pids mean the same."""
    space = Path("/proc/self/ns/pid")
    number = space.stat().st_ino if space.exists() else 0
    return f"{platform.node()}/{number}/"


def _ended(worker: str) -> bool:
    """Whether `worker` was a process of this machine and is none any more."""
    pid = worker.removeprefix(_here())
    if pid == worker or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        # It runs, under another user.
        pass
    return False
