"""Discovery beside the rounds of the agent: now and then, and never waited for long."""

from __future__ import annotations

from fourleaf.agent.discovery.discover import Discovery
from fourleaf.agent.timed_reader import TimedCall
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.crds.discovered_topology import DiscoveredTopology, SourceFault

DISCOVERY_SECONDS = 60.0
"""Seconds between two looks at the fabric: cables and switches change seldom."""
PATIENCE_SECONDS = 10.0
"""Seconds that a round of the agent waits for one."""


class TimedDiscovery:
    """What was found last, looked for anew once that is old."""

    def __init__(
        self, discovery: Discovery, clock: Clock, patience: float = PATIENCE_SECONDS
    ) -> None:
        self._call = TimedCall(discovery.read, patience)
        self._clock = clock
        self._patience = patience
        self._last: DiscoveredTopology | None = None
        self._looked_at = float("-inf")

    async def read(self) -> DiscoveredTopology | None:
        """Where the node stands, None where nothing tells; with a fault where that hangs."""
        if self._clock.monotonic() - self._looked_at < DISCOVERY_SECONDS:
            return self._last
        found = await self._call.answer(None)
        self._looked_at = self._clock.monotonic()
        if not self._call.hangs:
            self._last = found
            return found
        message = f"no answer within {self._patience:g} s: what was found before counts"
        hung = SourceFault(source="discovery", message=message)
        before = self._last or DiscoveredTopology()
        self._last = before.model_copy(update={"faults": [hung]})
        return self._last
