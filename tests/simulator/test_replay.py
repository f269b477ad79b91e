"""Replays small enough to be worked out by hand, and what holds for all of them."""

from dataclasses import replace

import orjson
import pytest

from fourleaf.simulator import replay as module
from fourleaf.simulator.cluster import Overbooked
from fourleaf.simulator.conservation import NotConserved
from fourleaf.simulator.gpu_seconds import GpuSeconds
from fourleaf.simulator.journal import Journal
from fourleaf.simulator.measures.document import document
from fourleaf.simulator.measures.summary import summarise
from fourleaf.simulator.measures.tables import tables
from fourleaf.simulator.node_failures import Outage
from fourleaf.simulator.options import (
    BackfillOptions,
    Communication,
    DefragmentationOptions,
    FailureModel,
    NoRule,
    Recovery,
    ReplayOptions,
    need_rule,
    under,
)
from fourleaf.simulator.policies.catalogue import NAMES
from fourleaf.simulator.record import ReplayRecord
from fourleaf.simulator.replay import replay
from fourleaf.simulator.trace import Trace
from tests.simulator.made import job, leaves, options, trace
from tests.simulator.worlds import world

NO_COST = FailureModel(checkpoint=10, restart=0)
QUEUE = trace(job("a", 0, 100), job("b", 10, 50))


def times(record: ReplayRecord) -> dict[str, tuple[int, int]]:
    """(start, end) of every gang."""
    return {name: (one.start, one.end) for name, one in record.gangs.items()}


@pytest.mark.parametrize("policy", NAMES)
def test_one_node_serves_one_after_the_other(policy: str) -> None:
    """B comes at 10 and starts when a ends at 100, under whatever policy; the books say so."""
    record = replay(QUEUE, leaves(1), options(policy))
    assert times(record) == {"a": (0, 100), "b": (100, 150)}
    assert record.at_close == GpuSeconds(used=80, failed=0, free=0)
    assert record.at_end == GpuSeconds(used=1200, failed=0, free=0)
    assert not record.counts.breaches


def test_cycles_come_at_multiples_of_the_period() -> None:
    """With a cycle a minute, b starts at 120; the node is free for 20 s before."""
    record = replay(QUEUE, leaves(1), options(period=60))
    assert times(record) == {"a": (0, 100), "b": (120, 170)}
    assert record.at_end == GpuSeconds(used=1200, failed=0, free=160)


def test_nobody_is_asked_twice_for_the_same() -> None:
    """A starts, b cannot, and c cannot either: 3 cycles; 2 more as room comes free."""
    one = trace(job("a", 0, 100), job("b", 10, 50), job("c", 20, 50))
    record = replay(one, leaves(1), options())
    assert times(record)["c"] == (150, 200)
    assert record.counts.cycles == 5


def test_what_fits_nowhere_never_starts() -> None:
    """A gang of 3 nodes on a fabric of 2."""
    record = replay(trace(job("a", 0, 10, pods=3), job("b", 5, 10)), leaves(2), options())
    assert times(record) == {"a": (-1, -1), "b": (5, 15)}


def test_a_failed_node_is_away_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 100 s a has done 40 when its node fails for 30 s; it keeps 30 of them.

    Back at 70, it stands still for 5 s and works for 70 more: 145. Lost are 10 s of 8 GPUs.
    """
    fail_at(monkeypatch, Outage("leaf-0-0", 40, 30))
    failures = FailureModel(1.0, recovery=Recovery.RESTART, checkpoint=30, restart=5)
    one = trace(job("a", 0, 100), job("z", 200, 1))
    record = replay(one, leaves(1), options(failures=failures))
    assert record.gangs["a"].end == 145
    assert (record.gangs["a"].lost, record.gangs["a"].stalled) == (80_000, 40_000)
    assert record.at_end == GpuSeconds(used=(40 + 75 + 1) * 8, failed=240, free=(200 - 145) * 8)
    assert (record.counts.failures, record.counts.hit, record.counts.kept) == (1, 1, 0)


def test_a_node_that_is_away_fails_no_second_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second failure falls into the first outage and changes nothing."""
    fail_at(monkeypatch, Outage("leaf-0-0", 40, 30), Outage("leaf-0-0", 50, 90))
    failures = FailureModel(1.0, recovery=Recovery.RESTART)
    record = replay(trace(job("a", 0, 10), job("z", 100, 1)), leaves(1), options(failures=failures))
    assert (record.counts.failures, record.at_end.failed) == (1, 240)


