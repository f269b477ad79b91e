"""Strict YAML: safe types only, no duplicate keys, no aliases that explode."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import ryaml
import yaml

from fourleaf.model.readers.text.json import BadText
from fourleaf.model.readers.text.yaml_lists import parse_in_parts

_loads_all: Callable[[str], list[Any]] = vars(ryaml)["loads_all"]
_Invalid: type[ValueError] = vars(ryaml)["InvalidYamlError"]

MAX_EXPANDED = 200_000
"""Values that aliases may add; a manifest written by hand stays far below."""
MAX_DEPTH = 120
"""Levels of nesting; the parser itself ends at 128."""
MAX_ALIASED_BYTES = 4 * 2**20

_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ANCHOR = re.compile(r"(?:^|[:?,\[{-])[ \t]*&([^\s\[\]{},]+)", re.MULTILINE)
_ALIAS = re.compile(r"(?:^|[:?,\[{-])[ \t]*\*([^\s\[\]{},]+)", re.MULTILINE)
_NOT_FINITE = re.compile(r"\.(?:nan|NaN|NAN|inf|Inf|INF)\b")


def parse(text: str) -> list[Any]:
    """All documents of `text`; empty ones are None. Raises `BadText`."""
    if _drift(text) > MAX_DEPTH:
        _refuse_depth(text)
    anchors = set(_ANCHOR.findall(text)) if "&" in text else set()
    aliased = bool(anchors) and not anchors.isdisjoint(_ALIAS.findall(text))
    if aliased:
        _refuse_explosion(text)
    endless = _NOT_FINITE.search(text) is not None
    try:
        parts = None if aliased or endless else parse_in_parts(text, _loads_all)
        documents: list[Any] = _loads_all(text) if parts is None else parts
    except _Invalid as error:
        raise _explained(str(error)) from None
    except (ValueError, TypeError) as error:
        raise BadText(
            f"has a key that is no plain text ({error})", "Write keys as plain text."
        ) from None
    if aliased and "<<" in text:
        documents = [_merged(document) for document in documents]
    if endless and not all(_finite(document) for document in documents):
        raise BadText("holds a number that is not finite (NaN or infinity)", "Give a number.")
    return documents


def _drift(text: str) -> int:
    """An upper bound of how deep flow collections nest: brackets in strings count as well."""
    brackets = text.encode("utf-8", "replace").translate(None, _NO_BRACKETS)
    steps = (1 if bracket in b"[{" else -1 for bracket in brackets)
    return max(accumulate(steps), default=0)


def _refuse_depth(text: str) -> None:
    """Stop at the first node that is too deep: parsing takes time squared in the depth."""
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > MAX_DEPTH:
                    raise BadText("is nested too deeply", "Write it with less nesting.")
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.YAMLError as error:
        raise _explained(" ".join(str(error).split())) from None


def _explained(text: str) -> BadText:
    if "recursion limit" in text or "repetition limit" in text:
        return BadText(f"is nested too deeply ({text})", "Write it with less nesting or aliases.")
    if "duplicate entry" in text:
        return BadText(f"has a key twice: {text}", "Keep one of the two entries.")
    if "end of stream" in text:
        return BadText(
            f"ends too early ({text})", "The file looks truncated: write it again in full."
        )
    return BadText(f"is not YAML ({text})", "Correct the YAML at that place.")


def _refuse_explosion(text: str) -> None:
    """Follow the events without building anything, and count what aliases would add."""
    if len(text) > MAX_ALIASED_BYTES:
        raise BadText("uses aliases in a very large file", "Write the aliased parts out.")
    sizes: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = []
    total = added = 0
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.AliasEvent):
                size = sizes.get(event.anchor or "", 1)
                added += size
                total += size
                if added > MAX_EXPANDED:
                    raise BadText(
                        f"uses aliases that expand to more than {MAX_EXPANDED} values",
                        "Write the aliased parts out.",
                    )
            elif isinstance(event, yaml.ScalarEvent):
                total += 1
                if event.anchor:
                    sizes[event.anchor] = 1
            elif isinstance(event, yaml.CollectionStartEvent):
                open_nodes.append((event.anchor, total))
                total += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                anchor, before = open_nodes.pop()
                if anchor:
                    sizes[anchor] = total - before
    except yaml.YAMLError as error:
        raise _explained(" ".join(str(error).split())) from None


def _merged(value: Any) -> Any:
    """`value` with merge keys (`<<`) resolved: what stands in the object itself wins."""
    if isinstance(value, list):
        return [_merged(item) for item in value]
    if not isinstance(value, dict):
        return value
    own = {key: _merged(item) for key, item in value.items() if key != "<<"}
    if "<<" not in value:
        return own
    parts = value["<<"] if isinstance(value["<<"], list) else [value["<<"]]
    merged: dict[Any, Any] = {}
    for part in reversed(parts):
        if not isinstance(part, dict):
            raise BadText("merges something that is not an object", "Merge objects only.")
        merged.update(_merged(part))
    return merged | own


def _finite(value: Any) -> bool:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, float) and not math.isfinite(item):
            return False
    return True
