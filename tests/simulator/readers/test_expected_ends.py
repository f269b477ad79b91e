"""Gangs that state no duration may run as long as those like them did."""

from dataclasses import replace

from fourleaf.model.gang import GangKey
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.readers.expected_ends import ExpectedDurations, with_expected_ends
from fourleaf.simulator.readers.recorded import RecordedGang, Recording
from fourleaf.simulator.recording.lines import Amounts, GangShape, RoleShape, StopReason
from tests.simulator.made import leaves
from tests.small import NOW, gang, with_bound

PAIR = GangShape(roles=(RoleShape(pods=2, request=Amounts(gpus=8)),))


def ran(
    seconds: float, namespace: str = "ml", why: StopReason | None = StopReason.GONE
) -> RecordedGang:
    """A gang of two nodes that ran for so long."""
    return RecordedGang(GangKey(namespace, "old"), 0.0, PAIR, ran=seconds, why=why)


def test_ends_follow_from_what_ran_for_longer() -> None:
    """Of 100, 200, 300, 400 and 500 s: the median is 300; of those beyond 250 s it is 400.

    A pair that waits may run 300 s, one that runs for 250 s ends 150 s from now. What is stated
    stays, and so does what no three gangs are like: four nodes, or a pair that runs for 350 s.
    """
    seconds = (100, 200, 300, 400, 500)
    known = ExpectedDurations(Recording(gangs=dict(enumerate(map(ran, seconds)))))
    standing, running = [], []
    for name, started, size in (("a", 250, 2), ("b", 350, 2), ("c", 10, 4)):
        nodes = [f"leaf-{name}-{i}" for i in range(size)]
        bound, pods = with_bound(gang(name, size), *nodes)
        standing.append(StandingGang(bound, started=NOW - started))
        running += pods
    waits = (gang("pair", 2), gang("says", 2, duration=7.0), gang("four", 4))
    now = Snapshot(leaves(2), tuple(running), waits, now=NOW, standing=tuple(standing))
    found, count = with_expected_ends(now, known)
    assert {pod.gang.name: pod.ends for pod in found.running if pod.gang} == {
        "a": NOW + 150, "b": None, "c": None,
    }  # fmt: skip
    assert [one.duration for one in found.gangs] == [300.0, 7.0, None]
    assert count == 2
    assert replace(found, running=now.running, gangs=now.gangs) == now


def test_only_ends_that_were_seen_count_and_only_in_their_namespace() -> None:
    """Three of another namespace, and three that still ran, say nothing of a pair."""
    others = [ran(100, "else")] * 3 + [ran(100, why=None)] * 3
    known = ExpectedDurations(Recording(gangs=dict(enumerate(others))))
    assert known.of(gang("pair", 2)) is None
