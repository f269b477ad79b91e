"""Files, folders and standard input, as sources of objects."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from fourleaf.model.problems import Problem, Severity
from fourleaf.model.readers.text import json, yaml
from fourleaf.model.readers.text.json import BadText

MAX_BYTES = 160 * 2**20
"""The largest file that is read; 10,000 pods with all their fields take about 120 MiB."""
STDIN = "-"
_ENDINGS = (".json", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Source:
    """One input: its bytes, or `objects` that are decoded already, or why it has neither."""

    name: str
    data: bytes = b""
    objects: Sequence[dict[str, Any]] | None = None
    problem: Problem | None = None


def fault(name: str, message: str, advice: str) -> Problem:
    """An error about the file `name` as a whole."""
    return Problem(Severity.ERROR, name, "", "", "", message, advice)


def open_paths(paths: Iterable[str | Path], stdin: IO[bytes] | None = None) -> list[Source]:
    """The sources that `paths` name: files, folders (recursively), `-` for `stdin`.

    Never raises for a path: what cannot be read becomes a source with a problem.
    """
    found: list[Source] = []
    for path in paths:
        if str(path) == STDIN:
            found.append(_from_stdin(stdin))
        elif Path(path).is_dir():
            files = sorted(
                file
                for file in Path(path).rglob("*")
                if file.suffix.lower() in _ENDINGS and file.is_file()
            )
            if not files:
                advice = "Name a folder with .json, .yaml or .yml files."
                found.append(Source(str(path), problem=fault(str(path), "has no manifest", advice)))
            found.extend(_from_file(file) for file in files)
        else:
            found.append(_from_file(Path(path)))
    return found


def _too_large(name: str) -> Source:
    advice = "Split it, or leave out what a plan does not need (finished pods, managedFields)."
    return Source(name, problem=fault(name, f"is larger than {MAX_BYTES // 2**20} MiB", advice))


def _from_stdin(stdin: IO[bytes] | None) -> Source:
    if stdin is None:
        return Source(STDIN, problem=fault(STDIN, "is not connected", "Pipe a manifest into it."))
    data = stdin.read(MAX_BYTES + 1)
    return _too_large(STDIN) if len(data) > MAX_BYTES else Source(STDIN, data)


def _from_file(path: Path) -> Source:
    name = str(path)
    try:
        if path.exists() and not path.is_file():
            return Source(name, problem=fault(name, "is not a file", "Name a file or a folder."))
        if path.stat().st_size > MAX_BYTES:
            return _too_large(name)
        return Source(name, path.read_bytes())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        advice = "Check the name of the file and that you may read it."
        return Source(name, problem=fault(name, f"cannot be read: {reason}", advice))


def documents(source: Source) -> list[Any]:
    """The decoded documents of `source`, empty ones left out. Raises `BadText`."""
    if source.objects is not None:
        return list(source.objects)
    data = source.data.removeprefix(b"\xef\xbb\xbf")
    start = data.lstrip()[:1]
    if not start:
        raise BadText("is empty", "Give a file with at least one object.")
    if b"\0" in data[:8192]:
        raise BadText("is binary, not text", "Give JSON or YAML as UTF-8 text.")
    if source.name.lower().endswith(".json") or start in (b"{", b"["):
        try:
            return [json.parse(data)]
        except BadText as bad:
            if source.name.lower().endswith((".yaml", ".yml")) and "JSON" in str(bad):
                return _from_yaml(data)
            raise
    return _from_yaml(data)


def _from_yaml(data: bytes) -> list[Any]:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 (byte {error.start})"
        raise BadText(message, "Give JSON or YAML as UTF-8 text.") from None
    found = [document for document in yaml.parse(text) if document is not None]
    if not found:
        raise BadText("holds no object", "Give a file with at least one object.")
    return found


@contextmanager
def without_collection() -> Iterator[None]:
    """Pause cyclic garbage collection: decoding makes millions of objects and no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
