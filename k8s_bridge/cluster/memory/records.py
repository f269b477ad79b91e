"""Objects as the store keeps them: bytes, which cannot change."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.cluster.slim import object_of


def copied(body: Body) -> Body:
    """`body` as it arrives at the other end of a wire."""
    copy: Body = orjson.loads(orjson.dumps(body))
    return copy


@dataclass(frozen=True, eq=False)
class StoredObject:
    """One version of one object. `body` belongs to the store: copy before changing."""

    kind: Kind
    body: Body

    @property
    def metadata(self) -> dict[str, Any]:
        """The object's metadata."""
        found: dict[str, Any] = self.body["metadata"]
        return found

    @property
    def labels(self) -> dict[str, str]:
        """The object's labels."""
        return self.metadata.get("labels") or {}

    @property
    def namespace(self) -> str:
        """The namespace, "" for what has none."""
        return str(self.metadata.get("namespace", ""))

    @property
    def version(self) -> int:
        """The resource version of the write that made this."""
        return int(self.metadata["resourceVersion"])

    @cached_property
    def _slim(self) -> bytes:
        return orjson.dumps(object_of(self.kind, orjson.dumps(self.body)))

    def whole(self) -> Body:
        """A copy of the whole object."""
        return copied(self.body)

    def listed(self) -> Body:
        """A copy of as much of the object as lists and watches carry."""
        body: Body = orjson.loads(self._slim)
        return body


@dataclass(frozen=True, slots=True)
class StoredChange:
    """What a write did to one object: no `before` where it was made, no `after` where it went.

    Neither, where it is a bookmark.
    """

    version: int
    before: StoredObject | None = None
    after: StoredObject | None = None
