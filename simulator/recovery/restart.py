"""Whole restart: no gang that lost a member goes on."""

from __future__ import annotations

from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.recovery.protocol import Rescue


class Restart:
    """Evicts what is left of every gang that was hit."""

    def rescue(self, snapshot: Snapshot) -> Rescue:  # noqa: ARG002 - nothing depends on it
        """No gang."""
        return Rescue()
