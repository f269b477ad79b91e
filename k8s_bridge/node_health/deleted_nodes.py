"""Deleted nodes: those that hold pods and are gone from the cache, as the API server confirms.

The cache of a leader that has just taken over may be old, and a node may be made anew. So the API
server is asked, beside the judging: an answer that does not come makes no other death late.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

import structlog

from fourleaf.k8s_bridge.cluster.errors import ClusterError, NotFound
from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.protocol import Cluster, Target
from fourleaf.k8s_bridge.ledger.binding_trials import Spawn
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock

GONE_SECONDS = 40.0
"""Seconds that a Node object has to be gone before its node counts as deleted; what Kubernetes'
own garbage collection of pods waits for. A kubelet that restarts makes its object anew."""

FIRST_WAIT_SECONDS = 1.0
"""Seconds, at most, before the API server is asked a second time about one node."""
WAIT_LIMIT_SECONDS = 30.0
"""Seconds, at most, before it is asked again about one that it says nothing of."""


@dataclass(slots=True, eq=False)
class DeletedNodes:
    """The nodes of one term that are gone. `spawn` runs what asks for one of them."""

    cluster: Cluster
    clock: Clock
    spawn: Spawn
    confirmed: set[str] = field(default_factory=set)
    """Nodes that are gone for good, as the API server has said itself."""
    _gone_since: dict[str, float] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    @property
    def gone(self) -> Set[str]:
        """Those that hold pods and are gone from the cache, confirmed or not."""
        return self._gone_since.keys()

    def see(self, gone: Set[str]) -> None:
        """These, and no others, hold pods and are gone now; ask for those that are due."""
        now = self.clock.monotonic()
        self._gone_since = {name: self._gone_since.get(name, now) for name in gone}
        self.confirmed &= gone
        for name in sorted(gone - self.confirmed - self._asked):
            if now - self._gone_since[name] >= GONE_SECONDS:
                self._asked.add(name)
                self.spawn(self._ask(name, self._gone_since[name]))

    async def _ask(self, name: str, since: float) -> None:
        """Ask for a node that is gone `since` then until there is an answer, or it is back."""
        backoff = Backoff(self.clock, FIRST_WAIT_SECONDS, WAIT_LIMIT_SECONDS)
        try:
            while self._gone_since.get(name) == since:
                try:
                    await self.cluster.get(NODES, Target("", name))
                except NotFound:
                    # It may have been back meanwhile, and be gone again for a moment.
                    if self._gone_since.get(name) == since:
                        self.confirmed.add(name)
                    return
                except ClusterError as error:
                    self._log.info("node_not_read", node=name, why=str(error))
                    await backoff.wait(error.retry_after)
                else:
                    if name in self._gone_since:
                        self._gone_since[name] = self.clock.monotonic()
                    return
        finally:
            self._asked.discard(name)
