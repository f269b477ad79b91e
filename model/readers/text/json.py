"""Strict JSON: what orjson accepts, without duplicate keys."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from fourleaf.model.problems import AdvisedError

_ESCAPED_COLON = re.compile(rb"\\u003[aA]")


class BadText(AdvisedError):
    """The text cannot be read. `advice` says what helps."""


def _too_deep() -> BadText:
    return BadText("is nested too deeply", "Give at most 250 levels of nesting.")


class _Duplicate(Exception):
    pass


def parse(data: bytes) -> Any:
    """The value that `data` holds; NaN, duplicate keys and deep nesting raise `BadText`."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise _explained(error) from None
    if not _keys_are_unique(data, value):
        raise BadText(_named_duplicate(data), "Keep one of the two entries.")
    return value


def _explained(error: orjson.JSONDecodeError) -> BadText:
    text = str(error)
    if "depth" in text or "ecursion" in text:
        return _too_deep()
    if "UTF-8" in text:
        return BadText("is not UTF-8", "Give JSON as UTF-8 text.")
    if "end of data" in text:
        return BadText(
            f"ends too early ({text})", "The file looks truncated: write it again in full."
        )
    return BadText(f"is not JSON ({text})", "Correct the JSON at that place.")


def _keys_are_unique(data: bytes, value: Any) -> bool:
    """Whether parsing kept every entry.

    Written out again, the value has exactly the colons of the text, unless a duplicate
    key made an entry vanish: each entry has a colon, colons in strings survive, and no
    colon can hide behind an escape once escaped colons are excluded. A count costs a
    tenth of parsing with a hook for every object.
    """
    if _ESCAPED_COLON.search(data):
        return _named_duplicate(data) == ""
    try:
        return data.count(b":") == orjson.dumps(value).count(b":")
    except orjson.JSONEncodeError:
        raise _too_deep() from None


def _named_duplicate(data: bytes) -> str:
    def refuse(pairs: list[tuple[str, Any]]) -> None:
        seen = set()
        for key, _ in pairs:
            if key in seen:
                raise _Duplicate(f'has the key "{key[:80]}" twice in one object')
            seen.add(key)

    try:
        json.loads(data, object_pairs_hook=refuse)
    except _Duplicate as found:
        return str(found)
    except (ValueError, RecursionError):
        return "has a key twice in one object"
    return ""
