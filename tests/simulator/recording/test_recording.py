"""A cluster recorded look by look, and read back: the gangs, their times and the fabric of then."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fourleaf.model.gang import Gang
from fourleaf.model.node_constraint import HOSTNAME, NodeConstraint
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.readers.folder import NoData
from fourleaf.simulator.readers.recorded import BUNDLED, fabric_of, recording, trace_of
from fourleaf.simulator.recording.__main__ import record
from fourleaf.simulator.recording.files import BadRecording, RecordingFiles, files_of
from fourleaf.simulator.recording.look import Phases, look_at
from fourleaf.simulator.replay import replay
from fourleaf.simulator.trace import Trace
from tests.simulator.made import leaves, options
from tests.small import NOW, gang, with_bound

FABRIC = leaves(2, 2).with_nodes(lambda node: replace(node, labels={HOSTNAME: node.name}))


HOSTILE = 'x\n{"line":"stop","at":1,"gang":0,"why":"gone"}\n\u2028"'


class Recorded:
    """A folder that is recorded into, with the cluster in hand."""

    def __init__(self, folder: Path, **fields: int) -> None:
        self.folder = folder
        self.files = RecordingFiles(folder, **fields)
        self.files.open()
        self.fabric = FABRIC

    def look(
        self,
        after: float,
        waits: Sequence[Gang] = (),
        runs: Sequence[tuple[Gang, float]] = (),
        phases: Phases | None = None,
    ) -> None:
        """Look `after` seconds; gangs that run stand on the nodes of `a` since a moment."""
        standing = []
        for one, started in runs:
            bound, _ = with_bound(one, *list(self.fabric.nodes)[: one.roles[0].size])
            standing.append(StandingGang(bound, started=NOW + started))
        snapshot = Snapshot(self.fabric, (), tuple(waits), now=NOW + after)
        self.files.look(look_at(snapshot, standing), phases or {})

    def trace(self) -> Trace:
        """What was recorded, all of it."""
        self.files.close()
        return trace_of(recording(self.folder), "mine")


def jobs(trace: Trace) -> dict[str, tuple[int, int, int]]:
    """Arrival, duration and GPUs of each gang."""
    return {job.name: (job.arrival, job.duration, job.size) for job in trace.jobs}


def test_a_gang_is_recorded_from_arrival_to_end(tmp_path: Path) -> None:
    """Created at 2 and seen at 5, bound at 8, gone by 65: it arrives at 2 and runs for 57 s.

    Its name looks like a line of its own, and is text.
    """
    one = gang(HOSTILE, 2, created=NOW + 2)
    made = Recorded(tmp_path)
    made.look(0)
    made.look(5, [one])
    made.look(10, runs=[(one, 8)])
    made.look(65)
    assert jobs(made.trace()) == {f"ml/{HOSTILE}": (0, 57, 16)}
    assert recording(tmp_path).gangs[0].arrived == NOW + 2


def test_replay_starts_the_same_gangs(tmp_path: Path) -> None:
    """Shape, constraint and priority come back, and the replay runs both for as long as they ran.

    `wide` takes all four nodes from 0 to 100; `narrow` arrives at 40 and has to wait for it.
    """
    narrow = gang("narrow", 1, priority=7, created=NOW + 40)
    pinned = NodeConstraint(((HOSTNAME, "leaf-0-1"),))
    narrow = replace(narrow, roles=(replace(narrow.roles[0], constraint=pinned),))
    wide = gang("wide", 4, created=NOW)
    made = Recorded(tmp_path)
    made.look(0, [wide])
    made.look(1, runs=[(wide, 0)])
    made.look(40, [narrow], [(wide, 0)])
    made.look(100, runs=[(narrow, 100)])
    made.look(130)
    trace = made.trace()
    found = {job.name: job.gang for job in trace.jobs}
    told = found["ml/narrow"]
    assert told is not None
    assert (told.priority, told.roles[0].constraint) == (7, pinned)
    ground = fabric_of(recording(tmp_path))
    assert ground.leaves == FABRIC.leaves
    lines = replay(trace, ground, options()).gangs
    assert {name: (one.start, one.end) for name, one in lines.items()} == {
        "ml/wide": (0, 100),
        "ml/narrow": (100, 130),
    }


def test_a_restart_goes_on(tmp_path: Path) -> None:
    """A line torn by a crash is left out; the gang keeps its number and its start.

    What ended while nothing was recorded ran until it was seen last, at 20, and the trace says so.
    """
    stays, goes = gang("stays", 1), gang("goes", 1)
    made = Recorded(tmp_path)
    made.look(0, [stays, goes])
    made.look(10, runs=[(stays, 10), (goes, 10)])
    made.look(20, [gang("late", 1)], [(stays, 10), (goes, 10)])
    made.files.close()
    with files_of(tmp_path)[0].open("ab") as file:
        file.write(b'{"line":"stop","at":')
    again = Recorded(tmp_path)
    again.look(500, runs=[(stays, 10)])
    again.look(510)
    trace = again.trace()
    assert jobs(trace) == {"ml/stays": (0, 500, 8), "ml/goes": (0, 10, 8)}
    assert "1 of unknown end" in trace.source
    assert "1 left out" in trace.source


def test_files_are_bounded_and_read_without_those_before(tmp_path: Path) -> None:
    """A gang runs through 300 changes: few small files are left, and it is in each of them."""
    stays = gang("stays", 1)
    made = Recorded(tmp_path, size=4000, most=3)
    for at in range(300):
        made.look(at, [gang(f"g{at}", 1)], [(stays, 0)])
    trace = made.trace()
    assert len(files_of(tmp_path)) == 3
    assert max(path.stat().st_size for path in files_of(tmp_path)) < 8000
    assert len(made.files.followed.gangs) == 2
    began = recording(tmp_path).began
    assert began is not None
    assert jobs(trace)["ml/stays"] == (0, round(NOW + 299 - began), 8)


def test_interruptions_ends_and_failures_are_told(tmp_path: Path) -> None:
    """It runs from 10 to 40 and from 60 to 70: 40 s. One node of four fails once in 100 s."""
    one = gang("one", 1)
    made = Recorded(tmp_path)
    made.look(0, [one])
    made.look(10, runs=[(one, 10)])
    made.look(40, [one])
    hit = FABRIC.with_nodes(lambda node: replace(node, ready=node.name != "leaf-1-0"))
    made.fabric = hit
    made.look(60, runs=[(one, 60)])
    made.fabric = FABRIC
    made.look(70, phases={("ml", "one-0-0"): "Failed"})
    made.look(100)
    trace = made.trace()
    assert jobs(trace) == {"ml/one": (0, 40, 8)}
    assert "failed 1 times, 216000.0 per 1000 node-days" in trace.source
    assert '"why":"failed"' in files_of(tmp_path)[0].read_text()


def test_a_folder_has_one_recorder(tmp_path: Path) -> None:
    """The second is told, and may come once the first has ended."""
    first = Recorded(tmp_path)
    with pytest.raises(BadRecording, match="another process records there"):
        Recorded(tmp_path)
    first.files.close()
    Recorded(tmp_path).files.close()


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    """With file and line, whatever stands there; a folder without one, too."""
    with pytest.raises(NoData, match="holds no recording"):
        recording(tmp_path)
    broken = tmp_path / "trace-000001.jsonl"
    for text in ("[]", '{"line":"run","at":1,"gang":9,"nodes":[]}', "\x00" * 99, '{"line":"head"'):
        broken.write_text(f"{text}\n")
        with pytest.raises(NoData, match=str(tmp_path)):
            recording(tmp_path)


def test_the_bundled_recording_is_the_one_that_its_command_makes(tmp_path: Path) -> None:
    """To the byte: nothing in it comes from anywhere else."""
    record(tmp_path)
    assert BUNDLED.read_bytes() == b"".join(path.read_bytes() for path in files_of(tmp_path))
