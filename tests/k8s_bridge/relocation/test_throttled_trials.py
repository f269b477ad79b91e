"""Trials of evictions that the API server puts off: silence says nothing of a pod."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Throttled
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from tests.k8s_bridge.relocation.bench import Bench


class Busy:
    """An API server that has no time for evictions while it `is_busy`."""

    is_busy = False

    async def before(self, request: ApiRequest) -> None:
        """Put it off."""
        if self.is_busy and request.subresource == "eviction":
            raise Throttled("too many requests", 429, "TooManyRequests", retry_after=1.0)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def test_a_gang_preempts_soon_after_the_api_server_has_time_again() -> None:
    """It had none for eight minutes: no pod is kept for ten more as if it had been refused."""
    api = Busy()
    bench = Bench(1, 4)
    try:
        await bench.start(answers=api)
        await bench.classes(low=1, high=10)
        await bench.submit("low", 16, priority="low")
        api.is_busy = True
        await bench.submit("top", 4, priority="high")
        await bench.clock.advance(480)
        assert not await bench.places("top")
        api.is_busy = False
        await bench.clock.advance(60)
        assert len(await bench.places("top")) == 4
    finally:
        await bench.stop()
