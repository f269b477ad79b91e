"""Hung pages: nothing new is planned on nodes of a page that the API is long in writing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.runtime.clock import Clock

HUNG_PAGE_LIMIT_SECONDS = 60.0
"""Seconds for which no pod that runs makes way for want of the nodes of such a page, and for which
places there are kept: it is mostly written by then."""

HUNG_PAGE_SECONDS = 5.0
"""Seconds for which one write of a page lasts until all else is planned elsewhere: many pages that
are written at once take some by themselves."""


@dataclass(frozen=True, slots=True)
class HungNodes:
    """The nodes of pages that hang. Those that are so `for_now` are likely to be back soon."""

    every: frozenset[str] = frozenset()
    for_now: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False)
class HungPages:
    """The pages for whose write a commit waits for long. A page is found by the first such gang."""

    ledger: Ledger
    clock: Clock
    _held: dict[str, tuple[str, float]] = field(default_factory=dict)
    """Page that a commit waits for -> its version, and since when it is being written so."""

    def nodes(self) -> HungNodes:
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
        ages = {name: now - at for name, (_, at) in self._held.items()}
        late = {name: age for name, age in ages.items() if age >= HUNG_PAGE_SECONDS}
        brief = (name for name, age in late.items() if age < HUNG_PAGE_LIMIT_SECONDS)
        return HungNodes(self._listed(late), self._listed(brief))

    def _listed(self, pages: Iterable[str]) -> frozenset[str]:
        found = map(self.ledger.page, pages)
        return frozenset(node for page in found if page is not None for node in page.nodes)

    def _as_held(self, name: str, now: float) -> tuple[str, float]:
        """Its version, and since when it is held at that."""
        version, since = self._held.get(name, ("", now))
        return (version, since) if version == self._version(name) else (self._version(name), now)

    def _version(self, name: str) -> str:
        page = self.ledger.page(name)
        return "" if page is None else page.version
