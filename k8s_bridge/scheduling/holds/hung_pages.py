"""Hung pages: nothing new is planned on nodes of a page that the API is long in writing."""

from __future__ import annotations

from dataclasses import dataclass, field

from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.runtime.clock import Clock

HUNG_PAGE_SECONDS = 5.0
"""Seconds for which one write of a page lasts until all else is planned elsewhere: many pages that
are written at once take some by themselves."""


@dataclass(slots=True, eq=False)
class HungPages:
    """The pages for whose write a commit waits for long. A page is found by the first such gang."""

    ledger: Ledger
    clock: Clock
    _held: dict[str, tuple[str, float]] = field(default_factory=dict)
    """Page that a commit waits for -> its version, and since when it is being written so."""

    def nodes(self) -> frozenset[str]:
        """The nodes of these pages now; to be asked for again and again."""
        now = self.clock.monotonic()
        awaited = {
            self.ledger.page_of(member.node)
            for commit in self.ledger.undecided.values()
            for member in commit.members
        }
        # A wide gang may wait for its gang lease, or for another page.
        held = {name for name in awaited if name is not None and self.ledger.writing.holds(name)}
        self._held = {name: self._as_held(name, now) for name in held}
        late = (name for name, (_, at) in self._held.items() if now - at >= HUNG_PAGE_SECONDS)
        found = map(self.ledger.page, late)
        return frozenset(node for page in found if page is not None for node in page.nodes)

    def _as_held(self, name: str, now: float) -> tuple[str, float]:
        """Its version, and since when it is held at that."""
        version, since = self._held.get(name, ("", now))
        return (version, since) if version == self._version(name) else (self._version(name), now)

    def _version(self, name: str) -> str:
        page = self.ledger.page(name)
        return "" if page is None else page.version
