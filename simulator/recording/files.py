"""The files of a recording: appended to, begun anew when one is full, the oldest deleted."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from fourleaf.model.problems import brief
from fourleaf.simulator.recording.changes import Followed
from fourleaf.simulator.recording.lines import Line, SeenLine, read_line, written
from fourleaf.simulator.recording.look import Look, Phases

MEBIBYTE = 1 << 20
SEEN_SECONDS = 60.0
"""Where nothing changes, a line says so often, so that it is known until when it did not."""


class BadRecording(Exception):
    """A file of a recording cannot be read or written. The message ends with what to do."""


def files_of(folder: Path) -> list[Path]:
    """The files of the recording in `folder`, oldest first."""
    return sorted(folder.glob("trace-*.jsonl"))


def lines_of(path: Path) -> Iterator[Line]:
    """The lines of one file. A last one that was not written to its end is none.

    Raises `BadRecording` where it cannot be read.
    """
    number = 0
    try:
        with path.open("rb") as file:
            for text in file:
                number += 1
                if text.endswith(b"\n"):
                    yield read_line(text)
    except OSError as error:
        why = f"{path} cannot be read: {error.strerror}."
        raise BadRecording(f"{why}\nName a folder or file of `fourleaf record`.") from error
    except ValueError as error:
        raise BadRecording(
            f"{path}, line {number}: {brief(str(error))}.\n"
            "Name a file that `fourleaf record` of this version, or of an older one, wrote."
        ) from error


@dataclass(slots=True)
class RecordingFiles:
    """Writes what looks find into `folder`: `most` files of about `size` bytes each at most.

    A file begins with all that is there and is read without those before it. What was written by
    an earlier process in the same folder is gone on with. Methods raise `BadRecording`.
    """

    folder: Path
    size: int = 64 * MEBIBYTE
    most: int = 16
    followed: Followed = field(default_factory=Followed)
    _file: IO[bytes] | None = None
    _lock: IO[bytes] | None = None
    _full: int = 0
    _looked: float = 0.0

    def open(self) -> None:
        """Make the folder, keep others from writing there, and read what was written last."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / ".lock").open("wb")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.close()
            raise BadRecording(
                f"{self.folder}: another process records there.\nEnd it, or name another folder."
            ) from error
        except OSError as error:
            self.close()
            raise self._unwritable(error) from error
        for path in files_of(self.folder)[-1:]:
            try:
                for line in lines_of(path):
                    self.followed.take(line)
            except (BadRecording, ValueError) as error:
                self.close()
                if isinstance(error, BadRecording):
                    raise
                advice = "Name another folder, or take this file away."
                raise BadRecording(f"{path}: {error}.\n{advice}") from error

    def close(self) -> None:
        """Write until when it was looked, and let others write."""
        if self._file is not None:
            with suppress(BadRecording, OSError):
                self._append([SeenLine(at=max(self._looked, self.followed.at))])
                self._file.close()
            self._file = None
        if self._lock is not None:
            self._lock.close()

    def look(self, look: Look, phases: Phases) -> int:
        """Write what has changed; how many lines that are. A clock set back does not go back."""
        if self._file is None:
            self._begin(look.at, self.followed.at if self.followed.looked else None)
        self._looked = look.at
        lines = 0
        for line in self.followed.changes(look, phases):
            self._append([line])
            self.followed.take(line)
            lines += 1
        if look.at - self.followed.at >= SEEN_SECONDS:
            self._append([SeenLine(at=look.at)])
            self.followed.at = look.at
        self._flush()
        if self._file is not None and self._file.tell() > self._full:
            self._file.close()
            self._begin(self.followed.at, None)
        return lines

    def _begin(self, at: float, after: float | None) -> None:
        """Begin the next file, whole or not at all, and delete the oldest where there are many."""
        known = files_of(self.folder)
        number = int(known[-1].stem.removeprefix("trace-")) + 1 if known else 1
        path = self.folder / f"trace-{number:06d}.jsonl"
        made = path.with_suffix(".part")
        try:
            with made.open("wb") as file:
                file.writelines(map(written, self.followed.everything(at, after)))
            made.replace(path)
            self._file = path.open("ab")
            # A large cluster may fill a file with what is there alone.
            self._full = max(self.size, 2 * self._file.tell())
            for old in known[: max(0, len(known) + 1 - self.most)]:
                old.unlink()
        except OSError as error:
            raise self._unwritable(error) from error

    def _append(self, lines: list[Line]) -> None:
        if self._file is None:
            return
        try:
            self._file.writelines(map(written, lines))
        except OSError as error:
            raise self._unwritable(error) from error

    def _flush(self) -> None:
        try:
            if self._file is not None:
                self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> BadRecording:
        why = f"{self.folder} cannot be written: {error.strerror}."
        return BadRecording(f"{why}\nName a folder with room that can be written.")
