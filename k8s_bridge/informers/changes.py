"""Changes that a reflector hands on, in the order in which they have to be applied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.protocol import Body


@dataclass(frozen=True, slots=True)
class Replaced:
    """All objects there are, as of `version`: what is not among `items` is gone.

    `kind` is the one that they were listed as, where a subject has alternatives.
    """

    items: list[Body]
    version: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Put:
    """An object was made or changed; `body` is the whole of it, as lists carry it."""

    body: Body


@dataclass(frozen=True, slots=True)
class Removed:
    """An object is gone, or no longer matches; `body` is the last that was seen of it."""

    body: Body


@dataclass(frozen=True, slots=True)
class Absent:
    """The cluster does not serve the kind, so it has no objects."""


Change: TypeAlias = Replaced | Put | Removed | Absent
