"""Garbage collection of a process that holds a whole cluster: what lives on is looked at once."""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping

LONG_COLLECTION_SECONDS = 0.02
"""A full collection that takes longer holds up everything else in the process."""


class Survivors:
    """Freezes what has survived a full collection that took long.

    Nothing of it is garbage at that moment. What ends later goes when nothing refers to it any
    more; only rings of such objects would stay, and objects of the API form none.
    """

    def __init__(self) -> None:
        self._began = 0.0

    def __call__(self, phase: str, info: Mapping[str, int]) -> None:
        """Hear of a collection."""
        if info["generation"] < 2:
            return
        if phase == "start":
            self._began = time.perf_counter()
        elif time.perf_counter() - self._began > LONG_COLLECTION_SECONDS:
            gc.freeze()


def freeze_survivors() -> None:
    """Let no full collection take long twice for the same objects, in this process."""
    gc.callbacks.append(Survivors())
