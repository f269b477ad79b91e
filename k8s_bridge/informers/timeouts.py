"""How long a reflection waits for what."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fourleaf.k8s_bridge.cluster.protocol import Cluster
from fourleaf.k8s_bridge.informers.health import STALL_SECONDS, Pulse
from fourleaf.k8s_bridge.informers.selection import Selection
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Waits of a reflection, in seconds.

    A watch that is silent for `stall_after` is given up; servers send bookmarks about once a
    minute. So is one that brings only what is older than what was seen, for `behind_for`. A list
    may take `list_within`. A kind that is not served is looked for again after `absent_again`:
    gangs that it owns are held until then. One that is forbidden is after `refused_first`,
    doubling up to `refused_again`, for a server that has just started forbids everything until it
    has read who may do what; all of these give or take a quarter. After failures come waits of at
    most `first_retry`, doubling up to `longest_retry`, at random; a server that asks for more gets
    it. A watch that lasted `steady_after` is no failure, however it ended.
    """

    stall_after: float = STALL_SECONDS
    behind_for: float = 60.0
    list_within: float = 60.0
    absent_again: float = 15.0
    refused_first: float = 1.0
    refused_again: float = 60.0
    first_retry: float = 0.1
    longest_retry: float = 30.0
    steady_after: float = 2.0


def about(seconds: float, chance: random.Random) -> float:
    """`seconds`, give or take a quarter, so that many who wait do not come back at once."""
    return seconds * chance.uniform(0.75, 1.25)


@dataclass(frozen=True, slots=True)
class WatchContext:
    """One reflection: the cluster, the selection, the timeouts, and where to note its health."""

    cluster: Cluster
    selection: Selection
    clock: Clock
    timeouts: Timeouts
    pulse: Pulse
    backoff: Backoff
    chance: random.Random

    async def retry(self, error: Exception) -> None:
        """Note a failure and wait, as long as the server asks for where it does."""
        if self.pulse.failed(error):
            import structlog

            log = structlog.get_logger(__name__)
            log.info("request_repeated", kind=self.selection.kind.plural, why=str(error))
        await self.backoff.wait(getattr(error, "retry_after", None))

    async def pause(self, seconds: float) -> None:
        """Wait about that long."""
        await self.clock.sleep(about(seconds, self.chance))
