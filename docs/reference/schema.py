"""The fields of a JSON schema, with type, default and range."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]
ABSENT = object()


@dataclass(frozen=True)
class FieldRow:
    """A field: its path, type, default, what values it takes, and what its schema says."""

    path: str
    type: str
    default: str
    values: str
    description: str


def fields(
    schema: Schema, named: Mapping[str, Schema] | None = None, path: str = ""
) -> Iterator[FieldRow]:
    """All fields below `schema` that hold no others, in its order.

    Items of lists are `[]`, entries of maps `[NAME]`.
    """
    named = schema.get("$defs", {}) if named is None else named
    whole = _resolved(schema, named)
    must = set(whole.get("required", ()))
    for name, part in whole.get("properties", {}).items():
        inner = _resolved(part, named)
        where = f"{path}{name}"
        items = _resolved(inner.get("items", {}), named)
        entries = inner.get("additionalProperties")
        entries = _resolved(entries, named) if isinstance(entries, Mapping) else {}
        if inner.get("properties"):
            yield from fields(inner, named, f"{where}.")
        elif items.get("properties"):
            yield from fields(items, named, f"{where}[].")
        elif entries.get("properties"):
            yield from fields(entries, named, f"{where}[NAME].")
        else:
            default = "required" if name in must else _default(inner)
            values = _values(inner) or _values(items) or _values(entries)
            yield FieldRow(where, _type(inner, items, entries), default, values, _said(inner))


def _said(part: Schema) -> str:
    return str(part.get("description", ""))


def _type(part: Schema, items: Schema, entries: Schema) -> str:
    kind = str(part.get("type", "any"))
    if kind == "array":
        return f"list of {items.get('type', 'any')}"
    return f"map of {entries.get('type', 'any')}" if entries else kind


def _default(part: Schema) -> str:
    value = part.get("default", ABSENT)
    if value is ABSENT or value is None:
        return ""
    # A number with decimals is given as text, so that a schema keeps all of them.
    is_number = part.get("type") == "number" and isinstance(value, str)
    return value if is_number else json.dumps(value)


def _values(part: Schema) -> str:
    if "enum" in part:
        return ", ".join(json.dumps(one) for one in part["enum"])
    if "const" in part:
        return json.dumps(part["const"])
    low, high = part.get("minimum"), part.get("maximum")
    above = part.get("exclusiveMinimum")
    found = []
    if above is not None and above is not True:
        found.append(f"above {above:g}")
    elif low is not None:
        found.append(f"{'above' if above else 'from'} {low:g}")
    if high is not None:
        found.append(f"to {int(high) if high == int(high) else high}")
    return " ".join(found) or str(part.get("pattern", ""))


def _resolved(node: Schema, named: Mapping[str, Schema]) -> dict[str, Any]:
    """`node` with its reference and its union with null resolved; its own words count."""
    own = {key: value for key, value in node.items() if key not in ("$ref", "anyOf", "allOf")}
    if "$ref" in node:
        return {**_resolved(named[node["$ref"].rpartition("/")[2]], named), **own}
    if "anyOf" in node:
        first = next(one for one in node["anyOf"] if one.get("type") != "null")
        return {**_resolved(first, named), **own}
    return own
