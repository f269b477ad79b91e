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

    The file is good for one state of the code: whoever changes the simulator starts a new one.
    Several processes may add to one file, and several kinds of findings.
    """

    def __init__(self, file: Path | None, kind: type[T]) -> None:
        self._file = file
        self._kind = kind.__name__
        self._adapter = TypeAdapter(kind)
        self._found: dict[str, T] = {}
        if file is not None and file.exists():
            for line in file.read_bytes().splitlines():
                name, kept, found = orjson.loads(line)
                if kept == kind.__name__:
                    self._found[name] = self._adapter.validate_python(found)

    def get(self, of: object) -> T | None:
        """What was found of this before."""
        return self._found.get(_name(of))

    def add(self, of: object, found: T) -> None:
        """Keep what was found of this."""
        self._found[_name(of)] = found
        if self._file is not None:
            plain = self._adapter.dump_python(found, mode="json")
            with self._file.open("ab") as stream:
                stream.write(orjson.dumps([_name(of), self._kind, plain]) + b"\n")


def _name(of: object) -> str:
    """The same for values that read the same."""
    return hashlib.sha256(repr(of).encode()).hexdigest()[:32]
