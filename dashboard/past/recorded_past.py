"""The past from what `fourleaf record` has written: samples of a day, changes of an hour."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fourleaf.dashboard.past.recent_changes import RecentChanges, gpus_of
from fourleaf.dashboard.past.usage_samples import MOST_SAMPLES, SAMPLE_SECONDS, UsageSample
from fourleaf.simulator.recording.changes import Followed, OpenGang
from fourleaf.simulator.recording.files import SEEN_SECONDS, files_of, lines_of
from fourleaf.simulator.recording.lines import HeadLine, Line, RecordedState, RunLine

RECORDED_SAMPLE_SECONDS = 300.0
"""Seconds between two samples of a recording: each looks at the whole fabric anew."""
DAY_SECONDS = MOST_SAMPLES * SAMPLE_SECONDS
"""Seconds of the past that are read."""
GAP_SECONDS = 3 * SEEN_SECONDS
"""Seconds without a line after which nothing was recorded."""
INSTANT_SECONDS = 0.001
"""The least difference of two moments of a recording."""


@dataclass(slots=True)
class RecordedPast:
    """What was read: samples, changes, and the state at the end, to go on from. Times as recorded.

    `followed` is empty where the recording ends too long before `now`.
    """

    now: float
    samples: list[UsageSample] = field(default_factory=list)
    changes: RecentChanges = field(default_factory=RecentChanges)
    followed: Followed = field(default_factory=Followed)
    _next: float = 0.0

    def take(self, lines: Iterator[Line]) -> None:
        """Take in the lines of one file. Raises `BadRecording`, `ValueError` for nonsense."""
        head = 0.0
        for line in lines:
            before = self.followed.at
            if isinstance(line, HeadLine):
                head = line.at
                if line.after is not None or not self.followed.looked:
                    self.changes = RecentChanges()
                    self.changes.began(line.at)
            elif line.at > head:
                self._sample_until(line.at)
                self.changes.note(line, self.followed, line.at)
            self.followed.take(line)
            if not isinstance(line, RunLine) and before == 0.0:
                self._next = self.followed.at
        self._sample_until(self.followed.at + INSTANT_SECONDS)

    def _sample_until(self, at: float) -> None:
        """Samples of the moments before `at`, at all of which the state was as it is now."""
        self._next = max(self._next, self.now - DAY_SECONDS)
        if at - self._next > GAP_SECONDS + RECORDED_SAMPLE_SECONDS:
            self._next = at
        while self._next < at:
            self.samples.append(sample_of(self.followed, self._next))
            self._next += RECORDED_SAMPLE_SECONDS


def recorded_past(folder: Path, now: float) -> RecordedPast:
    """The day before `now` as the files in `folder` have it. Slow; raises `BadRecording`."""
    found = RecordedPast(now)
    for path in files_since(folder, now - DAY_SECONDS):
        found.take(lines_of(path))
    if now - found.followed.at > GAP_SECONDS:
        found.followed, found.changes = Followed(), RecentChanges()
    return found


def files_since(folder: Path, since: float) -> list[Path]:
    """The files with what was recorded after `since`; each begins with all that was there."""
    files = files_of(folder)
    begins = [next((line.at for line in lines_of(path)), 0.0) for path in files]
    late = sum(1 for at in begins if at <= since)
    return files[max(0, late - 1) :]


def sample_of(followed: Followed, at: float) -> UsageSample:
    """The figures of the state that is `followed`."""
    used: dict[str, int] = {}
    waiting, waiting_gpus = 0, 0
    for one in followed.gangs.values():
        if one.since is None:
            waiting, waiting_gpus = waiting + 1, waiting_gpus + gpus_of(one.shape)
        for seat, gpus in _seats(one):
            used[seat] = used.get(seat, 0) + gpus
    free: dict[str, list[int]] = {}
    for name, node in followed.nodes.items():
        leaf = free.setdefault(node.leaf, [0, 0])
        if followed.states.get(name) is RecordedState.READY:
            leaf[0] += max(0, node.offer.gpus - used.get(name, 0))
            leaf[1] += node.offer.gpus
    in_all = sum(left for left, _ in free.values())
    in_whole = sum(left for left, offered in free.values() if left == offered)
    return UsageSample(
        at=at,
        waiting=waiting,
        gpus=sum(node.offer.gpus for node in followed.nodes.values()),
        used=sum(gpus for name, gpus in used.items() if name in followed.nodes),
        waiting_gpus=waiting_gpus,
        fragmentation=(in_all - in_whole) / in_all if in_all else 0.0,
    )


def _seats(one: OpenGang) -> Iterator[tuple[str, int]]:
    """Node and GPUs of each pod that runs, role by role."""
    asked = (role.request.gpus for role in one.shape.roles for _ in range(role.pods))
    yield from zip(one.nodes, asked, strict=False)
