"""Files that programs of the host write: bounded in size, read again when they have changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from fourleaf.agent.discovery.sighting import Sighting, SourceError

Decode = Callable[[str, bytes], Sighting]
"""From the name and the bytes of a file to what it says."""
OLD_SECONDS = 86_400.0
"""Seconds after which a file that was not written again is told to be old."""


class HostFile:
    """One file of the host. `name` is that of the source, `most` its bytes at most."""

    def __init__(
        self,
        name: str,
        path: Path,
        most: int,
        decode: Decode,
        now: Callable[[], float],
    ) -> None:
        self._name = name
        self._path = path
        self._most = most
        self._decode = decode
        self._now = now
        self._stamp: tuple[int, int, int] | None = None
        self._seen = Sighting()

    @property
    def name(self) -> str:
        """What faults call it."""
        return self._name

    def read(self) -> Sighting:
        """What the file says, nothing where it is absent. Raises `SourceError`."""
        try:
            file = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            self._stamp = None
            return Sighting()
        except OSError as error:
            raise SourceError(
                f"{self._path}: cannot be read: {error.strerror}", "See who may read it."
            ) from None
        with os.fdopen(file, "rb") as opened:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise SourceError(f"{self._path}: is not a file", "Write a plain file there.")
            stamp = found.st_mtime_ns, found.st_size, found.st_ino
            if stamp != self._stamp:
                data = opened.read(self._most + 1)
                if len(data) > self._most:
                    message = f"{self._path}: is larger than {self._most // 2**10} KiB"
                    raise SourceError(message, "Write what this node needs alone.")
                self._seen = self._decode(str(self._path), data)
                self._stamp = stamp
        return self._with_age(found.st_mtime)

    def _with_age(self, written: float) -> Sighting:
        if self._now() - written < OLD_SECONDS:
            return self._seen
        seen = self._seen
        doubt = f"{self._path}: was not written for a day, and is used all the same"
        return Sighting(seen.ports, seen.switches, seen.place, (*seen.doubts, ("", doubt)))
