"""Failures in the API server's own shape: a `Status` for a request that gets no other answer."""

from __future__ import annotations

from typing import Any


def failure(code: int, reason: str, message: str) -> dict[str, Any]:
    """A `Status` that says why a request cannot be answered."""
    said = {"status": "Failure", "code": code, "reason": reason, "message": message}
    return {"apiVersion": "v1", "kind": "Status", "metadata": {}, **said}
