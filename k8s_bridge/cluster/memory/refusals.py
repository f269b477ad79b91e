"""How the apiserver refuses objects."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.errors import Refused


def invalid(name: str, field: str, why: str) -> Refused:
    """The refusal of an object that breaks a rule of its kind."""
    return Refused(f'"{name}" is invalid: {field}: {why}', 422, "Invalid")
