"""What a dashboard that starts reads of a recording: a day of figures, an hour of changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourleaf.dashboard.cycles import CyclesView, CycleView
from fourleaf.dashboard.past.cluster_past import ClusterPast
from fourleaf.dashboard.past.recorded_past import recorded_past
from fourleaf.dashboard.past.usage_samples import MOST_SAMPLES, UsageSamples
from fourleaf.dashboard.sources.snapshot_files import FileSource
from fourleaf.dashboard.views.trends import MOST_POINTS, polylines, trends_view
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.resources import Resources
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.recording.files import RecordingFiles
from fourleaf.simulator.recording.look import look_at
from tests.dashboard.made import node
from tests.dashboard.telling import many
from tests.twins.virtual_clock import VirtualClock

FABRIC = Fabric((Leaf("l0", "s0", (node("a"), node("b"))), Leaf("l1", "s0", (node("c", "l1"),))))
ASK = Resources(gpus=8)
BEGAN = 100_000.0


def gang(name: str, *bound: tuple[str, str]) -> Gang:
    """A gang of one pod of 8 GPUs, which waits unless it is bound."""
    pods = () if bound else (f"{name}-0",)
    return Gang(GangKey("ml", name), (Role(pods, ASK, bound=bound),), created=BEGAN)


def recorded(folder: Path, minutes: int) -> RecordingFiles:
    """G and w wait; after 10 minutes g runs on a; looks each minute."""
    files = RecordingFiles(folder)
    files.open()
    for minute in range(minutes + 1):
        runs = minute >= 10
        gangs = (gang("w"),) if runs else (gang("g"), gang("w"))
        standing = [StandingGang(gang("g", ("g-0", "a")))] if runs else []
        snapshot = Snapshot(FABRIC, (), gangs, now=BEGAN + 60 * minute)
        files.look(look_at(snapshot, standing), {})
    files.close()
    return files


def test_figures_and_changes_of_a_recording(tmp_path: Path) -> None:
    """Each 5 minutes: two wait, all is whole; then g holds 8 of 24, and b is in a broken leaf."""
    recorded(tmp_path, 20)
    found = recorded_past(tmp_path, BEGAN + 1260)
    told = [(one.at - BEGAN, one.used, one.waiting, one.fragmentation) for one in found.samples]
    assert told == [
        (0, 0, 2, 0.0),
        (300, 0, 2, 0.0),
        (600, 8, 1, 0.5),
        (900, 8, 1, 0.5),
        (1200, 8, 1, 0.5),
    ]
    (change,) = found.changes.newest(BEGAN + 1260)
    assert (change.kind, change.name, change.at, change.seconds) == ("bound", "g", BEGAN + 600, 600)
    assert found.changes.since(BEGAN + 1260) == BEGAN


def test_a_recording_that_ended_is_not_gone_on_with(tmp_path: Path) -> None:
    """Ten minutes after its last line its figures are shown, and its changes are not complete."""
    recorded(tmp_path, 20)
    found = recorded_past(tmp_path, BEGAN + 1200 + 600)
    assert len(found.samples) == 5
    assert found.changes.since(BEGAN + 1800) is None
    assert not found.followed.looked
    assert recorded_past(tmp_path, BEGAN + 1200 + 25 * 3600).samples == []


async def test_a_folder_that_holds_nonsense_is_told_of(
    examples: FileSource, tmp_path: Path
) -> None:
    """The pages say that it cannot be read, and go on without it."""
    (tmp_path / "trace-000001.jsonl").write_text('{"line":"<script>"}\n')
    past = ClusterPast(examples, VirtualClock(), tmp_path)
    await past.read()
    assert past.recorded.startswith("cannot be read: ")
    past.step()
    assert len(past.samples.all) == 1


def test_a_day_of_samples_is_bounded() -> None:
    """One a minute, however often it is asked; of 25 hours the last 24 are kept."""
    samples = UsageSamples()
    took = [samples.add(Snapshot(FABRIC, (), (), now=30.0 * i)) for i in range(2 * 60 * 25)]
    assert took[:4] == [True, False, True, False]
    assert len(samples.all) == MOST_SAMPLES
    assert samples.all[0].at == 3600.0


def test_lines_are_broken_where_nothing_is_known(examples: FileSource) -> None:
    """Of 1000 minutes with a gap of an hour: two lines, of at most 240 points and the last."""
    past = ClusterPast(examples, VirtualClock())
    for minute in (*range(500), *range(560, 1060)):
        past.samples.add(Snapshot(FABRIC, (), (), now=60.0 * minute))
    now = 60.0 * 1059
    view = trends_view(now, 24, past, None, live=True)
    lines = polylines(view.series[0], now - 24 * 3600, now)
    assert len(lines) == 2
    assert sum(len(line.split()) for line in lines) <= MOST_POINTS + 1
    assert lines[1].endswith("600.0,100.0")
    assert view.series[0].since == 0.0


@pytest.mark.parametrize(("hours", "known"), [(1, 1), (24, 6)])
def test_the_queue_before_the_first_sample_is_as_cycles_tell(
    examples: FileSource, hours: int, known: int
) -> None:
    """Five cycles two hours before it: in a day they are known, of the last hour they are none."""
    past = ClusterPast(examples, VirtualClock())
    now = 1763704800.0 + 7200
    past.samples.add(Snapshot(FABRIC, (), (gang("w"),), now=now))
    cycles = tuple(map(CycleView.model_validate, many(5)["cycles"]))
    told = CyclesView(source="scheduler-0", leader=True, cycles=cycles, unknown=())
    view = trends_view(now, hours, past, told, live=True)
    assert [len(one.points) for one in view.series] == [1, known, 1, 1]
    assert ("cycles tell" in " ".join(view.sources)) == (hours == 24)
