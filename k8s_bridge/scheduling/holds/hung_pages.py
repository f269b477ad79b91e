"""Hung pages: nothing new is planned on nodes of a page that the API is long in writing."""

from __future__ import annotations

from dataclasses import dataclass, field

from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.runtime.clock import Clock

HUNG_PAGE_SECONDS = 2.0
"""Seconds for which a commit waits for a page until all else is planned elsewhere."""

HUNG_REMEMBERED_SECONDS = 30.0
"""Seconds after a write that hung was given up until the page is tried again, at most."""


@dataclass(slots=True, eq=False)
class HungPages:
    """The pages for whose write a commit waits for long. A page is found by the first such gang."""

    ledger: Ledger
    clock: Clock
    _since: dict[str, float] = field(default_factory=dict)
    """Commit that is being written -> when it was first seen, on the monotonic clock."""
    _hung: dict[str, tuple[str, float]] = field(default_factory=dict)
    """Page -> its version, which another one follows once it is written, and when it last hung."""

    def nodes(self) -> frozenset[str]:
        """The nodes of these pages now; to be asked for again and again."""
        now = self.clock.monotonic()
        self._since = {name: self._since.get(name, now) for name in self.ledger.undecided}
        late = [name for name, at in self._since.items() if now - at >= HUNG_PAGE_SECONDS]
        pages = {
            page
            for name in late
            for member in self.ledger.undecided[name].members
            if (page := self.ledger.page_of(member.node)) is not None
        }
        # A wide gang may wait for its gang lease, or for another page.
        for name in filter(self.ledger.writing.holds, pages):
            listed = self.ledger.page(name)
            self._hung[name] = listed.version if listed else "", now
        self._hung = {name: one for name, one in self._hung.items() if self._is_hung(name, now)}
        found = map(self.ledger.page, self._hung)
        return frozenset(node for page in found if page is not None for node in page.nodes)

    def _is_hung(self, name: str, now: float) -> bool:
        page, (version, at) = self.ledger.page(name), self._hung[name]
        return page is not None and page.version == version and now - at < HUNG_REMEMBERED_SECONDS
