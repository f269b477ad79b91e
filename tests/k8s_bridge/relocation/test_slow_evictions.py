"""Large gangs whose evictions, or their trials, take the API long: the whole scheduler on the twin.

Of one namespace 16 are under way at a time. A gang that waits may preempt after 5 s.
"""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from tests.k8s_bridge.relocation.bench import Bench
from tests.k8s_bridge.relocation.test_eviction_limits import changed


class Slow:
    """An API that takes so many seconds for evictions of pods whose name starts so."""

    def __init__(self, bench: Bench, start: str, real: float = 0.0, trial: float = 0.0) -> None:
        self.bench, self.start = bench, start
        self.real, self.trial = real, trial
        self.reals = self.trials = 0

    async def before(self, request: ApiRequest) -> None:
        """Count it, and let it wait."""
        if request.subresource != "eviction" or not request.target.name.startswith(self.start):
            return
        self.trials += request.dry_run
        self.reals += not request.dry_run
        seconds = self.trial if request.dry_run else self.real
        if seconds:
            await self.bench.clock.sleep(seconds)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def leading(bench: Bench, api: Slow) -> None:
    """A scheduler leads whose API is so slow, beside classes of priorities."""
    await bench.start(answers=api)
    await bench.classes(low=1, middle=5, high=10)


async def test_evictions_that_make_progress_are_not_given_up() -> None:
    """128 pods at 20 s each take 160 s: each goes once, and the gang starts."""
    bench = Bench(1, 4)
    try:
        api = Slow(bench, "a-", real=20.0)
        await leading(bench, api)
        await bench.submit("a", 128, 1, priority="low")
        await bench.clock.advance(10)
        await bench.submit("top", 16, priority="high")
        await bench.clock.advance(300)
        assert len(await bench.places("top")) == 16
        assert api.reals == 128
    finally:
        await bench.stop()


@pytest.mark.parametrize("seconds", [90.0, 100.0])
async def test_others_make_room_where_evictions_take_ten_minutes(seconds: float) -> None:
    """Of 128 pods 96 have gone then: `b`, of a higher priority, makes room."""
    bench = Bench(1, 8)
    try:
        api = Slow(bench, "a-", real=seconds)
        await leading(bench, api)
        await bench.submit("a", 128, 1, priority="low")
        await bench.submit("b", 16, priority="middle")
        await bench.clock.advance(10)
        before = {"b": await bench.uids("b")}
        await bench.submit("top", 16, priority="high")
        await bench.clock.advance(590)
        assert not await changed(bench, before)
        await bench.clock.advance(60)
        assert len(await bench.places("top")) == 16
        assert await changed(bench, before) == {"b"}
    finally:
        await bench.stop()


async def test_answers_count_however_long_all_of_them_take() -> None:
    """Trials of 128 pods at 9 s each take 72 s: each is asked once, and the gang starts."""
    bench = Bench(1, 4)
    try:
        api = Slow(bench, "a-", trial=9.0)
        await leading(bench, api)
        await bench.submit("a", 128, 1, priority="low")
        await bench.clock.advance(10)
        await bench.submit("top", 4, priority="high")
        await bench.clock.advance(120)
        assert len(await bench.places("top")) == 4
        assert api.trials == 128
    finally:
        await bench.stop()
