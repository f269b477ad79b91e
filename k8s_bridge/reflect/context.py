"""What the layers of one reflection share."""

from __future__ import annotations

import random
from dataclasses import dataclass

import structlog

from fourleaf.k8s_bridge.backoff import Backoff
from fourleaf.k8s_bridge.clock import Clock
from fourleaf.k8s_bridge.cluster.protocol import Cluster
from fourleaf.k8s_bridge.reflect.health import Pulse
from fourleaf.k8s_bridge.reflect.patience import Patience, about
from fourleaf.k8s_bridge.reflect.subject import Subject


@dataclass(frozen=True, slots=True)
class Context:
    """One subject's reflection: whom to ask, for what, how patiently, and where to note it."""

    cluster: Cluster
    subject: Subject
    clock: Clock
    patience: Patience
    pulse: Pulse
    backoff: Backoff
    chance: random.Random

    async def retry(self, error: Exception) -> None:
        """Note a failure and wait, as long as the server asks for where it does."""
        if self.pulse.failed(error):
            log = structlog.get_logger(__name__)
            log.info("cluster: trying again", kind=self.subject.kind.plural, why=str(error))
        asked = getattr(error, "retry_after", None) or 0.0
        await self.backoff.wait(min(asked, self.patience.longest_asked))

    async def pause(self, seconds: float) -> None:
        """Wait about that long."""
        await self.clock.sleep(about(seconds, self.chance))
