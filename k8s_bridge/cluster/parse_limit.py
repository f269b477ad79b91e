"""Parse limit: what one object of a tenant may be before it is not even parsed.

An object of 1.4 MB of empty lists took half a second of the event loop with each of its changes,
and of it all nothing is kept: see `entry_limit`. What its bytes alone tell costs a millisecond.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from fourleaf.k8s_bridge.cluster.entry_limit import MOST_ENTRIES, TOO_LARGE
from fourleaf.k8s_bridge.cluster.protocol import Body

MOST_MARKS = 15 * MOST_ENTRIES
"""Brackets and commas outside of strings of an object that is parsed. An API server keeps 1.5 MB:
one byte of ten, where what is written in earnest has one of fifteen at most."""
MOST_QUOTES = 4 * MOST_MARKS
"""Quotes of an object that is parsed: each string is an entry, or the name of one."""
MOST_MARKS_TOO_DEEP = 2 * MOST_ENTRIES
"""The same of an object that is nested too deep for the parser, which takes ten times as long."""

PARSED_LEVELS = 200
"""Levels of JSON that are read where there are too many for the parser, which takes 1024."""
MOST_TOKENS = 5_000
"""Strings and brackets of metadata that are gone through one by one, which takes 3 ms."""
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_TO_METADATA = re.compile(rb'\s*\{(?:"(?:apiVersion|kind)":"[^"\\]*",)*"metadata":(?=\{)')
_OTHERS = bytes(set(range(256)) - set(b'"[{,'))
"""All but quotes and what is counted."""
_KEPT_APART = ("spec", "status")


_SURE = {"name", "uid", "resourceVersion"}
"""An API server writes all of them, either before all that is long, or the last one last of all."""


class _Identity(TypedDict, total=False):
    """What says which object it is, and whether it goes."""

    name: str
    namespace: str
    uid: str
    resourceVersion: str
    creationTimestamp: str
    deletionTimestamp: str


class _Object(TypedDict):
    metadata: _Identity


def is_beyond_parsing(content: bytes, most: int = MOST_MARKS) -> bool:
    """Whether JSON has more brackets and commas than `most` outside of strings, or strings."""
    if _marks(content) <= most:
        return False
    plain = without_escapes(content)
    if plain.count(b'"') > MOST_QUOTES:
        return True
    # Two quotes side by side change nothing of what stands outside: most strings are gone so.
    return _marks(outside(plain.translate(None, _OTHERS).replace(b'""', b""))) > most


def without_escapes(content: bytes) -> bytes:
    """JSON of which every quote begins a string or ends it."""
    return content.replace(rb"\\", b"").replace(rb"\"", b"")


def outside(content: bytes) -> bytes:
    """JSON without its strings; there is no quote within them."""
    return b"".join(content.split(b'"')[::2])


def _marks(content: bytes) -> int:
    return content.count(b"[") + content.count(b"{") + content.count(b",")


def metadata_alone(content: bytes, start: int = 0) -> Body | None:
    """Of the object that begins at `start` its metadata; what is not kept makes no sense to any.

    None where something else comes before the metadata, which no API server writes.
    """
    if (found := _TO_METADATA.match(content, start)) is None:
        return None
    shallow, end = _shallow(content, PARSED_LEVELS, found.end(), MOST_TOKENS)
    metadata = _loaded(shallow)
    if end < 0 and (metadata is None or not metadata.keys() >= _SURE):
        metadata = _identity(content, start)
        if metadata is None:
            shallow, end = _shallow(content, PARSED_LEVELS, found.end())
            metadata = _loaded(shallow)
    if metadata is None:
        return None
    end = max(end, found.end())
    there = [key for key in _KEPT_APART if content.find(b',"%b":' % key.encode(), end) > 0]
    return {"metadata": metadata, **dict.fromkeys(there, TOO_LARGE)}


def _loaded(content: bytes) -> Body | None:
    try:
        return dict(orjson.loads(content))
    except orjson.JSONDecodeError:
        return None


def _identity(content: bytes, start: int) -> Body | None:
    """Which object the one that begins at `start` is: of the rest of it nothing is made.

    None where it is nested too deep for that, or is no JSON.
    """
    text = content[start:].rstrip()
    # What begins later stands in an event, which ends after it.
    text = text[:-1] if start else text
    try:
        return dict(_adapter().validate_json(text)["metadata"])
    except ValidationError:
        return None


@cache
def _adapter() -> TypeAdapter[_Object]:
    return TypeAdapter(_Object)


def parsed(content: bytes, most_marks: int | None = None) -> Any:
    """What `content` says. Of what is nested too deep for the parser, only the outside.

    Else one object of one tenant would keep the whole list of its kind from being read. Raises
    `orjson.JSONDecodeError`, also for such JSON of more than `most_marks`.
    """
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        if most_marks is not None and _marks(content) > most_marks:
            raise
        shallow, end = _shallow(content, PARSED_LEVELS)
        if end < 0 or shallow == content[:end]:
            raise
        return orjson.loads(shallow + content[end:])


def _shallow(
    content: bytes, levels: int, start: int = 0, most: int | None = None
) -> tuple[bytes, int]:
    """The list or object that begins at `start`, and where it ends: -1 where it does not.

    It has null in place of every list and object that lies deeper than `levels`. An object of more
    than `most` tokens ends before what these end in, if that is a list or an object itself.
    """
    depth, kept_to = 0, start
    parts: list[bytes] = []
    inner = 0, start, start
    for token in islice(_TOKEN.finditer(content, start), most):
        match token[0]:
            case b"{" | b"[":
                depth += 1
                if depth == 2 and most is not None:
                    inner = len(parts), kept_to, token.start()
                if depth == levels + 1:
                    parts.append(content[kept_to : token.start()])
            case b"}" | b"]":
                depth -= 1
                if depth == levels:
                    parts.append(b"null")
                    kept_to = token.end()
                if depth <= 0:
                    return b"".join([*parts, content[kept_to : token.end()]]), token.end()
    if depth < 2 or most is None:
        return content[start:], -1
    whole, kept_to, end = inner
    return b"".join([*parts[:whole], content[kept_to:end], b"null}"]), -1
