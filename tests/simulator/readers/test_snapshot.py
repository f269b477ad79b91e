"""A snapshot becomes a trace that begins with what runs."""

from dataclasses import replace

from fourleaf.model.gang import Hold
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.simulator.measures.summary import summarise
from fourleaf.simulator.readers.snapshot import trace_of
from fourleaf.simulator.replay import replay
from fourleaf.simulator.trace import FOREVER
from tests.simulator.made import leaves, options
from tests.small import NOW, gang, with_bound

FABRIC = leaves(2, 2)


def pod(name: str, node: str, ends: float | None, owner: str = "") -> RunningPod:
    """Make a pod that takes a node of 8 GPUs."""
    one = gang(owner or name, 1)
    key = one.key if owner else None
    return RunningPod("ml", name, node, one.roles[0].request, key, ends=ends)


def test_waiting_gangs_start_when_running_ones_end() -> None:
    """One leaf is held by a gang that ends in 100 s, one node by a pod that stays for ever.

    So a gang of two nodes starts at 100 and, as it does not say for how long, runs for 50; one of
    one node starts at once, for the 30 s that it says.
    """
    running = (
        pod("old-0", "leaf-0-0", NOW + 60, "old"),
        pod("old-1", "leaf-0-1", NOW + 100, "old"),
        pod("lone", "leaf-1-0", None),
    )
    pair, one = gang("pair", 2), gang("one", 1, duration=30.0)
    trace = trace_of(Snapshot(FABRIC, running, (pair, one), now=NOW), 50)
    assert sorted(r.job.duration for r in trace.residents) == [FOREVER, 100]
    record = replay(trace, FABRIC, options())
    times = {name: (line.start, line.end) for name, line in record.gangs.items()}
    assert times["ml/pair"] == (100, 150)
    assert times["ml/one"] == (0, 30)
    assert times["ml/old"] == (0, 100)
    assert times["ml/pod/lone"] == (0, -1)
    assert record.at_end.used == 8 * (2 * 100 + 150 + 2 * 50 + 30)
    assert not record.counts.breaches


def test_figures_are_taken_until_all_could_be_done() -> None:
    """On 4 nodes: one gang of two for 50 s and a pod for 100 s last 100; ten of 50 s more, 400.

    Of 32 GPUs over 100 s, 16 are used for 50 s and 8 for 100: half.
    """
    old = pod("old-0", "leaf-0-0", NOW + 100, "old")
    pair = gang("pair", 2)
    few = trace_of(Snapshot(FABRIC, (old,), (pair,), now=NOW), 50)
    assert few.span == 100
    found = summarise(replay(few, FABRIC, options()))
    assert found.allocation == 0.5
    many = tuple(gang(f"more-{i}", 2) for i in range(14))
    assert trace_of(Snapshot(FABRIC, (old,), many, now=NOW), 50).span == (14 * 2 * 50 + 100) // 4


def test_what_cannot_be_replayed_is_left_out_and_said() -> None:
    """A gang on hold, and one of which a member runs: its member stays, under a name of its own."""
    held = replace(gang("held", 1), hold=Hold("Gated", ""))
    part, running = with_bound(gang("part", 2), "leaf-0-0")
    trace = trace_of(Snapshot(FABRIC, tuple(running), (held, part), now=NOW), 50)
    assert trace.jobs == ()
    assert [one.job.name for one in trace.residents] == ["ml/part (running)"]
    assert "2 waiting gangs left out" in trace.source


def test_several_roles_stay_several() -> None:
    """A gang of one pod of 8 GPUs and two of 2 takes 12 GPUs."""
    one = gang("mixed", 1, 2)
    small = replace(one.roles[1], request=replace(one.roles[1].request, gpus=2))
    mixed = replace(one, roles=(one.roles[0], small), duration=10.0)
    record = replay(trace_of(Snapshot(FABRIC, (), (mixed,), now=NOW), 50), FABRIC, options())
    assert record.at_end.used == 12 * 10
    assert record.gangs["ml/mixed"].gpus == 12
