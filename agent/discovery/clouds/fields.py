"""Fields of what a cloud answers, each checked before it may name a domain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fourleaf.agent.discovery.sighting import SourceError
from fourleaf.model.problems import shown
from fourleaf.model.readers.text.json import BadText, parse

_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._:-]{0,251}[A-Za-z0-9_])?")
_ADVICE = (
    "See what the cloud's metadata says on the node; another source or a label can tell instead."
)


def mapping_of(where: str, data: bytes) -> Mapping[str, Any]:
    """The object that `data` holds. Raises `SourceError`."""
    try:
        found = parse(data)
    except BadText as bad:
        raise SourceError(f"{where}: {bad}", bad.advice) from None
    return part(where, found)


def part(where: str, value: object) -> Mapping[str, Any]:
    """`value` as an object. Raises `SourceError`."""
    if not isinstance(value, dict):
        raise SourceError(f"{where}: {shown(value)} is no object", _ADVICE)
    return value


def domain(where: str, body: Mapping[str, Any], key: str) -> str:
    """What `body` names under `key`, "" for nothing. Raises `SourceError` for what is no name."""
    value = body.get(key)
    if value is None or value == "":
        return ""
    return name_of(f"{where}: {key}", value)


def name_of(where: str, value: object) -> str:
    """`value` as a name. Raises `SourceError`."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise SourceError(f"{where}: {shown(value)} is no name of a domain", _ADVICE)
    return value
