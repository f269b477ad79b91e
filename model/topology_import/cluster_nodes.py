"""Kubernetes nodes as far as a description of a fabric has to do with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_GPUS = ("nvidia.com/gpu", "amd.com/gpu")


@dataclass(frozen=True)
class ClusterNode:
    """A node: its name, labels, identity, and whether it offers GPUs."""

    name: str
    labels: Mapping[str, str]
    uid: str = ""
    has_gpus: bool = True

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> ClusterNode:
        """The node of a manifest or an answer; labels that are no text are left out."""
        metadata = _mapping(body.get("metadata"))
        status = _mapping(body.get("status"))
        offered = _mapping(status.get("allocatable") or status.get("capacity"))
        labels = _mapping(metadata.get("labels"))
        return cls(
            str(metadata.get("name", "")),
            {key: value for key, value in labels.items() if isinstance(value, str)},
            str(metadata.get("uid", "")),
            any(str(offered.get(name, "0")) != "0" for name in _GPUS),
        )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
