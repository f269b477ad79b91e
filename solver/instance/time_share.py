"""The time that may be spent on one gang, looked at where its places are made and searched."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

SHARE_OF_ONE_GANG = 4
"""Of several gangs each may take one of so many parts of the time left, so that none takes all."""


class TimeShareOver(Exception):
    """A gang has taken more time than it may."""


_until: ContextVar[float] = ContextVar("until", default=inf)


@contextmanager
def time_share(until: float) -> Iterator[None]:
    """Let `check_time_share` raise `TimeShareOver` from `until` on, in monotonic seconds."""
    token = _until.set(until)
    try:
        yield
    finally:
        _until.reset(token)


def check_time_share() -> None:
    """Raise `TimeShareOver` where the present share is over; does nothing outside of one."""
    until = _until.get()
    if until != inf and time.monotonic() >= until:
        raise TimeShareOver
