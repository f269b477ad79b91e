"""The wire format of protocol buffers, read into the objects that JSON would give.

Only fields that a schema names are read; the rest is skipped. The API leaves optional fields
out of its JSON where they are empty, and writes those that are no pointers all the same here,
so empty values are dropped unless their field is `kept`.

Source: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

Body = dict[str, Any]
Take = Callable[[Body, bytes, int, int], None]
"""Puts the value in these bytes, from a position to another, where it belongs in an object."""
Schema = Mapping[int, Take]
"""By tag: field number and wire type."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_REMEMBERED = 1024
"""Objects of one field that are remembered: pods of one owner have the same containers."""
_LONGEST_REMEMBERED = 16 * 1024
"""Bytes of such an object: what is longer takes more memory to remember than time to read."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BadMessage(ValueError):
    """Bytes that are no message."""


def message(schema: Schema, data: bytes, at: int, end: int) -> Body:
    """The message in `data[at:end]`. Raises `BadMessage`."""
    found: Body = {}
    while at < end:
        tag = data[at]
        at += 1
        if tag > 127:
            tag, at = _varint(data, at - 1, end)
        wire = tag & 7
        if wire == _BYTES:
            size = data[at] if at < end else 128
            at += 1
            if size > 127:
                size, at = _varint(data, at - 1, end)
            start, at = at, at + size
        elif wire == _VARINT:
            start = at
            while at < end and data[at] > 127:
                at += 1
            at += 1
        elif wire in (_FIXED64, _FIXED32):
            start, at = at, at + (8 if wire == _FIXED64 else 4)
        else:
            raise BadMessage(f"byte {at - 1}: wire type {wire} is unknown")
        if at > end:
            raise BadMessage(f"byte {start}: a field ends at {at}, its message at {end}")
        take = schema.get(tag)
        if take is not None:
            take(found, data, start, at)
    return found


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The number that starts at `at`, and where it ends."""
    value = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    raise BadMessage(f"byte {at}: a number does not end")


def text(number: int, name: str) -> tuple[int, Take]:
    """A string; what is no UTF-8 in it is replaced, as it is in the API's JSON."""

    def take(found: Body, data: bytes, at: int, end: int) -> None:
        if at < end:
            found[name] = data[at:end].decode(errors="replace")

    return number << 3 | _BYTES, take


def texts(number: int, name: str) -> tuple[int, Take]:
    """A list of strings."""

    def take(found: Body, data: bytes, at: int, end: int) -> None:
        found.setdefault(name, []).append(data[at:end].decode(errors="replace"))

    return number << 3 | _BYTES, take


def integer(number: int, name: str, kept: bool = False) -> tuple[int, Take]:
    """A whole number with its sign."""

    def take(found: Body, data: bytes, at: int, end: int) -> None:
        value, _ = _varint(data, at, end)
        if value or kept:
            found[name] = value - 2**64 if value >= 2**63 else value

    return number << 3 | _VARINT, take


def truth(number: int, name: str, kept: bool = False) -> tuple[int, Take]:
    """True or false."""

    def take(found: Body, data: bytes, at: int, _: int) -> None:
        if data[at] or kept:
            found[name] = bool(data[at])

    return number << 3 | _VARINT, take


def one(number: int, name: str, *fields: tuple[int, Take]) -> tuple[int, Take]:
    """An object, which is kept even where it is empty."""
    schema = dict(fields)

    def take(found: Body, data: bytes, at: int, end: int) -> None:
        found[name] = message(schema, data, at, end)

    return number << 3 | _BYTES, take


def many(number: int, name: str, *fields: tuple[int, Take], about: bytes = b"") -> tuple[int, Take]:
    """A list of objects; those of equal bytes are one, and are read once unless they are long.

    Of those that do not hold the bytes `about` nothing is read.
    """
    schema = dict(fields)

    @lru_cache(maxsize=_REMEMBERED)
    def read(data: bytes) -> Body:
        return message(schema, data, 0, len(data))

    def take(found: Body, data: bytes, at: int, end: int) -> None:
        if about and data.find(about, at, end) < 0:
            return
        if end - at > _LONGEST_REMEMBERED:
            found.setdefault(name, []).append(message(schema, data, at, end))
        else:
            found.setdefault(name, []).append(read(data[at:end]))

    return number << 3 | _BYTES, take


def inlined(number: int, *fields: tuple[int, Take]) -> tuple[int, Take]:
    """An object whose fields JSON has in the object around it."""
    schema = dict(fields)

    def take(found: Body, data: bytes, at: int, end: int) -> None:
        found.update(message(schema, data, at, end))

    return number << 3 | _BYTES, take


def moment(number: int, name: str) -> tuple[int, Take]:
    """A time, to the second; one that no calendar has is left out."""
    schema = dict((integer(1, "seconds"),))

    def take(found: Body, data: bytes, at: int, end: int) -> None:
        if at < end:
            seconds = message(schema, data, at, end).get("seconds", 0)
            with suppress(OverflowError):
                moment = _EPOCH + timedelta(seconds=seconds)
                found[name] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    return number << 3 | _BYTES, take


def pairs(number: int, name: str, quantities: bool = False) -> tuple[int, Take]:
    """A map from strings to strings, or to quantities."""
    value = inlined(2, text(1, "value")) if quantities else text(2, "value")
    schema = dict((text(1, "key"), value))

    def take(found: Body, data: bytes, at: int, end: int) -> None:
        pair = message(schema, data, at, end)
        found.setdefault(name, {})[pair.get("key", "")] = pair.get("value", "")

    return number << 3 | _BYTES, take
