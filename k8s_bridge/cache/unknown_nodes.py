"""Unknown nodes: those of which the API does not know whether they are ready, for a while."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from fourleaf.k8s_bridge.runtime.clock import Clock

DOUBT_SECONDS = 60.0
"""Seconds for which nothing is done about what is on its way to a node of which the API has lost
sight, by itself, before others are looked for: most come back within them, and none of its pods
that run is lost for that."""


@dataclass(slots=True, eq=False)
class UnknownNodes:
    """Since when each is unknown, on the monotonic clock."""

    clock: Clock
    _since: dict[str, float] = field(default_factory=dict)

    def see(self, name: str, ready: str) -> None:
        """`ready` is the status of the node's condition `Ready` now."""
        if ready == "Unknown":
            self._since.setdefault(name, self.clock.monotonic())
        else:
            self.forget(name)

    def forget(self, name: str) -> None:
        """It is gone."""
        self._since.pop(name, None)

    def keep(self, names: Container[str]) -> None:
        """All others are gone."""
        self._since = {name: since for name, since in self._since.items() if name in names}

    def is_new(self, name: str) -> bool:
        """Whether it is unknown, and has not been for long."""
        since = self._since.get(name)
        return since is not None and self.clock.monotonic() - since < DOUBT_SECONDS
