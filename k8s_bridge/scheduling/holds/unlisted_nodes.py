"""Unlisted nodes: nothing is planned on nodes of which no page can hold what happens there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.runtime.clock import Clock

UNLISTED_SECONDS = 5.0
"""Seconds for which a node may be without a page: that of a new one is made meanwhile."""


@dataclass(slots=True, eq=False)
class UnlistedNodes:
    """Nodes that no page lists: theirs is damaged, or the API does not let it be made."""

    ledger: Ledger
    clock: Clock
    _since: dict[str, float] = field(default_factory=dict)
    """Node -> since when no page lists it, monotonic."""

    def look(self, nodes: Iterable[str]) -> None:
        """Note which of `nodes`, all that there are, no page lists."""
        now = self.clock.monotonic()
        self._since = {
            node: self._since.get(node, now) for node in nodes if self.ledger.page_of(node) is None
        }

    def nodes(self) -> frozenset[str]:
        """Those that none has listed for long, and none lists now."""
        now = self.clock.monotonic()
        return frozenset(
            node
            for node, since in self._since.items()
            if now - since >= UNLISTED_SECONDS and self.ledger.page_of(node) is None
        )
