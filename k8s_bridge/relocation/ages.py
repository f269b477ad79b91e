"""Ages of relocations: by the wall clock when a leader first sees them, monotonic since then."""

from __future__ import annotations

from collections.abc import Sequence

from fourleaf.k8s_bridge.relocation.records import Relocation
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.gang import GangKey


class RelocationAges:
    """For how long relocations are open, for one leader. A wall clock that is set changes none."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._opened: dict[tuple[GangKey, float], float] = {}
        """Gang and time of a relocation -> when it was opened, on the monotonic clock."""

    def of(self, there: Sequence[Relocation]) -> dict[GangKey, float]:
        """Seconds for which these, which are all that there are, have been open."""
        now, known = self.clock.monotonic(), self._opened
        self._opened = {
            key: known.get(key, now - max(0.0, self.clock.wall() - one.opened))
            for one in there
            for key in [(one.gang, one.opened)]
        }
        return {gang: now - opened for (gang, _), opened in self._opened.items()}
