"""The fair queue of dear reviews, by a clock of its own: who comes next, and when."""

from __future__ import annotations

import asyncio

import pytest

from fourleaf.webhook.http.fair_queue import FairQueue, is_dear

DEAR = b"{" * 5000
LASTS = 0.01


class Client:
    """Reviews that were answered, in order, and how many at a time at most."""

    def __init__(self) -> None:
        self.clock = 0.0
        self.queue = FairQueue(lambda: self.clock)
        self.answered: list[str] = []
        self.at_once = self.most = 0

    async def ask(self, name: str, body: bytes = DEAR) -> None:
        """One review, which takes `LASTS` of the clock."""
        async with self.queue.passed(body, name[0]):
            self.at_once += 1
            self.most = max(self.most, self.at_once)
            await asyncio.sleep(0)
            self.clock += LASTS
            self.answered.append(name)
            self.at_once -= 1


@pytest.mark.parametrize(
    ("body", "dear"),
    [(b"{" * 4000, False), (b"{" * 4001, True), (b"{:" * 2001, True), (b" " * 2**16, False)],
)
def test_what_is_dear(body: bytes, dear: bool) -> None:
    """By entries, however short; or by length."""
    assert is_dear(body) is dear
    assert is_dear(body + b" " * 2**16)


async def test_addresses_pass_by_round_robin() -> None:
    """`a` has sent four when `b` and `c` send theirs: each waits for one of `a` besides the first.

    One is answered at a time, and after each there is as long without any.
    """
    client = Client()
    names = ["a1", "a2", "a3", "a4", "b1", "c1"]
    began = asyncio.get_running_loop().time()
    await asyncio.gather(*map(client.ask, names))
    assert client.answered == ["a1", "a2", "b1", "c1", "a3", "a4"]
    assert client.most == 1
    # A clock that is read as a float loses a little.
    assert asyncio.get_running_loop().time() - began >= 4.9 * LASTS


async def test_short_ones_wait_for_none() -> None:
    """One that is short is answered while a dear one is, and another waits."""
    client = Client()
    async with client.queue.passed(DEAR, "a"):
        waits = asyncio.ensure_future(client.ask("a1"))
        await asyncio.sleep(0)
        await client.ask("b1", b"{}")
        assert client.answered == ["b1"]
    await waits


async def test_who_leaves_holds_up_no_other() -> None:
    """Cancelled while it waits, and in the moment in which it may pass."""
    client = Client()
    async with client.queue.passed(DEAR, "a"):
        waits = [asyncio.ensure_future(client.ask(name)) for name in ("a1", "b1", "c1")]
        await asyncio.sleep(0)
        waits[0].cancel()
    for _ in range(3):
        await asyncio.sleep(0)
    waits[1].cancel()
    await asyncio.wait_for(waits[2], 5)
    assert client.answered[-1] == "c1"
