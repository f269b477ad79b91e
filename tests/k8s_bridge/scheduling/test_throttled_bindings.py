"""An API server that throttles: what gangs are told that wait for a dry run of their bindings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Throttled
from fourleaf.k8s_bridge.cluster.memory.actors import gang, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.scheduling.test_slow_webhooks import bound, message

OF_THE_SERVER = "429 Too many requests, please try again later."
OF_A_WEBHOOK = '429 admission webhook "quota.example.org" denied the request: too many'


class Busy:
    """Dry runs of bindings get a 429 in these words while they `last`."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.lasts = True

    async def before(self, request: ApiRequest) -> None:
        """Answer so, and ask for the seconds that an API server asks for."""
        if self.lasts and request.dry_run and request.subresource == "binding":
            raise Throttled(self.words, 429, "TooManyRequests", retry_after=1.0)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Four leaves of 4 nodes, and no scheduler yet."""
    bench = Bench()
    yield bench
    await bench.stop()


async def test_an_api_server_that_throttles_is_no_slow_webhook(bench: Bench) -> None:
    """Its gang says so from the first answers on, through all attempts, and starts after it."""
    busy = Busy(OF_THE_SERVER)
    await bench.start(dry_run="always", answers=busy)
    await submit(bench.cluster, TEAM, gang("g", 4))
    for _ in range(4):
        await bench.clock.advance(5)
        said = await message(bench, "g-0")
        assert "the API server throttles requests (429)" in said
        assert "apiserver_flowcontrol_rejected_requests_total" in said
        assert "webhook" not in said
    busy.lasts = False
    await bench.clock.advance(30)
    assert len(await bound(bench)) == 4


async def test_a_webhook_that_says_429_is_no_busy_api_server(bench: Bench) -> None:
    """What an admission webhook answers comes under the status that the webhook gives."""
    await bench.start(dry_run="always", answers=Busy(OF_A_WEBHOOK))
    await submit(bench.cluster, TEAM, gang("g", 4))
    await bench.clock.advance(5)
    said = await message(bench, "g-0")
    assert "Look for a webhook on pods/binding" in said
    assert "throttles" not in said
