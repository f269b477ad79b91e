"""The benchmark of the webhook asks what it says it asks, and counts what fails."""

from __future__ import annotations

import asyncio

from benchmarks.webhook.client import paced
from benchmarks.webhook.load import pod, review
from fourleaf.webhook.decide import Route, decide
from fourleaf.webhook.review import decoded
from fourleaf.webhook.settings import Settings


def test_the_load_is_changed_and_then_let_in() -> None:
    """The first review of a creation gets a patch, the second passes all checks."""
    settings = Settings()
    before, after = (decoded(review(pod("p", told=told))) for told in (False, True))
    assert decide(before, Route.MUTATE, settings).result == "patched"
    assert decide(after, Route.MUTATE, settings).result == "allowed"
    assert decide(after, Route.VALIDATE, settings).result == "allowed"
    assert 2000 < len(review(pod("p", told=True))) < 4000


async def test_every_request_is_counted_once() -> None:
    """Of 20 requests five fail: they are told apart, and the others have their time."""

    async def send(number: int) -> None:
        await asyncio.sleep(0)
        if number % 4 == 0:
            raise ConnectionResetError(f"request {number}")

    found = await paced(send, rate=1000, seconds=0.02)
    assert (len(found.took), len(found.failures)) == (15, 5)
    assert found.failures[0] == "ConnectionResetError: request 0"
    assert found.at(0.5) <= found.at(0.99)
