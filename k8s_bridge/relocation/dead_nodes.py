"""What relocations know of nodes."""

from __future__ import annotations

import asyncio
from typing import Protocol


class DeadNodes(Protocol):
    """Knows which nodes are dead. `died` is set when another one is found so."""

    died: asyncio.Event

    @property
    def dead(self) -> frozenset[str]:
        """The nodes of which all that runs there is lost."""

    def silent_for(self, node: str) -> float | None:
        """Seconds since the last heartbeat of a silent node, None where it is heard."""
