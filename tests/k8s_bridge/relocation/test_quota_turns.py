"""Gangs that wait for the quota of their namespace have their turn, whatever smaller ones come.

One spine of 2 leaves of 4 nodes of 8 GPUs, of which namespace `ml` may use two nodes. Who has
waited for 20 s comes first.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from fourleaf.k8s_bridge.relocation.tenants import quota_turns
from tests.k8s_bridge.relocation.bench import Bench

AFTER = 20.0
CONFIG = f"{{backfill: {{afterSeconds: {AFTER:g}}}, namespaces: {{ml: {{gpuQuota: 16}}}}}}"


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A scheduler that leads, with the quota."""
    bench = Bench(1, 2)
    await bench.config(CONFIG)
    await bench.classes(meek=-1, meeker=5)
    await bench.start()
    yield bench
    await bench.stop()


async def told(bench: Bench, name: str) -> str:
    """Reason and message of the first pod of a Job that waits."""
    (one, *_) = await bench.pods(name)
    (found,) = (
        condition
        for condition in one["status"]["conditions"]
        if condition["type"] == "PodScheduled"
    )
    return f"{found['reason']}: {found['message']}"


async def test_smaller_ones_that_come_later_wait_for_it(bench: Bench) -> None:
    """`s0` ends: its half of the quota stays free for `big`, which starts once `s1` ends too.

    The room is for others: a gang of another namespace takes six nodes meanwhile.
    """
    for name in ("s0", "s1"):
        await bench.submit(name, 1)
    await bench.submit("big", 2)
    await bench.submit("s2", 1)
    await bench.clock.advance(AFTER)
    await bench.end("s0")
    await bench.clock.advance(10)
    assert not await bench.places("s2")
    assert "gang ml/big has waited longer for GPUs of the quota of ml" in await told(bench, "s2")
    await bench.submit("other", 4, namespace="other")
    assert len(await bench.places("other", "other")) == 4
    await bench.end("s1")
    await bench.clock.advance(5)
    assert len(await bench.places("big")) == 2
    await bench.end("big")
    await bench.clock.advance(5)
    assert len(await bench.places("s2")) == 1


async def test_it_has_its_turn_once_it_has_waited_for_as_long_as_for_a_place(bench: Bench) -> None:
    """Before it has waited for 20 s, a smaller one that came later takes what is free."""
    for name in ("s0", "s1"):
        await bench.submit(name, 1)
    await bench.submit("big", 2)
    await bench.submit("s2", 1)
    await bench.end("s0")
    await bench.clock.advance(5)
    assert len(await bench.places("s2")) == 1


async def test_who_ends_before_it_can_start_waits_for_nothing(bench: Bench) -> None:
    """`s1` ends in 100 s by its own word: a gang of 30 s is over by then, one of 200 s is not."""
    await bench.submit("s0", 1)
    await bench.submit("s1", 1, expected_duration="130s")
    await bench.submit("big", 2)
    await bench.clock.advance(AFTER)
    await bench.end("s0")
    await bench.submit("long", 1, expected_duration="200s")
    await bench.submit("unknown", 1)
    await bench.submit("short", 1, expected_duration="30s")
    await bench.clock.advance(5)
    assert [len(await bench.places(name)) for name in ("long", "unknown", "short")] == [0, 0, 1]


async def test_whose_word_is_not_kept_waits(bench: Bench) -> None:
    """`late` said 10 s and runs on after 60 s more: a word of `short` counts no more."""
    await bench.submit("late", 1, expected_duration="10s")
    await bench.submit("s1", 1, expected_duration="500s")
    await bench.submit("big", 2)
    await bench.clock.advance(90)
    await bench.end("late")
    await bench.submit("short", 1, expected_duration="30s")
    await bench.clock.advance(5)
    assert not await bench.places("short")


async def test_the_higher_goes_first_and_the_lower_waits_however_old(bench: Bench) -> None:
    """Beside `big` of priority 0, `old` of -1 came before it, and `new` of 5 after it."""
    for name in ("s0", "s1"):
        await bench.submit(name, 1)
    await bench.submit("old", 1, priority="meek")
    await bench.submit("big", 2)
    await bench.clock.advance(AFTER)
    await bench.end("s0")
    await bench.clock.advance(5)
    assert "ml/big has waited longer" in await told(bench, "old")
    await bench.submit("new", 1, priority="meeker")
    assert len(await bench.places("new")) == 1
    assert not await bench.places("old")


async def test_what_is_larger_than_its_quota_holds_no_other(bench: Bench) -> None:
    """Three nodes never fit into a quota of two: the one that came later starts."""
    for name in ("s0", "s1"):
        await bench.submit(name, 1)
    await bench.submit("huge", 3)
    await bench.submit("s2", 1)
    await bench.clock.advance(AFTER)
    await bench.end("s0")
    await bench.clock.advance(5)
    assert len(await bench.places("s2")) == 1


async def test_others_start_where_no_more_comes_free_for_long(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`s1` never ends: half of the quota is idle for ten minutes, an hour by default, then of `s2`.

    `big` does not have its turn again at once, but after as long: `s3` starts before that.
    """
    monkeypatch.setattr(quota_turns, "FRUITLESS_SECONDS", 600.0)
    for name in ("s0", "s1"):
        await bench.submit(name, 1)
    await bench.submit("big", 2)
    await bench.submit("s2", 1)
    await bench.clock.advance(AFTER)
    await bench.end("s0")
    await bench.clock.advance(570)
    assert not await bench.places("s2")
    await bench.clock.advance(60)
    assert len(await bench.places("s2")) == 1
    await bench.submit("s3", 1)
    await bench.clock.advance(2 * AFTER)
    await bench.end("s2")
    await bench.clock.advance(5)
    assert len(await bench.places("s3")) == 1


async def test_no_turns_where_the_config_wants_none(bench: Bench) -> None:
    """Without `backfill` no gang waits for one that came before it."""
    await bench.stop()
    bench = Bench(1, 2)
    await bench.config(CONFIG.replace("backfill: {", "backfill: {enabled: false, "))
    await bench.start()
    for name in ("s0", "s1"):
        await bench.submit(name, 1)
    await bench.submit("big", 2)
    await bench.submit("s2", 1)
    await bench.clock.advance(AFTER)
    await bench.end("s0")
    await bench.clock.advance(5)
    assert len(await bench.places("s2")) == 1
    await bench.stop()
