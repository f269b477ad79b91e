"""Ends of gangs that state none, from how long those like them ran by a recording."""

from __future__ import annotations

from pathlib import Path

import structlog

from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.readers.expected_ends import ExpectedDurations, with_expected_ends
from fourleaf.simulator.readers.folder import NoData
from fourleaf.simulator.readers.recorded import recording

_log = structlog.get_logger(__name__)


class RecordedDurations:
    """What the folder of a `fourleaf record` says, None: nothing.

    It is read once, when it is first asked for and holds something.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: ExpectedDurations | None = None
        self._trouble = ""

    def with_ends(self, snapshot: Snapshot) -> Snapshot:
        """`snapshot` with ends and durations where none are stated. Slow the first time."""
        if self._folder is None:
            return snapshot
        if self._known is None:
            try:
                self._known = ExpectedDurations(recording(self._folder))
            except NoData as error:
                # It may hold something later, and is not told of at each look until then.
                if str(error) != self._trouble:
                    self._trouble = str(error)
                    _log.warning("no_durations_recorded", why=self._trouble)
                return snapshot
        return with_expected_ends(snapshot, self._known)[0]
