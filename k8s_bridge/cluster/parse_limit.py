"""Parse limit: what one object of a tenant may be before it is not even parsed.

An object of 1.4 MB of empty lists took half a second of the event loop with each of its changes,
and of it all nothing is kept: see `entry_limit`. What its bytes alone tell costs a millisecond.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

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
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_TO_METADATA = re.compile(rb'\s*\{(?:"(?:apiVersion|kind)":"[^"\\]*",)*"metadata":(?=\{)')
_KEPT_APART = ("spec", "status")


def is_beyond_parsing(content: bytes, most: int = MOST_MARKS) -> bool:
    """Whether JSON has more brackets and commas than `most` outside of strings, or strings."""
    if _marks(content) <= most:
        return False
    plain = without_escapes(content)
    return plain.count(b'"') > MOST_QUOTES or _marks(outside(plain)) > most


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
    shallow, end = _shallow(content, PARSED_LEVELS, found.end())
    try:
        metadata = orjson.loads(shallow)
    except orjson.JSONDecodeError:
        return None
    there = [key for key in _KEPT_APART if content.find(b',"%b":' % key.encode(), end) > 0]
    return {"metadata": metadata, **dict.fromkeys(there, TOO_LARGE)}


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


def _shallow(content: bytes, levels: int, start: int = 0) -> tuple[bytes, int]:
    """The list or object that begins at `start`, and where it ends: -1 where it does not.

    It has null in place of every list and object that lies deeper than `levels`.
    """
    depth, parts, kept_to = 0, [], start
    for token in _TOKEN.finditer(content, start):
        match token[0]:
            case b"{" | b"[":
                depth += 1
                if depth == levels + 1:
                    parts.append(content[kept_to : token.start()])
            case b"}" | b"]":
                depth -= 1
                if depth == levels:
                    parts.append(b"null")
                    kept_to = token.end()
                if depth <= 0:
                    return b"".join([*parts, content[kept_to : token.end()]]), token.end()
    return content[start:], -1
