"""Sentences and times as the API takes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from fourleaf.model.problems import Problem, one_line
from fourleaf.model.reasons.kinds import Reason
from fourleaf.model.reasons.pod_condition import NEAREST, UNBLOCK
from fourleaf.model.reasons.text import cause, nearest, steps

TEXT_LIMIT_BYTES = 1024
"""How long the note of an event may be; conditions keep to it too."""
_CUT = "..."
_NUMBER = re.compile(r"(?<![^\s(])\d[\d,]*(?![^\s,;.:)])( [a-z]+(?![\w/.=-]))?")
"""A number by itself, with the word that it counts: `1 is` and `2 are`, but no part of a name."""


def reason_text(reason: Reason) -> str:
    """Why a gang waits, and what would let it start, in at most `TEXT_LIMIT_BYTES` bytes.

    `KIND: cause. To unblock: step; step. Nearest: miss.`
    """
    text = f"{reason.kind.value}: {cause(reason)}"
    if helps := steps(reason):
        text += UNBLOCK + "; ".join(step.rstrip(".") for step in helps)
    if reason.near:
        text += NEAREST + nearest(reason)
    return clipped(text + ".")


def complaint(problem: Problem) -> str:
    """What is wrong with a field of an object that the reader has before them, and advice."""
    value = f" = {problem.value}" if problem.value else ""
    field = f"{problem.field}{value}: " if problem.field else ""
    return clipped(f"{field}{problem.message}. {problem.advice}")


def clipped(text: str, most: int = TEXT_LIMIT_BYTES) -> str:
    """`text` on one line, or as much of its start as fits into `most` bytes of UTF-8.

    Whole words, if any, and no characters that move a cursor or hide what stands there.
    """
    text = one_line(text)
    data = text.encode(errors="replace")
    if len(data) <= most:
        return text
    start = data[: most - len(_CUT) - 1].decode(errors="ignore")
    words, space, _ = start.rpartition(" ")
    return f"{words} {_CUT}" if space else start + _CUT


@lru_cache(maxsize=1024)
def but_for_numbers(text: str) -> str:
    """The words of `text`: those of two texts are equal where only numbers differ."""
    return _NUMBER.sub("#", text)


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
