"""What a long benchmark has found so far, in a file, so that it can be ended and go on."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Generic, TypeVar

import orjson
from pydantic import TypeAdapter

T = TypeVar("T")


class Kept(Generic[T]):
    """Findings by what they are of, one line of JSON each; without a file, in memory.

    Each line says which code it was made by ("" where nobody knows), and counts for that code
    alone unless the reader wants any. Several processes may add to one file, and several kinds
    of findings.
    """

    def __init__(self, file: Path | None, kind: type[T]) -> None:
        self._file = file
        self._kind = kind.__name__
        self._adapter = TypeAdapter(kind)
        self._found: dict[str, dict[str, T]] = {}
        if file is not None and file.exists():
            for line in file.read_bytes().splitlines():
                name, kept, found, code = [*orjson.loads(line), ""][:4]
                if kept == kind.__name__:
                    self._put(name, self._adapter.validate_python(found), code)

    def get(self, of: object, code: str, any_code: bool = False) -> T | None:
        """What `code` has found of this before; with `any_code` else what was found last."""
        found = self._found.get(_name(of), {})
        if any_code and code not in found:
            return next(reversed(found.values()), None)
        return found.get(code)

    def add(self, of: object, found: T, code: str) -> None:
        """Keep what `code` found of this."""
        self._put(_name(of), found, code)
        if self._file is not None:
            plain = self._adapter.dump_python(found, mode="json")
            with self._file.open("ab") as stream:
                stream.write(orjson.dumps([_name(of), self._kind, plain, code]) + b"\n")

    def _put(self, name: str, found: T, code: str) -> None:
        mine = self._found.setdefault(name, {})
        mine.pop(code, None)
        mine[code] = found


def _name(of: object) -> str:
    """The same for values that read the same."""
    return hashlib.sha256(repr(of).encode()).hexdigest()[:32]
