"""Hung pages: no new gang is sent to nodes of a page that the API is long in writing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.resources import counted
from fourleaf.model.snapshot import RunningPod, Snapshot

HUNG_PAGE_SECONDS = 2.0
"""Seconds for which a commit waits for a page until new gangs are planned elsewhere."""

_HOLDER, _WHY = "lease", " (being written)"
"""What a gang is told that its nodes are used by; no pod has a space in its name."""


@dataclass(slots=True)
class HungPages:
    """The pages for whose write a commit waits for long. A page is found by the first such gang."""

    ledger: Ledger
    clock: Clock
    _since: dict[str, float] = field(default_factory=dict)
    """Commit that is being written -> when it was first seen, on the monotonic clock."""

    def look(self) -> None:
        """See which commits are being written now."""
        now = self.clock.monotonic()
        self._since = {name: self._since.get(name, now) for name in self.ledger.undecided}

    def charge(self, snapshot: Snapshot) -> Snapshot:
        """`snapshot` with all that is free on the nodes of these pages as used."""
        free = snapshot.free if (pages := self._hung()) else {}
        taken = tuple(
            RunningPod(_HOLDER, name + _WHY, node, counted(free[node]))
            for name in pages
            if (page := self.ledger.page(name)) is not None
            for node in page.nodes
            if node in free and free[node].pods > 0
        )
        return replace(snapshot, running=(*snapshot.running, *taken)) if taken else snapshot

    def _hung(self) -> list[str]:
        latest = self.clock.monotonic() - HUNG_PAGE_SECONDS
        late = [self.ledger.undecided.get(name) for name, at in self._since.items() if at <= latest]
        pages = {
            page
            for commit in late
            if commit is not None
            for member in commit.members
            if (page := self.ledger.page_of(member.node)) is not None
        }
        # A wide gang may wait for its gang lease, or for another page.
        return sorted(page for page in pages if self.ledger.writing.holds(page))
