"""The past of a cluster as a dashboard saw it: looks from time to time, and what they differ in."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import structlog

from fourleaf.dashboard.past.bound_at import bound_at
from fourleaf.dashboard.past.recent_changes import RecentChanges
from fourleaf.dashboard.past.recorded_past import recorded_past
from fourleaf.dashboard.past.usage_samples import UsageSamples
from fourleaf.dashboard.sources.source import ClusterMoment, ClusterSource
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.fabric import Fabric
from fourleaf.model.problems import brief
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.recording.changes import FAILED, SUCCEEDED, Followed
from fourleaf.simulator.recording.files import BadRecording
from fourleaf.simulator.recording.lines import Line, RunLine
from fourleaf.simulator.recording.look import Look, look_at

LOOK_SECONDS = 5.0
"""Seconds between two looks."""

_log = structlog.get_logger(__name__)


class ClusterPast:
    """Compares looks at `source` as `fourleaf record` does, and keeps what is new in memory.

    What is not up to date is not looked at. `recording` is a folder of `fourleaf record`, whose
    last day is read first; `recorded` says how that went, "" where there is none.
    """

    def __init__(self, source: ClusterSource, clock: Clock, recording: Path | None = None) -> None:
        self._recording = recording
        self._source = source
        self._clock = clock
        self._followed = Followed()
        self._last: Look | None = None
        self._version: int | None = None
        self._slim: tuple[Fabric, Fabric] | None = None
        self.changes = RecentChanges()
        self.samples = UsageSamples()
        self.recorded = "" if recording is None else "is being read"

    async def run(self) -> None:
        """Read the recording, and look for ever."""
        await self.read()
        while True:
            try:
                self.step()
            except Exception:  # noqa: BLE001 - one bad look must not end the past for good
                _log.exception("past_not_looked_at")
            await self._clock.sleep(LOOK_SECONDS)

    def step(self) -> None:
        """Look once."""
        moment = self._source.moment()
        if moment.unsynced:
            return
        self.samples.add(moment.snapshot)
        if moment.version == self._version:
            return
        self._version = moment.version
        seen = self._without_labels(moment.snapshot)
        self._last = look = look_at(seen, moment.standing((), True), self._last)
        ended = {at: _phase(body) for at, body in moment.pods.items()}
        phases = {at: phase for at, phase in ended.items() if phase in (SUCCEEDED, FAILED)}
        first = not self._followed.looked
        self.changes.began(look.at)
        for line in self._followed.changes(look, phases):
            told = self._at_first(line, look, moment) if first else line
            if told is not None:
                self.changes.note(told, self._followed, look.at)
            self._followed.take(line)

    def _without_labels(self, snapshot: Snapshot) -> Snapshot:
        """`snapshot` without what nodes are labelled with, which takes memory and tells nothing."""
        if self._slim is None or self._slim[0] is not snapshot.fabric:
            slim = snapshot.fabric.with_nodes(lambda node: replace(node, labels={}, taints=()))
            self._slim = snapshot.fabric, slim
        return replace(snapshot, fabric=self._slim[1])

    async def read(self) -> None:
        """Read the recording, where there is one, and go on from its end."""
        folder = self._recording
        if folder is None:
            return
        try:
            found = await asyncio.to_thread(recorded_past, folder, self._clock.wall())
        except (BadRecording, ValueError) as error:
            _log.error("recording_unreadable", folder=str(folder), why=str(error))
            self.recorded = brief(f"cannot be read: {error}")
            return
        self.samples.put_before(found.samples)
        self.recorded = "is read" if found.samples else "holds nothing of the last day"
        if found.followed.looked:
            self._followed, self.changes = found.followed, found.changes

    def _at_first(self, line: Line, look: Look, moment: ClusterMoment) -> Line | None:
        """What a line of the first look tells: all nodes are new in it, and all gangs begin."""
        if not isinstance(line, RunLine):
            return None
        key = self._followed.numbers[line.gang]
        pods = (moment.pods.get((key.namespace, pod)) for pod, _ in look.gangs[key].seats)
        at = bound_at(pods)
        return None if at is None else line.model_copy(update={"at": min(at, look.at)})


def _phase(body: object) -> str:
    status = body.get("status") if isinstance(body, dict) else None
    return str(status.get("phase", "")) if isinstance(status, dict) else ""
