"""A replica that leads once more: what it knew of nodes in its earlier term is old."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Throttled
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Binding
from tests.k8s_bridge.relocation.bench import Bench


class Cut:
    """No write of a Lease gets an answer while `lasts`."""

    lasts = False

    async def before(self, request: ApiRequest) -> None:
        """Lose it."""
        if self.lasts and request.kind is LEASES and request.writes:
            raise Ambiguous("cut")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


class Busy:
    """No binding to one node is taken."""

    def __init__(self, node: str) -> None:
        self.node = node

    async def before(self, request: ApiRequest) -> None:
        """Put it off."""
        if isinstance(request.body, Binding) and request.body.node == self.node:
            raise Throttled("busy", 503)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_a_node_that_was_dead_in_the_term_before_is_looked_at_anew() -> None:
    """A has seen n die and lost the lead; n is well under B, which dies with three of four bound.

    A leads again and binds the fourth to n: none of the three goes for what was known of n. A host
    that is off, elsewhere, has its first look at nodes take a second.
    """
    bench = Bench(1, 2)
    probe = bench.heartbeats.answers

    async def slow(door: Any) -> bool:
        if door.host in bench.heartbeats.unreachable:
            await bench.clock.sleep(1.0)
        return await probe(door)

    bench.heartbeats.answers = slow  # type: ignore[method-assign]
    cut = Cut()
    await bench.start("a", answers=cut)
    await bench.clock.advance(5)
    names = [body["metadata"]["name"] for body in bench.fabric]
    bench.lose(names[0])
    await bench.clock.advance(60)
    await bench.start("b", answers=Busy(names[0]))
    await bench.clock.advance(5)
    cut.lasts = True
    await bench.clock.advance(40)
    cut.lasts = False
    bench.restore(names[0])
    await bench.clock.advance(60)
    bench.lose(names[7])
    await bench.clock.advance(60)
    await bench.submit("g", 4)
    before = await bench.uids("g")
    assert len(await bench.places("g")) == 3
    bench.tasks.pop().cancel()
    await bench.clock.advance(60)
    assert len(await bench.places("g")) == 4
    assert await bench.uids("g") == before
    await bench.stop()
