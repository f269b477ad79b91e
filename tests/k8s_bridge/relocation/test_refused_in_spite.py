"""Evictions that the API refuses although their dry run passes: the others go for nothing but once.

The fabric is one spine of 4 leaves of 4 nodes, and a gang that waits may preempt after 5 s.
"""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from tests.k8s_bridge.relocation.bench import Bench


class Keeps:
    """An API that refuses to evict pods of those UIDs, and passes their dry runs."""

    def __init__(self) -> None:
        self.uids: set[str] = set()
        self.refused = 0

    async def before(self, request: ApiRequest) -> None:
        """Refuse it."""
        is_real = request.subresource == "eviction" and not request.dry_run
        if is_real and request.target.uid in self.uids:
            self.refused += 1
            raise Refused("admission webhook denied the request", 403)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def test_who_was_kept_once_goes_first_the_next_time() -> None:
    """Top needs the leaves of `keep` and `go`, and the API keeps `keep` until 20 minutes are over.

    `go` is evicted once before that is known, and once more when `keep` has gone.
    """
    keeps = Keeps()
    bench = Bench(1, 4)
    try:
        await bench.start(answers=keeps)
        await bench.classes(low=1, high=10)
        for name, priority in (("keep", "low"), ("go", "low"), ("a", "high"), ("b", "high")):
            await bench.submit(name, 4, priority=priority)
        keeps.uids = set((await bench.uids("keep")).values())
        seen = {tuple(sorted((await bench.uids("go")).values()))}
        await bench.submit("top", 8, priority="high")
        for _ in range(120):
            await bench.clock.advance(10)
            seen.add(tuple(sorted((await bench.uids("go")).values())))
        assert len(seen) == 2
        assert len(await bench.places("go")) == 4
        assert keeps.refused >= 8
        keeps.uids = set()
        await bench.clock.advance(700)
        assert len(await bench.places("top")) == 8
    finally:
        await bench.stop()