def test_shared_uplinks_stretch_durations() -> None:
    """Two gangs of 5 on leaves of 4 and oversubscription 4 cross the middle leaf together.

    Each leaves a leaf of 4 nodes with one hop, which has the whole uplink; where both do, each
    has half, and takes 1.3 times as long: 1000 / 769 of the 100 s, which is 131 s.
    """
    fabric = leaves(4, 4, 4)
    two = trace(job("a", 0, 100, pods=6), job("b", 0, 100, pods=6))
    wires = Communication(enabled=True, oversubscription=4, share=300)
    record = replay(two, fabric, options(communication=wires))
    assert times(record) == {"a": (0, 131), "b": (0, 131)}
    assert record.gangs["a"].slowdown == pytest.approx(1000 / 769)
    found = summarise(record)
    assert found.slowdown == found.slowdown_worst == pytest.approx(1000 / 769)
    (row,) = tables([("first-fit", record, found)])[0].rows
    assert row[8] == "1.300"
    alone = replay(trace(job("a", 0, 100, pods=6)), fabric, options(communication=wires))
    assert times(alone) == {"a": (0, 100)}
    assert alone.gangs["a"].slowdown == 1.0


def test_slowdown_is_a_mean_over_time() -> None:
    """Alone until b comes at 50, a then takes 1.3 times as long for its other 50 s: 65 s and 16 ms.

    That ends in second 116, after 66 s: (50 + 66 * 1.3) / 116.
    """
    wires = Communication(enabled=True, oversubscription=4, share=300)
    two = trace(job("a", 0, 100, pods=6), job("b", 50, 100, pods=6))
    record = replay(two, leaves(4, 4, 4), options(communication=wires))
    assert times(record)["a"] == (0, 116)
    assert record.gangs["a"].slowdown == pytest.approx((50 + 66 * 1000 / 769) / 116)


def test_the_wait_after_a_failure_is_booked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its node is away from 50 to 70: 16 GPUs wait for 20 s, which is none of the first wait."""
    fail_at(monkeypatch, Outage("leaf-0-0", 50, 20))
    told = options(failures=FailureModel(1.0, recovery=Recovery.RESTART, restart=0))
    pair = trace(job("a", 0, 100, pods=2), job("late", 300, 1))
    record = replay(pair, leaves(2), told)
    assert record.gangs["a"].again == 20 * 16
    assert summarise(record).again == pytest.approx(20 * 16 / 3600)
    assert summarise(record).wait_mean == 0


def test_kept_room_lets_the_large_gang_start() -> None:
    """Small gangs would keep the large one out until 3100; with kept room it starts at 1520.

    Until then s2 may use the room, because it ends at 1100; s3, which would not end in time,
    starts after the large one. Room is kept for s3 too, once it has waited for 600 s and nothing
    is kept for another.
    """
    jobs = trace(
        job("s0", 0, 1000),
        job("large", 10, 100, pods=2),
        job("s1", 20, 1500),
        job("s2", 700, 100),
        job("s3", 701, 2000),
    )
    without = replay(jobs, leaves(2), options())
    assert times(without)["large"] == (3100, 3200)
    kept = replay(jobs, leaves(2), options(backfill=BackfillOptions(True, 600)))
    assert times(kept)["s2"] == (1000, 1100)
    assert times(kept)["large"] == (1520, 1620)
    assert times(kept)["s3"] == (1620, 3620)
    assert (kept.counts.reservations, kept.counts.backfilled) == (2, 1)


def test_room_that_is_kept_on_a_failed_node_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 10 on, the first leaf is kept for the pair, which could start there at 100.

    At 50 it loses a node. a, which stood there and is older than the pair, gets the other leaf
    when b ends at 200, with 50 s of work left and 5 s of standstill; then the pair gets it.
    """
    fail_at(monkeypatch, Outage("leaf-0-1", 50, 1000))
    failures = FailureModel(1.0, recovery=Recovery.RESTART, checkpoint=10, restart=5)
    jobs = trace(
        job("a", 0, 100, pods=2), job("b", 1, 199, pods=2),
        job("pair", 2, 60, pods=2), job("z", 1500, 1),
    )  # fmt: skip
    told = options(failures=failures, backfill=BackfillOptions(True, 8))
    record = replay(jobs, leaves(2, 2), told)
    assert record.counts.reservations == 3
    assert record.gangs["a"].end == 255
    assert times(record)["pair"] == (255, 315)
    assert record.at_end.failed == 8000


def test_a_reservation_is_looked_for_anew_after_an_hour() -> None:
    """The pair waits for 10,000 s; its place is kept three times, for an hour each."""
    jobs = trace(job("a", 0, 10_000, pods=2), job("pair", 1, 10, pods=2))
    record = replay(jobs, leaves(2), options(backfill=BackfillOptions(True, 600)))
    assert record.gangs["pair"].start == 10_000
    assert record.counts.reservations == 3


def test_defragmentation_comes_at_its_hours() -> None:
    """Under the solver, every 100 s until the last arrival; one node has nothing to move."""
    told = options("cpsat", defragmentation=DefragmentationOptions(every=100))
    record = replay(trace(job("a", 0, 500), job("z", 350, 1)), leaves(1), told)
    assert (record.counts.moves, record.gangs["a"].end) == (0, 500)


def test_no_cluster_could_do_what_is_overbooked() -> None:
    """A second gang on a node that is full is refused outright: that is no matter of policy."""
    with pytest.raises(Overbooked, match="leaf-0-0: 0 GPUs are free"):
        world(leaves(2), options(), {job("a", 0, 9): ["leaf-0-0"], job("b", 0, 9): ["leaf-0-0"]})


