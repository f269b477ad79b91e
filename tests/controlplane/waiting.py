"""Waiting for what a cluster does in its own time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from tests.controlplane.api import ApiError

PATIENCE = 30.0
"""Seconds; what is waited for takes a tenth of one on an idle machine."""

Answer = TypeVar("Answer")


def eventually(ask: Callable[[], Answer], what: str, timeout: float = PATIENCE) -> Answer:
    """Ask again and again until the answer is true, and tell it.

    A refusal of the API counts as not yet. Raises `AssertionError` after `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    refusal = ""
    while True:
        try:
            if answer := ask():
                return answer
        except ApiError as error:
            refusal = f" ({error})"
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout:g} s: {what}{refusal}")
        time.sleep(0.02)
