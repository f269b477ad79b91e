"""All that the bridge asks of a cluster. The live client and the twin pass one contract suite."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from fourleaf.k8s_bridge.cluster.kinds import Kind

Body = dict[str, Any]
"""An object as the API sends it, in part or whole."""


@dataclass(frozen=True, slots=True)
class Listing:
    """All objects of a kind at one resource version."""

    items: list[Body]
    version: str


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One line of a watch: `ADDED`, `MODIFIED`, `DELETED` or `BOOKMARK`, and the object.

    Or `OPENED`, which is no line: the server has taken the watch. Its object has nothing but the
    version from which the watch goes on.
    """

    type: str
    object: Body


def opened(version: str) -> WatchEvent:
    """The event that says that the server has taken a watch from `version` on."""
    return WatchEvent("OPENED", {"metadata": {"resourceVersion": version}})


@dataclass(frozen=True, slots=True)
class Target:
    """Names one object, and what has to be true of it: its UID and version where given."""

    namespace: str
    name: str
    uid: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Binding:
    """A pod, the node that it goes to, and annotations that the same write adds to the pod."""

    pod: Target
    node: str
    annotations: dict[str, str] = field(default_factory=dict)


class Cluster(Protocol):
    """One Kubernetes cluster, as one identity.

    Every method raises a `ClusterError`: `NotFound`, `Conflict`, `Gone`, `Refused`,
    `Throttled`, `Ambiguous`. None repeats a request by itself.
    """

    async def list(
        self,
        kind: Kind,
        namespace: str = "",
        labels: str = "",
        cached: bool = False,
        fields: str = "",
    ) -> Listing:
        """All objects of `kind`; those with `labels` (a selector) and in `namespace` where given.

        `fields` selects by fields, such as `spec.nodeName=n1`, those that the kind lets select.
        The answer is as new as the newest write (a quorum read), unless `cached` allows one
        that the server has at hand. Objects carry no apiVersion and kind of their own.
        """

    def watch(
        self, kind: Kind, version: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """What happens after `version`, bookmarks included, until the server ends it.

        `OPENED` comes once, before all that happens after `version`. Raises `Gone` where `version`
        is too old, as an answer or in the middle.
        """

    async def get(self, kind: Kind, target: Target) -> Body:
        """The object, as new as the newest write. UID and version are not looked at."""

    async def create(self, kind: Kind, namespace: str, body: Body) -> Body:
        """Create `body`; what the server made of it. Raises `AlreadyExists`."""

    async def replace(self, kind: Kind, target: Target, body: Body) -> Body:
        """Put `body` in the place of the object that has `target.version`, else `Conflict`."""

    async def patch(self, kind: Kind, target: Target, patch: Body, subresource: str = "") -> Body:
        """Apply a JSON merge patch; with `target.version` or `.uid`, only to that one."""

    async def apply(
        self, kind: Kind, target: Target, body: Body, manager: str, subresource: str = ""
    ) -> Body:
        """Apply `body` server-side as `manager`, taking fields that others manage.

        What the manager applied before and no longer names goes away. The object is made where
        there is none, but not through a subresource: `NotFound`. With `target.uid`, only that
        one, else `Conflict`. What changes nothing makes no new version.
        """

    async def delete(self, kind: Kind, target: Target) -> None:
        """Delete the object; with `target.uid` or `.version`, only that one, else `Conflict`."""

    async def bind(self, binding: Binding, dry_run: bool = False) -> None:
        """Bind a pod. `Conflict` where it is another pod, another version, bound or deleting."""

    async def evict(self, pod: Target, dry_run: bool = False, at_once: bool = False) -> None:
        """Evict a pod by UID. `Throttled` where a disruption budget forbids it for now.

        A dry run asks admission and budgets as well, and leaves the pod and the budgets alone.
        `at_once`: it has no time to stop, and is gone though no kubelet has ended it.
        """

    async def close(self) -> None:
        """Give back connections."""


class PagedCluster(Cluster, Protocol):
    """A cluster of which a list may be read a page at a time, so that no more is held at once."""

    def pages(
        self, kind: Kind, namespace: str, size: int, fields: str = ""
    ) -> AsyncIterator[Sequence[Body]]:
        """The objects of `kind`, at most `size` at a time; see `Cluster.list`.

        Raises `Gone` between two pages where the first one is too old by then.
        """