@pytest.mark.parametrize("policy", NAMES)
def test_the_same_run_is_the_same_to_the_byte(policy: str) -> None:
    """With failures, kept room, shared uplinks and a queue, two runs give one document."""
    told = under(
        options(
            "cpsat",
            period=20,
            seed=5,
            failures=FailureModel(
                20_000.0,
                200,
                Recovery.REPAIR if policy == "cpsat" else Recovery.PATCH,
                checkpoint=50,
                restart=5,
                movable=True,
            ),
            backfill=BackfillOptions(True, 60),
            communication=Communication(True, 4),
        ),
        policy,
    )
    first, second = (_bytes(busy(), told) for _ in range(2))
    assert first == second
    assert orjson.loads(first)["runs"][0]["counts"]["hit"] > 0


def test_no_more_is_lost_than_was_held() -> None:
    """Own work, work done again and standstill fit into the GPU-seconds used, second by second.

    Nodes fail so often that gangs are hit at a standstill; ends are rounded up to seconds, at
    most one for each start.
    """
    failures = FailureModel(200_000.0, 50, Recovery.RESTART, checkpoint=50, restart=40)
    record = replay(busy(), leaves(4, 3, 5), options("greedy", period=5, failures=failures))
    gangs = record.gangs.values()
    assert all(one.end >= 0 for one in gangs)
    told = sum(one.gpus * one.duration * 1000 + one.lost + one.stalled for one in gangs)
    most = sum(one.gpus * (1 + one.restarts) for one in gangs)
    assert 0 <= record.at_end.used - told / 1000 <= most


def busy() -> Trace:
    """Make 30 gangs of 1 to 6 nodes that come faster than 12 nodes can serve them."""
    return trace(
        *(
            job(f"g{i:02d}", 13 * i, 60 + 37 * i % 200, pods=(1, 1, 2, 4, 1, 6)[i % 6])
            for i in range(30)
        )
    )


def _bytes(jobs: Trace, told: ReplayOptions) -> bytes:
    record = replay(jobs, leaves(4, 3, 5), told)
    return orjson.dumps(document([(record, told)]))


def test_books_that_lie_are_found_in_the_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal that forgets a pod's last second disagrees with the books."""
    finish = Journal.finish

    def early(self: Journal, node: str, now: int, pod: str = "") -> None:
        finish(self, node, now - 1, pod)

    monkeypatch.setattr(Journal, "finish", early)
    with pytest.raises(NotConserved, match="booked as used"):
        replay(QUEUE, leaves(1), options())


def test_a_policy_without_the_leaf_rule_is_not_mended_by_it() -> None:
    """`spread` is refused repair and moves, in words; `under` lets it patch in place of repair."""
    failing = options("spread", failures=FailureModel(1.0))
    with pytest.raises(NoRule, match=r"policy 'spread': repair keeps .*\n.*--recovery patch"):
        replay(QUEUE, leaves(1), failing)
    moving = options("spread", defragmentation=DefragmentationOptions(5))
    with pytest.raises(NoRule, match="'spread': defragmentation keeps"):
        replay(QUEUE, leaves(1), under(moving, "spread"))
    assert under(failing, "spread").failures.recovery is Recovery.PATCH
    assert under(failing, "greedy").failures.recovery is Recovery.REPAIR
    need_rule(replace(failing, policy="greedy"))


def test_a_baseline_is_repaired_and_defragmented_by_the_solver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Node 0 of two leaves of two fails under a pair at 50: the other leaf is free, one moves.

    At 120, as it has come back, two single gangs stand in a leaf each; for a pair that waits one
    of them moves to the other.
    """
    fail_at(monkeypatch, Outage("leaf-0-0", 50, 20))
    pair = trace(job("a", 0, 100, pods=2), job("late", 200, 1))
    told = options("first-fit", failures=FailureModel(1.0, restart=0))
    record = replay(pair, leaves(2, 2), told)
    assert (record.counts.hit, record.counts.kept, record.counts.moves) == (1, 1, 1)
    assert record.gangs["a"].end == 150
    fail_at(monkeypatch)
    split = trace(
        job("x", 0, 300), job("y", 0, 60), job("z", 0, 300), job("w", 0, 60),
        job("pair", 90, 50, pods=2), job("late", 200, 1),
    )  # fmt: skip
    for every, start in ((0, 300), (120, 120)):
        moving = options(
            "first-fit", defragmentation=DefragmentationOptions(every), failures=NO_COST
        )
        record = replay(split, leaves(2, 2), moving)
        assert abs(record.gangs["pair"].start - start) <= 60
        assert record.counts.moves == (1 if every else 0)


def fail_at(monkeypatch: pytest.MonkeyPatch, *found: Outage) -> None:
    """Let these failures happen and no others."""
    monkeypatch.setattr(module, "outages", lambda *_: iter(found))
