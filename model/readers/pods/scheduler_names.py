"""Scheduler names that are like one of ours and are not: most likely one was misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache

from fourleaf.model.readers.pods.pods import Pod

LEAST_LIKENESS = 0.85
"""How alike a name has to be, from 0 to 1: nearly all of them end with `-scheduler`."""
MOST_CHARACTERS = 100
"""Of a name, so many are compared."""


def meant_scheduler(name: str, ours: tuple[str, ...]) -> str:
    """The one of `ours` that `name` is like, "" where it is like none or one of them."""
    return "" if name in ours else _closest(name[:MOST_CHARACTERS], ours)


@lru_cache(1024)
def _closest(name: str, ours: tuple[str, ...]) -> str:
    close = get_close_matches(name, ours, 1, LEAST_LIKENESS)
    return close[0] if close else ""


def warn_of_misspelt(pods: Iterable[Pod], ours: Sequence[str]) -> None:
    """Say of pods that name nearly one of our schedulers that none of ours places them."""
    names = tuple(ours)
    for pod in pods:
        meant = meant_scheduler(pod.scheduler, names)
        if meant and not pod.finished:
            pod.manifest.warn(
                "spec.schedulerName",
                pod.scheduler,
                "is no scheduler of ours, so it is not planned",
                f"Did you mean {meant}?",
            )
