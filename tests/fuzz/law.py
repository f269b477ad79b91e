"""The law of readers: read or refuse by name, briefly, in time that grows with the input.

A reader returns what it tells, or raises what it promises and nothing else. Each message is of
bounded length and has advice. A KiB of input costs at most 50 ms of CPU time, and twice as many
entries at most three times as much.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import _lru_cache_wrapper, cache
from typing import Any

from fourleaf.k8s_bridge.cluster.shared_parts import SharedParts
from fourleaf.model.problems import AdvisedError, BadInput, Problem

MS_PER_KIB = 50.0
"""CPU time that a KiB of input may cost, in milliseconds; shorter input counts as one KiB."""

MOST_CHARACTERS = 2000
"""Of one message, its advice included."""

DOUBLED_COSTS = 3.0
"""How often the time that twice as many entries may take."""

FLOOR_MS = 60.0
"""Time under which growth says nothing."""

Told = Problem | str


@dataclass(frozen=True, slots=True)
class Reader:
    """A function of bytes: what it tells, and what it promises to raise.

    `seeds` are valid inputs. Those of a reader of `json` are changed as values, others as text.
    """

    name: str
    read: Callable[[bytes], Iterable[Told]]
    seeds: tuple[bytes, ...]
    refuses: tuple[type[Exception], ...] = ()
    json: bool = True


class Broken(AssertionError):
    """A reader that does not keep the law."""


def check(reader: Reader, data: bytes) -> float:
    """The CPU time that reading `data` took, in ms. Raises `Broken`, or what the reader raises."""
    allowed = MS_PER_KIB * max(1.0, len(data) / 1024)
    spent = _timed(reader, data)
    for _ in range(2):
        if spent <= allowed:
            return spent
        forget()
        spent = min(spent, _timed(reader, data))
    if spent > allowed:
        raise Broken(f"{reader.name}: {len(data):,} bytes took {spent:,.0f} ms of CPU time")
    return spent


def check_growth(reader: Reader, made: Callable[[int], bytes], entries: int) -> None:
    """Twice the `entries` take at most three times as long. Raises `Broken`."""
    for _ in range(3):
        forget()
        once = check(reader, made(entries))
        forget()
        twice = check(reader, made(2 * entries))
        if twice <= max(FLOOR_MS, DOUBLED_COSTS * once):
            return
    size = len(made(2 * entries))
    said = f"{entries} entries take {once:,.0f} ms, twice as many {twice:,.0f} ms ({size:,} bytes)"
    raise Broken(f"{reader.name}: {said}")


def forget() -> None:
    """Empty what functions of the product remember, so that a second reading costs what it did."""
    for one in _remembering():
        one.cache_clear()


@cache
def _remembering() -> list[Any]:
    kinds = (_lru_cache_wrapper, SharedParts)
    found = (one for one in gc.get_objects() if isinstance(one, kinds))
    return [one for one in found if one.__module__.startswith("fourleaf.")]


def _timed(reader: Reader, data: bytes) -> float:
    began = time.process_time()
    try:
        told = list(reader.read(data))
    except reader.refuses as error:
        spent = time.process_time() - began
        _judge_error(reader, error)
        return spent * 1000
    spent = time.process_time() - began
    for one in told:
        _judge(reader, one)
        if any(not line.isprintable() for line in str(one).split("\n")):
            raise Broken(f"{reader.name}: a message that moves the cursor: {str(one)[:300]!r}")
    return spent * 1000


def _judge_error(reader: Reader, error: Exception) -> None:
    if isinstance(error, BadInput):
        for problem in error.problems:
            _judge(reader, problem)
        return
    advice = getattr(error, "advice", "")
    if isinstance(error, AdvisedError) and not advice:
        raise Broken(f"{reader.name}: no advice beside {str(error)[:200]!r}")
    _judge(reader, f"{error}{advice}" or "nothing")


def _judge(reader: Reader, told: Told) -> None:
    text = str(told)
    if len(text) > MOST_CHARACTERS:
        raise Broken(f"{reader.name}: a message of {len(text):,} characters: {text[:300]!r}")
    if isinstance(told, Problem):
        if not (told.message and told.advice and (told.object or told.source)):
            raise Broken(f"{reader.name}: what, where or advice is missing: {told!r}")
        if text.count("\n") != 1:
            raise Broken(f"{reader.name}: a message of other than two lines: {text[:300]!r}")
