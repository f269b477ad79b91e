"""Where readers look up objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fourleaf.model.readers.manifest import Manifest


class Objects(Protocol):
    """Objects by what they are. The same object is one manifest, however often asked for."""

    def of(self, group: str, kind: str) -> Sequence[Manifest]:
        """All objects of one kind."""
        ...

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        """One object, None where it is not there."""
        ...

    def spaces(self, group: str, kind: str, name: str) -> Sequence[str]:
        """The namespaces that have an object of that name, sorted."""
        ...
