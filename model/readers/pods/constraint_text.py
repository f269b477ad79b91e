"""How much text a pod may spend on where it may go; what is beyond is neither kept nor read.

Of a pod that stands on a node all is kept, since others must keep away from it: a pod that waits is
held while it has too much, so that one has been bound by another scheduler.

An API server takes pods of more than a megabyte, which cost each replica ten times as much memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

CONSTRAINT_FIELDS = ("affinity", "nodeSelector", "tolerations", "topologySpreadConstraints")

MOST_CONSTRAINT_BYTES = 64 * 1024
"""JSON of `CONSTRAINT_FIELDS` together: some hundred terms."""

NOT_KEPT = "constraintsNotKept"
"""Stands in the spec of a pod in place of constraints that are too long to be kept."""


def is_too_long(spec: Mapping[str, Any]) -> bool:
    """Whether the constraints of a pod that waits are longer than may be, or were."""
    if NOT_KEPT in spec:
        return True
    if spec.get("nodeName"):
        return False
    there = [spec[field] for field in CONSTRAINT_FIELDS if spec.get(field)]
    try:
        return bool(there) and len(orjson.dumps(there, default=str)) > MOST_CONSTRAINT_BYTES
    except orjson.JSONEncodeError:
        # Nested deeper, or numbers longer, than the API has them.
        return True


def without_constraints(spec: dict[str, Any]) -> None:
    """Take the constraints out of `spec`, which says so from then on."""
    for field in CONSTRAINT_FIELDS:
        spec.pop(field, None)
    spec[NOT_KEPT] = True
