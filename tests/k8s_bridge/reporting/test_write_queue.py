"""The queue before the writes, on a clock that costs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Refused, Throttled
from fourleaf.k8s_bridge.election.gate import NotLeader
from fourleaf.k8s_bridge.reporting.recorder.items_in_turn import ItemsInTurn
from fourleaf.k8s_bridge.reporting.recorder.write_queue import QueueLimits, WriteQueue
from tests.twins.virtual_clock import VirtualClock

FAST = QueueLimits(waiting=100, rate=1000, burst=1000, writers=2)


class Journal:
    """Writes down what is written, and when; fails first where told to."""

    def __init__(self, clock: VirtualClock, *failures: Exception, seconds: float = 0) -> None:
        self.lines: list[tuple[float, str]] = []
        self.most_at_once = 0
        self._clock = clock
        self._failures = list(failures)
        self._seconds = seconds
        self._now = 0

    async def write(self, item: str) -> None:
        """Write one item, which takes a while."""
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        await self._clock.sleep(self._seconds)
        self._now -= 1
        if self._failures:
            raise self._failures.pop(0)
        self.lines.append((self._clock.monotonic(), item))


@asynccontextmanager
async def running(
    clock: VirtualClock, pace: QueueLimits, write: Callable[[str], Awaitable[None]]
) -> AsyncIterator[WriteQueue[str]]:
    """A lane that is being emptied."""
    lane = WriteQueue("test", clock, pace, write)
    task = asyncio.create_task(lane.run())
    yield lane
    task.cancel()
    await asyncio.wait({task})


async def test_only_the_newest_of_a_key_is_written() -> None:
    """Three texts for one object before anybody writes: the last one goes out."""
    clock = VirtualClock()
    journal = Journal(clock)
    async with running(clock, FAST, journal.write) as lane:
        for text in ("a1", "b1", "a2", "a3"):
            lane.put(text[0], text)
        await clock.advance(1)
        assert [item for _, item in journal.lines] == ["a3", "b1"]
        assert lane.counts.written == 2


async def test_the_rate_is_kept_after_the_burst() -> None:
    """A burst of 2, then 4 a second: writes at 0, 0, 0.25, 0.5, 0.75."""
    clock = VirtualClock()
    journal = Journal(clock)
    async with running(clock, QueueLimits(10, rate=4, burst=2, writers=1), journal.write) as lane:
        for number in range(5):
            lane.put(number, str(number))
        await clock.advance(10)
    assert [at for at, _ in journal.lines] == [0, 0, 0.25, 0.5, 0.75]


async def test_what_does_not_fit_is_dropped_and_counted() -> None:
    """Room for two: the third key is dropped, a newer text for the first one is not."""
    clock = VirtualClock()
    journal = Journal(clock)
    async with running(clock, QueueLimits(2, 1000, 1000), journal.write) as lane:
        for text in ("a1", "b1", "c1", "a2"):
            lane.put(text[0], text)
        assert (len(lane), lane.counts.dropped) == (2, 1)
        await clock.advance(1)
        assert [item for _, item in journal.lines] == ["a2", "b1"]


async def test_a_namespace_that_has_much_to_tell_crowds_out_no_other() -> None:
    """Room for six, all of which evil has taken: three of ml are let in, and told in turn."""
    clock = VirtualClock()
    journal = Journal(clock)
    limits = QueueLimits(6, rate=1, burst=1, writers=1)
    lane = WriteQueue("test", clock, limits, journal.write, namespace_of=lambda one: one[:-1])
    for number in range(9):
        lane.put(f"evil{number}", f"evil{number}")
    for number in range(4):
        lane.put(f"ml{number}", f"ml{number}")
    assert (len(lane), lane.counts.dropped) == (6, 7)
    task = asyncio.create_task(lane.run())
    await clock.advance(10)
    task.cancel()
    await asyncio.wait({task})
    assert [item for _, item in journal.lines] == ["evil0", "ml0", "evil1", "ml1", "evil2", "ml2"]


def test_namespaces_take_turns() -> None:
    """Of two that wait in one and one that waits in another, that one is the second."""
    items = ItemsInTurn(9, lambda one: one[:-1])
    for name in ("evil0", "evil1", "ml0"):
        items.put(name, name)
    taken = []
    while found := items.next((), ()):
        taken.append(items.pop(found[0]))
    assert taken == ["evil0", "ml0", "evil1"]


async def test_one_object_is_never_written_twice_at_once() -> None:
    """Writes take a second; the second text for the object waits for the first, others do not."""
    clock = VirtualClock()
    journal = Journal(clock, seconds=1)
    async with running(clock, FAST, journal.write) as lane:
        lane.put("a", "a1")
        await clock.advance(0.5)
        lane.put("a", "a2")
        lane.put("b", "b1")
        await clock.advance(5)
    assert journal.lines == [(1, "a1"), (1.5, "b1"), (2, "a2")]


async def test_writers_are_few() -> None:
    """Ten items and two writers: never more than two writes at once."""
    clock = VirtualClock()
    journal = Journal(clock, seconds=1)
    async with running(clock, FAST, journal.write) as lane:
        for number in range(10):
            lane.put(number, str(number))
        await clock.advance(10)
    assert journal.most_at_once == 2
    assert len(journal.lines) == 10


async def test_a_throttled_write_comes_back_when_the_server_says_so() -> None:
    """Refused for 7 s: written then, unless there is a newer text by that time."""
    clock = VirtualClock()
    journal = Journal(clock, Throttled("busy", 429, retry_after=7))
    async with running(clock, QueueLimits(10, 1000, 1000, writers=1), journal.write) as lane:
        lane.put("a", "a1")
        await clock.advance(3)
        lane.put("a", "a2")
        await clock.advance(10)
    assert journal.lines == [(7, "a2")]


async def test_errors_end_no_writer() -> None:
    """Two writes fail for good; what comes after them is written."""
    clock = VirtualClock()
    journal = Journal(clock, Refused("no", 403), Ambiguous("lost"))
    async with running(clock, FAST, journal.write) as lane:
        for text in "abc":
            lane.put(text, text)
        await clock.advance(1)
        assert [item for _, item in journal.lines] == ["c"]
        assert (lane.counts.failed, lane.counts.written) == (2, 1)


async def test_whoever_leads_no_more_says_nothing_more() -> None:
    """The gate is shut at the first write: the rest is forgotten."""
    clock = VirtualClock()
    journal = Journal(clock, NotLeader("somebody else leads"))
    async with running(clock, QueueLimits(10, 1000, 1000, writers=1), journal.write) as lane:
        for text in "abc":
            lane.put(text, text)
        await clock.advance(1)
        assert (journal.lines, len(lane)) == ([], 0)


async def test_dropped_keys_are_not_written() -> None:
    """What is dropped before its turn is not written, even where a writer waits for its token."""
    clock = VirtualClock()
    journal = Journal(clock)
    async with running(clock, QueueLimits(10, rate=1, burst=1, writers=2), journal.write) as lane:
        for text in "abc":
            lane.put(text, text)
        await clock.advance(0.5)
        lane.drop(["b"])
        await clock.advance(10)
        await lane.settle()
    assert [item for _, item in journal.lines] == ["a", "c"]


async def test_a_namespace_that_hangs_keeps_no_other_waiting() -> None:
    """Twenty writes of one namespace take 10 s each, two at a time; one of another goes at once."""
    clock = VirtualClock()
    written: list[str] = []

    async def write(item: str) -> None:
        await clock.sleep(10 if item.startswith("slow/") else 0)
        written.append(item)

    lane = WriteQueue("test", clock, FAST, write, namespace_of=lambda item: item.partition("/")[0])
    task = asyncio.create_task(lane.run())
    for number in range(20):
        lane.put(f"slow/{number}", f"slow/{number}")
    await clock.advance(1)
    lane.put("good/0", "good/0")
    await clock.advance(1)
    assert written == ["good/0"]
    await clock.advance(9)
    assert written == ["good/0", "slow/0", "slow/1"]
    task.cancel()
    await asyncio.wait({task})
