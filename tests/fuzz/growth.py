"""Many entries where a valid input has one: equal ones, and such that all differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.fuzz.law import Reader
from tests.fuzz.mutations import Path, at, paths, replaced, varied, written

Growth = tuple[str, Callable[[int], bytes]]
"""What grows, and the input with that many entries there."""


def growths(reader: Reader) -> Sequence[Growth]:
    """Every place of a reader's input that may hold any number of entries."""
    return [one for seed in reader.seeds for one in _of_seed(seed, reader.json)]


def _of_seed(seed: bytes, is_json: bool) -> list[Growth]:
    if not is_json:
        half = len(seed) // 2
        lines = seed.splitlines(keepends=True)
        inside = (b"[", b"]", b"{", b"}", b"(", b")", b",", b"-", b"&&", b" ", b"0", b"\0", b"&a ")
        return [
            ("the whole", lambda n: seed * n),
            *((f"line {i}", _lines(lines, i)) for i in range(min(len(lines), 12))),
            *((f"{one!r} inside", _inside(seed, half, one)) for one in inside),
        ]
    value = json.loads(seed)
    found: list[Growth] = []
    for path in paths(value):
        one = at(value, path)
        if isinstance(one, list | dict) and one:
            found.append((f"{path} alike", _repeated(value, path, False)))
            found.append((f"{path} varied", _repeated(value, path, True)))
        elif isinstance(one, str):
            found.append((f"{path} long", _long(value, path)))
    return found


def _lines(lines: list[bytes], i: int) -> Callable[[int], bytes]:
    return lambda n: b"".join([*lines[: i + 1], *(lines[i : i + 1] * n), *lines[i + 1 :]])


def _inside(seed: bytes, half: int, piece: bytes) -> Callable[[int], bytes]:
    return lambda n: seed[:half] + piece * n * 4 + seed[half:]


def _repeated(value: Any, path: Path, differ: bool) -> Callable[[int], bytes]:
    def made(entries: int) -> bytes:
        one = at(value, path)
        if isinstance(one, list):
            new: Any = list(one)
            for i in range(entries):
                copied = one[i % len(one)]
                new.append(varied(copied, i) if differ else copied)
        else:
            keys = list(one)
            new = dict(one)
            for i in range(entries):
                copied = one[keys[i % len(keys)]]
                new[f"{keys[i % len(keys)]}{i}"] = varied(copied, i) if differ else copied
        return written(replaced(value, path, new))

    return made


def _long(value: Any, path: Path) -> Callable[[int], bytes]:
    return lambda n: written(replaced(value, path, str(at(value, path)) * n))
