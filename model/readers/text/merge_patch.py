"""JSON merge patches, RFC 7386."""

from __future__ import annotations

from typing import Any


def merged(value: Any, patch: Any) -> Any:
    """`value` with `patch` applied; null removes, lists are replaced whole."""
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for key, change in patch.items():
        if change is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), change)
    return result
