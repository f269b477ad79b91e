"""A page that hangs for seconds: no pod makes way for want of its nodes, and places there are kept.

Two leaves of four nodes. A pod without GPUs has the page of a leaf written, which lasts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Throttled
from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.names import page_name
from fourleaf.k8s_bridge.scheduling.holds.hung_pages import HUNG_PAGE_LIMIT_SECONDS
from tests.k8s_bridge.relocation.bench import TEAM, Bench, leaf_of
from tests.k8s_bridge.scheduling.test_hanging_records import Hangs


class Throttles(Hangs):
    """The same, by refusing for now what is asked."""

    async def before(self, request: ApiRequest) -> None:
        """Refuse it."""
        if self.on and request.verb in self.verbs and request.target.name == self.name:
            raise Throttled("too many requests", 1.0)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Two leaves, and no scheduler yet."""
    bench = Bench(1, 2)
    yield bench
    await bench.stop()


async def hang(bench: Bench, hangs: Hangs, leaf: int) -> None:
    """Have the page of a leaf written, which begins to hang."""
    hangs.name, hangs.on = page_name(f"leaf-0-{leaf}", 0), True
    small = pod("small", 0, labels={"batch.kubernetes.io/job-name": "small"})
    small["spec"]["nodeSelector"] = {"kubernetes.io/hostname": f"n-0-{leaf}-1"}
    await submit(bench.cluster, TEAM, [small])


def answer(hangs: Hangs) -> None:
    """Let the page be written."""
    hangs.on = False
    hangs.go.set()


async def evicted(bench: Bench) -> int:
    """How many pods have been evicted."""
    return len(await bench.events("Evicted"))


async def lost_member(bench: Bench, hangs: Hangs) -> None:
    """A gang of four fills a leaf; six seconds after its page hung a member ends and comes anew."""
    await bench.start(answers=hangs)
    await bench.submit("k", 4)
    (leaf,) = await bench.leaves("k")
    await bench.clock.advance(30)
    await hang(bench, hangs, leaf)
    await bench.clock.advance(6)
    member = (await bench.pods("k"))[0]["metadata"]["name"]
    await bench.cluster.delete(PODS, Target(TEAM, member))


@pytest.mark.parametrize("seconds", [1, 30])
@pytest.mark.parametrize("hangs", [Hangs, Throttles])
async def test_members_stay_whose_node_is_back_soon(
    bench: Bench, seconds: int, hangs: type[Hangs]
) -> None:
    """The new member starts on its node once the page is written; the other leaf is free."""
    api = hangs("", "update")
    await lost_member(bench, api)
    await bench.clock.advance(seconds)
    answer(api)
    await bench.clock.advance(15)
    assert len(await bench.places("k")) == 4
    assert await evicted(bench) == 0


async def test_members_move_where_the_page_hangs_for_long(bench: Bench) -> None:
    """It hangs for ever: the gang is whole in the other leaf 20 s after the limit."""
    api = Hangs("", "update")
    await lost_member(bench, api)
    before = await bench.leaves("k")
    await bench.clock.advance(HUNG_PAGE_LIMIT_SECONDS + 20)
    assert len(await bench.places("k")) == 4
    assert await bench.leaves("k") != before


async def test_a_lost_member_waits_for_the_node_beside_the_others(bench: Bench) -> None:
    """Its node dies; the spare beside it is on the page that hangs. Two members stay, not move."""
    api = Hangs("", "update")
    await bench.start(answers=api)
    await bench.submit("k", 3)
    (leaf,) = await bench.leaves("k")
    await bench.clock.advance(30)
    uids, places = await bench.uids("k"), await bench.places("k")
    bench.lose(next(node for node in places.values() if not node.endswith("-1")))
    await bench.clock.advance(10)
    await hang(bench, api, leaf)
    await bench.clock.advance(20)
    answer(api)
    await bench.clock.advance(15)
    assert await bench.leaves("k") == [leaf]
    assert len(await bench.places("k")) == 3
    assert len(set(uids.values()) & set((await bench.uids("k")).values())) == 2


async def test_a_gang_waits_for_a_page_before_others_make_way(bench: Bench) -> None:
    """The leaf on the page is free, the other one full of a lower gang, which stays."""
    api = Hangs("", "update")
    await bench.classes(low=1, high=10)
    await bench.start(answers=api)
    await bench.submit("low", 4, priority="low")
    (leaf,) = await bench.leaves("low")
    await bench.clock.advance(30)
    await hang(bench, api, 1 - leaf)
    await bench.clock.advance(6)
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(15)
    answer(api)
    await bench.clock.advance(5)
    assert await bench.leaves("top") == [1 - leaf]
    assert await evicted(bench) == 0


