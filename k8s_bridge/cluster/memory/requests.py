"""What a request to the twin looks like to those who watch it or get in its way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.protocol import Target


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request: who asks for what.

    `verb` is one of list, watch, get, create, update, patch, apply, delete; a Binding is a create
    of pods/binding, an eviction one of pods/eviction. `body` is what was sent, not a copy.
    """

    identity: str
    verb: str
    kind: Kind
    target: Target
    subresource: str = ""
    body: Any = None
    dry_run: bool = False

    @property
    def writes(self) -> bool:
        """Whether the request would change something."""
        return self.verb not in ("list", "watch", "get") and not self.dry_run


class Interceptor(Protocol):
    """Stands between a client and the store: refuses, delays, loses, counts."""

    async def before(self, request: ApiRequest) -> None:
        """Look at a request that has not been done; a `ClusterError` raised here stops it."""

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Look at what was done, and at each event of a watch.

        A `ClusterError` raised here loses the answer, not the effect.
        """
