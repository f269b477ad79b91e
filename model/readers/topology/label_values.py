"""Names of switches and domains as values of labels."""

from __future__ import annotations

import re
from hashlib import sha256

_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_NOT_VALUE = re.compile(r"[^A-Za-z0-9_.-]+")


def label_value(name: str) -> str:
    """`name` as the value of a label: as it stands where that is one, else told apart by a hash."""
    if _VALUE.fullmatch(name):
        return name
    plain = _NOT_VALUE.sub("-", name)[:50].strip("-_.") or "x"
    return f"{plain}-{sha256(name.encode()).hexdigest()[:8]}"
