"""Wall clocks that were wrong once: limits and waits last no longer for it."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.relocation.ages import WaitingAges
from fourleaf.k8s_bridge.relocation.evictions.history import DAY_SECONDS, FUTURE_SECONDS
from fourleaf.k8s_bridge.relocation.move_budget import MOVES_LEASE, MoveBudget
from fourleaf.k8s_bridge.relocation.tenants.caused_evictions import EVICTIONS_LEASE
from fourleaf.model.gang import GangKey
from tests.k8s_bridge.relocation.bench import Bench
from tests.k8s_bridge.relocation.test_caused_evictions import CRITICAL, EVIL, allow
from tests.small import gang
from tests.twins.virtual_clock import VirtualClock

HOUR = 3600.0


async def test_moves_of_the_future_count_for_nothing() -> None:
    """Rows of a clock that was a day ahead are dropped, and do not come back when their day comes.

    A row of the minute that has begun is none of these.
    """
    clock = VirtualClock()
    cluster = MemoryCluster(clock=clock)
    now, name = clock.wall(), str(GangKey("ml", "a"))
    kept = StateLease(cluster, "kube-system", MOVES_LEASE, clock)
    await kept.save([(now + 60, name, 1), (now + DAY_SECONDS, name, 4)])
    moves = MoveBudget(kept)
    await moves.load()
    assert moves.pods_in_an_hour(now) == 1
    assert moves.times_in_a_day(GangKey("ml", "a"), now) == 1
    await moves.keep()
    clock.set_wall(DAY_SECONDS)
    after = MoveBudget(StateLease(cluster, "kube-system", MOVES_LEASE, clock))
    await after.load()
    assert after.pods_in_an_hour(clock.wall()) == 0


@pytest.mark.parametrize(
    ("ahead", "placed"), [(30 * DAY_SECONDS, 4), (FUTURE_SECONDS - 60, 0)], ids=["wrong", "right"]
)
async def test_evictions_of_the_future_count_for_nothing(
    bench: Bench, ahead: float, placed: int
) -> None:
    """A namespace may cause 6 in an hour, and 6 are written down a month ahead: it has its turn."""
    await bench.classes(low=1, high=CRITICAL)
    await allow(bench, 6)
    for name in "abcd":
        await bench.submit(name, 4, priority="low")
    kept = StateLease(bench.cluster, "kube-system", EVICTIONS_LEASE, bench.clock)
    await kept.save([(bench.clock.wall() + ahead, EVIL, 6)])
    await bench.succeed("b")
    await bench.submit("one", 4, priority="high", namespace=EVIL)
    await bench.clock.advance(20)
    assert len(await bench.places("one", EVIL)) == placed


@pytest.mark.parametrize("seconds", [-HOUR, HOUR])
async def test_a_place_is_kept_after_the_seconds_that_are_stated(seconds: float) -> None:
    """The clock is set an hour back, or ahead, while a gang waits: that is 120 s as ever."""
    bench = Bench(1, 2)
    await bench.config("{backfill: {afterSeconds: 120}}")
    await bench.start()
    for name in "ab":
        await bench.submit(name, 4)
    await bench.submit("big", 8)
    bench.clock.set_wall(seconds)
    await bench.clock.advance(110)
    assert not await bench.reservations()
    await bench.clock.advance(20)
    assert await bench.reservations() == ["ml/big"]
    await bench.stop()


def test_what_a_gang_has_waited_before_counts() -> None:
    """Of a gang that is seen first after 100 s all 100 count; of one from the future none do."""
    clock = VirtualClock()
    ages, now = WaitingAges(clock), clock.wall()
    old, new = gang("old", 1, created=now - 100), gang("new", 1, created=now + 50)
    ages.look([old, new], now)
    assert (ages.of(old), ages.of(new)) == (100, 0)
    clock.spend(10)
    ages.look([old], now - HOUR)
    assert (ages.of(old), ages.of(new)) == (110, 0)