async def test_a_page_that_is_written_all_the_time_does_not_hang(bench: Bench) -> None:
    """Each write takes 2 s and the next one follows at once, for 20 s: its nodes stay open."""

    class Slow:
        is_on = False
        count = 0

        async def before(self, request: ApiRequest) -> None:
            """Take a while."""
            named = (request.kind, request.target.name) == (LEASES, page_name("leaf-0-0", 0))
            if self.is_on and named and request.verb == "update":
                self.count += 1
                await bench.clock.sleep(2)

        async def after(self, request: ApiRequest, answer: Any) -> None:
            """Answers pass."""

    slow = Slow()
    scheduler = await bench.start(answers=slow)
    slow.is_on = True
    for number in range(40):
        small = pod(f"small-{number}", 0, labels={"batch.kubernetes.io/job-name": f"s{number}"})
        small["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "n-0-0-1"}
        await submit(bench.cluster, TEAM, [small])
        await bench.clock.advance(0.5)
        assert not scheduler.cache.hung_nodes
    assert slow.count >= 8


async def test_who_waits_for_a_page_is_told_of_the_record(bench: Bench) -> None:
    """Of two leaves one is full, and the page of the other hangs, whose nodes are ready."""
    api = Hangs("", "update")
    await bench.start(answers=api)
    await bench.submit("low", 4)
    (leaf,) = await bench.leaves("low")
    await bench.clock.advance(30)
    await hang(bench, api, 1 - leaf)
    await bench.clock.advance(10)
    await bench.submit("top", 4)
    await bench.clock.advance(10)
    text = (await bench.pods("top"))[0]["status"]["conditions"][0]["message"]
    assert f"mend the scheduler's record of n-0-{1 - leaf}-0, " in text
    assert "4 nodes left out by a record that cannot be read or written" in text
    assert "ready" not in text


@pytest.mark.parametrize("seconds", [7, 40])
async def test_places_are_kept_for_which_pods_have_gone(bench: Bench, seconds: int) -> None:
    """Eight pods make way for a gang of eight; a page hangs meanwhile: none of them goes twice."""
    api = Hangs("", "update")
    await bench.classes(low=1, high=10)
    await bench.start(answers=api)
    for number in range(8):
        await bench.submit(f"low-{number}", 1, priority="low")
    await bench.clock.advance(20)
    nodes = [(await bench.places(f"low-{number}"))[0] for number in range(8)]
    bench.kubelets.silent |= {node for node in nodes if leaf_of(node) == 0}
    await bench.submit("top", 8, priority="high")
    for _ in range(100):
        if await evicted(bench) == 8:
            break
        await bench.clock.advance(0.25)
    await hang(bench, api, 0)
    await bench.clock.advance(seconds)
    answer(api)
    await bench.clock.advance(30)
    bench.kubelets.silent.clear()
    await bench.clock.advance(15)
    assert len(await bench.places("top")) == 8
    assert await evicted(bench) == 8


async def test_a_reserved_place_outlasts_a_page_that_hangs(bench: Bench) -> None:
    """It is kept before, and after the page of one of its leaves was throttled for 8 s."""
    api = Throttles("", "update")
    await bench.config("{backfill: {afterSeconds: 20}}")
    await bench.start(answers=api)
    for number in range(8):
        await bench.submit(f"s-{number}", 1)
    await bench.submit("big", 8)
    await bench.clock.advance(60)
    assert await bench.reservations() == ["ml/big"]
    given_up = len(await bench.events("RelocationGivenUp"))
    await hang(bench, api, 0)
    await bench.clock.advance(8)
    answer(api)
    await bench.clock.advance(5)
    assert await bench.reservations() == ["ml/big"]
    assert len(await bench.events("RelocationGivenUp")) == given_up


async def test_seats_on_a_page_that_hangs_have_no_cycle_run_again_and_again(bench: Bench) -> None:
    """Its gang is there and its places are free: it waits, and is asked about no cycle by cycle."""
    api = Hangs("", "update")
    await bench.classes(low=1, high=10)
    scheduler = await bench.start(answers=api)
    await bench.submit("low", 4, priority="low")
    await bench.submit("other", 4, priority="high")
    (leaf,) = await bench.leaves("low")
    await bench.clock.advance(30)
    nodes = set((await bench.places("low")).values())
    bench.kubelets.silent |= nodes
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(10)
    assert await evicted(bench) == 4
    await hang(bench, api, leaf)
    await bench.clock.advance(6)
    bench.kubelets.silent.clear()
    await bench.clock.advance(5)
    before = cycles(scheduler)
    await bench.clock.advance(20)
    assert cycles(scheduler) - before <= 22
    answer(api)
    await bench.clock.advance(5)
    assert len(await bench.places("top")) == 4


def cycles(scheduler: Any) -> int:
    """How many cycles there were."""
    return int(scheduler._term.parts.cycle._number)
