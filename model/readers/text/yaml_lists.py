"""A large `List` as kubectl prints it, parsed in parts by several processes at once.

YAML is read at some 13 MB/s, JSON at 250. So helpers parse parts of the text and hand
them over as JSON. Whatever is not of the plain shape, or fails in any way, is left to the
parser of the whole text, which then says what is wrong and on which line.

Why the parts together are the whole: each part begins with a line `- ...` at column 0 and
parses by itself, so the cut is in no string and in no bracket, and nothing but an item can
begin there. The list that it belongs to is the last key of the part before. A second
document shows in the number of documents of its part; only `...` ends one without a trace.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import orjson

LEAST_CHARACTERS = 4 * 2**20
"""Characters below which a helper takes longer to start than it saves."""
MOST_HELPERS = 3
HELPER_SECONDS = 60.0
"""Seconds that a helper may take longer than this process."""

OWN_SHARE = 1.2
"""What this process parses for each character of a helper, which also has to hand it over."""

_PLAIN = re.compile(r"(?:[A-Za-z]+: [^\n]*\n)*items:\n- ")
_END_OF_DOCUMENT = "\n..."
_ODD_BREAKS = ("\r", "\x85", "\u2028", "\u2029")
_HEAD = "items:\n"
_HELPER = (
    "import gc, os, sys, orjson, ryaml; gc.disable();"
    "found = ryaml.loads_all(sys.stdin.buffer.read().decode());"
    "sys.stdout.buffer.write(orjson.dumps(found, option=orjson.OPT_PASSTHROUGH_DATETIME));"
    "sys.stdout.flush(); os._exit(0)"
)


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def parse_in_parts(
    text: str,
    parse: Callable[[str], list[Any]],
    helpers: int | None = None,
    least: int = LEAST_CHARACTERS,
) -> list[Any] | None:
    """The documents of `text`, or None where it has to be parsed as a whole.

    `text` must hold neither aliases nor numbers that are not finite.
    """
    if len(text) < least:
        return None
    helpers = min(MOST_HELPERS, processors() - 1) if helpers is None else helpers
    parts = _cut(text, helpers + 1)
    if len(parts) < 2:
        return None
    with ExitStack() as stack:
        try:
            others = [stack.enter_context(_Helper(part)) for part in parts[1:]]
            return _joined([parse(parts[0]), *(other.documents() for other in others)])
        except (OSError, ValueError, TypeError, subprocess.SubprocessError):
            return None


def _cut(text: str, count: int) -> list[str]:
    """At most `count` parts of about equal length; one where the text is of another shape."""
    if (
        not _PLAIN.match(text)
        or _END_OF_DOCUMENT in text
        or any(mark in text for mark in _ODD_BREAKS)
    ):
        return [text]
    cuts = [0]
    each = len(text) / (OWN_SHARE + count - 1)
    for i in range(count - 1):
        at = text.find("\n- ", max(int((OWN_SHARE + i) * each), cuts[-1] + 1)) + 1
        if at > cuts[-1]:
            cuts.append(at)
    ends = [*cuts[1:], len(text)]
    return [
        (_HEAD if start else "") + text[start:end] for start, end in zip(cuts, ends, strict=True)
    ]


def _joined(parts: Sequence[list[Any]]) -> list[Any] | None:
    """The one document that `parts` make up; None where they do not fit together."""
    whole: dict[Any, Any] = {}
    for i, documents in enumerate(parts):
        part = documents[0] if len(documents) == 1 else None
        if not isinstance(part, dict) or not isinstance(part.get("items"), list):
            return None
        if i < len(parts) - 1 and next(reversed(part)) != "items":
            return None
        items = part.pop("items")
        if i == 0:
            whole = {**part, "items": items}
            continue
        whole["items"].extend(items)
        if not whole.keys().isdisjoint(part):
            return None
        whole.update(part)
    return [whole]


class _Helper:
    """A process that parses one part. Files, not pipes: neither side waits for the other."""

    def __init__(self, part: str) -> None:
        with ExitStack() as stack:
            source, self._answer = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            source.write(part.encode())
            source.flush()
            source.seek(0)
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and text
                [sys.executable, "-P", "-c", _HELPER],
                stdin=source,
                stdout=self._answer,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
            self._stack = stack.pop_all()

    def __enter__(self) -> _Helper:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._stack.close()

    def documents(self) -> list[Any]:
        """What it has parsed. Raises where it failed or takes far too long."""
        if self._process.wait(HELPER_SECONDS) != 0:
            raise ValueError("the part cannot be parsed by itself")
        self._answer.seek(0)
        found: list[Any] = orjson.loads(self._answer.read())
        return found
