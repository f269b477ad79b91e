"""Members that are refused again and again after a good dry run: no other goes for them twice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, pairwise
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Refused, Throttled
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.scheduler import DryRunMode
from fourleaf.k8s_bridge.scheduling.holds.api_backoff import LONGEST_WAIT_AFTER_ROLLBACK_SECONDS
from tests.k8s_bridge.relocation.bench import Bench

REFUSED = Refused("a policy that reads dryRun says no", 403, "Forbidden")
THROTTLED = Throttled("too many requests", 429, "TooManyRequests")


class RefusesOne:
    """Answers the bindings of the second member with these in turn, but not their dry runs."""

    def __init__(self, bench: Bench, *answers: ClusterError) -> None:
        self.clock = bench.clock
        self.answers: Sequence[ClusterError] = answers
        self._next = cycle(answers)
        self.on = True
        self.at: list[float] = []
        self.evictions = 0

    async def before(self, request: ApiRequest) -> None:
        """Answer for the API server."""
        if request.dry_run:
            return
        self.evictions += request.subresource == "eviction"
        if self.on and request.subresource == "binding" and request.target.name.startswith("g-1"):
            self.at.append(self.clock.monotonic())
            raise next(self._next)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


@pytest.mark.parametrize("dry_run", ["auto", "never"])
async def test_a_member_that_is_refused_for_good_costs_the_others_once(dry_run: DryRunMode) -> None:
    """The other three go back for the first try, for none of the half an hour after it.

    Tries grow rare, and once it may be bound the whole gang runs within the longest wait.
    """
    bench = Bench(1, 2)
    one = RefusesOne(bench, REFUSED)
    await bench.start(dry_run=dry_run, answers=one)
    await bench.submit("g", 4)
    await bench.clock.advance(1800)
    assert one.evictions == 3
    longest = max(after - before for before, after in pairwise(one.at))
    assert longest > LONGEST_WAIT_AFTER_ROLLBACK_SECONDS - 10
    one.on = False
    await bench.clock.advance(LONGEST_WAIT_AFTER_ROLLBACK_SECONDS + 5)
    assert len(await bench.places("g")) == 4
    assert one.evictions == 3
    await bench.stop()


async def test_a_refusal_and_a_throttle_in_turn_are_a_refusal() -> None:
    """The binding of one of four is answered 403, 429, 403, 429, ...: the others go in a minute.

    Without an answer that counts, they would run without it for a quarter of an hour.
    """
    bench = Bench(1, 2)
    one = RefusesOne(bench, REFUSED, THROTTLED)
    await bench.start(answers=one)
    await bench.submit("g", 4)
    await bench.clock.advance(60)
    assert one.evictions == 3
    assert not await bench.places("g")
    await bench.stop()
