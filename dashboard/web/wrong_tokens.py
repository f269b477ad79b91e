"""Wrong tokens: answered late, counted, and logged, so that guessing is slow and seen."""

from __future__ import annotations

import asyncio

import structlog
from prometheus_client import CollectorRegistry, Counter

from fourleaf.k8s_bridge.runtime.clock import Clock

WRONG_TOKEN_SECONDS = 0.5
"""Seconds before a wrong token is answered."""
MOST_AWAITED = 32
"""Wrong tokens that are answered late at once; more are turned away."""
LOG_SECONDS = 60.0
"""Seconds between two lines of the log."""

_log = structlog.get_logger(__name__)


class WrongTokens:
    """All wrong tokens of one dashboard. A right one never waits for them."""

    def __init__(self, clock: Clock, registry: CollectorRegistry) -> None:
        self._clock = clock
        self._counter = Counter(
            "fourleaf_dashboard_wrong_tokens_total",
            "Requests with a wrong token, by header or at the login page.",
            registry=registry,
        )
        self._awaited = 0
        self._unlogged = 0
        self._logged = -LOG_SECONDS

    async def answer_late(self, peer: str) -> bool:
        """Count a wrong token of `peer` and wait; False, at once, where too many wait already."""
        self._counter.inc()
        self._log(peer)
        if self._awaited >= MOST_AWAITED:
            return False
        self._awaited += 1
        try:
            await asyncio.sleep(WRONG_TOKEN_SECONDS)
        finally:
            self._awaited -= 1
        return True

    def _log(self, peer: str) -> None:
        self._unlogged += 1
        now = self._clock.monotonic()
        if now - self._logged < LOG_SECONDS:
            return
        _log.warning("wrong_tokens", count=self._unlogged, last_from=peer)
        self._logged, self._unlogged = now, 0
