"""Resource versions of one kind, which are ordered as numbers."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.protocol import Body


def number(kind: Kind, version: str) -> int:
    """The version as a number. Raises `ClusterError` where it is none."""
    if version.isascii() and version.isdigit():
        return int(version)
    raise ClusterError(
        f"{kind.plural}: metadata.resourceVersion: {version!r} is not a whole number; "
        "only servers that keep objects in etcd can be reflected"
    )


def version_of(kind: Kind, body: Body) -> int:
    """The version of an object or a bookmark. Raises `ClusterError` where it has none."""
    metadata = body.get("metadata") or {}
    return number(kind, str(metadata.get("resourceVersion", "")))


class NewestVersion:
    """The newest version of a kind that was seen: nothing older may be taken for new."""

    def __init__(self) -> None:
        self.version = 0
        self.is_behind = False
        """Whether the last one was older than one before it."""

    def take(self, version: int) -> bool:
        """Whether `version` is as new as all before it; it is the newest then."""
        self.is_behind = version < self.version
        if self.is_behind:
            return False
        self.version = version
        return True
