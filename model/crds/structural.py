"""Structural OpenAPI schemas, as CRDs ask for them, from pydantic models."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

_KEPT = (
    "type", "description", "default", "enum", "format", "pattern", "items", "required",
    "properties", "additionalProperties", "maxItems", "minItems", "maxLength", "minLength",
    "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "maxProperties",
)  # fmt: skip


def structural(model: type[BaseModel]) -> Schema:
    """The schema of `model`: no references, no titles, no unions with null."""
    whole = model.model_json_schema(by_alias=True)
    return _plain(whole, whole.get("$defs", {}))


def _plain(node: Schema, named: dict[str, Schema]) -> Schema:
    node = _resolved(node, named)
    found: Schema = {key: node[key] for key in _KEPT if key in node}
    if "const" in node:
        found.update(type="string", enum=[node["const"]])
    if isinstance(found.get("additionalProperties"), dict):
        found["additionalProperties"] = _plain(found["additionalProperties"], named)
    elif "additionalProperties" in found:
        del found["additionalProperties"]
    if "items" in found:
        found["items"] = _plain(found["items"], named)
    if "properties" in found:
        found["properties"] = {
            name: _plain(part, named) for name, part in found["properties"].items()
        }
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if exclusive in found:
            found[bound] = found[exclusive]
            found[exclusive] = True
    if found.get("type") == "integer":
        found["format"] = "int64"
    if not isinstance(found.get("default", ""), str | int | float):
        del found["default"]
    return found


def _resolved(node: Schema, named: dict[str, Schema]) -> Schema:
    """`node` with its reference and its union with null resolved; its own words count."""
    own = {key: value for key, value in node.items() if key not in ("$ref", "anyOf", "allOf")}
    if "$ref" in node:
        return {**_resolved(named[node["$ref"].rpartition("/")[2]], named), **own}
    if "anyOf" in node:
        (one,) = [one for one in node["anyOf"] if one.get("type") != "null"]
        return {**_resolved(one, named), **own}
    return node
