"""Sentences and times as the API takes them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from fourleaf.model.problems import Problem
from fourleaf.model.reasons.kinds import Reason
from fourleaf.model.reasons.text import sentence

TEXT_LIMIT_BYTES = 1024
"""How long the note of an event may be; conditions keep to it too."""
_CUT = "..."


def reason_text(reason: Reason) -> str:
    """Why a gang waits, and what would let it start, in at most `TEXT_LIMIT_BYTES` bytes.

    `KIND: sentence. To unblock: step; step.`
    """
    text = f"{reason.kind.value}: {sentence(reason)}"
    if reason.unblock:
        steps = "; ".join(step.rstrip(".") for step in reason.unblock)
        text = f"{text}. To unblock: {steps}"
    return clipped(text + ".")


def complaint(problem: Problem) -> str:
    """What is wrong with a field of an object that the reader has before them, and advice."""
    value = f" = {problem.value}" if problem.value else ""
    field = f"{problem.field}{value}: " if problem.field else ""
    return clipped(f"{field}{problem.message}. {problem.advice}")


def clipped(text: str, most: int = TEXT_LIMIT_BYTES) -> str:
    """`text`, or as much of its start as fits into `most` bytes of UTF-8, whole characters."""
    data = text.encode(errors="replace")
    if len(data) <= most:
        return text
    return data[: most - len(_CUT)].decode(errors="ignore") + _CUT


def second(moment: float) -> str:
    """`moment` (seconds since the epoch) in whole seconds, as the API writes it."""
    return _whole_second(int(moment))


@lru_cache(maxsize=16)
def _whole_second(moment: int) -> str:
    # One cycle may stamp thousands of pods with it.
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def microsecond(moment: float) -> str:
    """`moment` (seconds since the epoch) in microseconds, as the API writes it."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
