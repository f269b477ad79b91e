"""When gangs that wait may be expected to start, looked for in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import structlog

from fourleaf.dashboard.past.recorded_durations import RecordedDurations
from fourleaf.dashboard.solver_pool import bounded
from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.extensions import ExtensionError
from fourleaf.model.gang import GangKey
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.start import Start
from fourleaf.solver.forecast.ask import ask_starts, asking_client
from fourleaf.solver.instance.gang_classes import gang_order

MOST_GANGS = 25
"""Gangs that are looked at, in the order of planning."""
SEARCH_PAUSE_SECONDS = 10.0
"""Seconds between two searches at least."""
LONGEST_PAUSE_SECONDS = 32 * SEARCH_PAUSE_SECONDS
"""The longest rest, where search after search of the same leaves something open."""
SOLVE_SECONDS = 1.0
"""The most that each of the many solves of a search may take."""
NICENESS = 10
"""By which the search gives way to pages, and to whatever else runs on the machine."""

_log = structlog.get_logger(__name__)


class StartTimes:
    """Searches while pages are open, and calls `found` when done.

    What was found and proven is not searched for again. Where a search failed or its time ran
    out, which a busy machine does to it, the next look at the same begins another, each after
    twice the rest of the last. `recording` is a folder of `fourleaf record`, by which gangs that
    state no duration may be expected to end.
    """

    def __init__(
        self, clock: Clock, found: Callable[[], None], recording: Path | None = None
    ) -> None:
        self._clock = clock
        self._durations = RecordedDurations(recording)
        self._found = found
        self._client = asking_client(NICENESS)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="starts")
        self._starts: Mapping[GangKey, Start] = {}
        self._version: int | None = None
        self._ended = float("-inf")
        self._settled = True
        self._rest = SEARCH_PAUSE_SECONDS
        self._task: asyncio.Task[None] | None = None
        self._again: asyncio.TimerHandle | None = None

    @property
    def searching(self) -> bool:
        """Whether a search is under way."""
        return self._task is not None and not self._task.done()

    def starts(self, moment: ClusterMoment) -> Mapping[GangKey, Start]:
        """What the last search found; where it is out of date, another one begins."""
        new = self._version != moment.version
        if self.searching or (self._settled and not new):
            return self._starts
        rest = (SEARCH_PAUSE_SECONDS if new else self._rest) - (
            self._clock.monotonic() - self._ended
        )
        if rest > 0:
            self._tell_in(rest)
        elif moment.snapshot.gangs:
            self._task = asyncio.create_task(self._search(moment))
        else:
            self._starts, self._version, self._settled = {}, moment.version, True
        return self._starts

    def _tell_in(self, seconds: float) -> None:
        if self._again is not None:
            self._again.cancel()
        self._again = asyncio.get_running_loop().call_later(seconds, self._found)

    async def close(self) -> None:
        """End the search and its process."""
        if self._again is not None:
            self._again.cancel()
        if self._task is not None:
            self._task.cancel()
        await asyncio.to_thread(self._client.close)
        self._thread.shutdown(wait=True)

    async def _search(self, moment: ClusterMoment) -> None:
        snapshot = first_of(moment)
        loop = asyncio.get_running_loop()
        again = self._version == moment.version
        self._settled = False
        try:
            self._starts = await loop.run_in_executor(self._thread, self._asked, snapshot)
            self._settled = all(start.proven for start in self._starts.values())
        except (ExtensionError, RuntimeError) as error:
            _log.warning("starts_unknown", why=str(error))
        except Exception:  # noqa: BLE001 - whatever it is, the next search may do better
            _log.exception("starts_unknown")
        finally:
            self._version = moment.version
            self._rest = (
                min(2 * self._rest, LONGEST_PAUSE_SECONDS) if again else SEARCH_PAUSE_SECONDS
            )
            self._ended = self._clock.monotonic()
            self._found()

    def _asked(self, snapshot: Snapshot) -> Mapping[GangKey, Start]:
        self._client.wait_until_ready()
        return ask_starts(self._client, self._durations.with_ends(snapshot))


def first_of(moment: ClusterMoment) -> Snapshot:
    """The first `MOST_GANGS` gangs that wait, and all that run: a start depends on those before."""
    snapshot = moment.snapshot
    gangs = sorted(snapshot.gangs, key=gang_order)[:MOST_GANGS]
    standing = tuple(moment.standing((), True))
    return bounded(replace(snapshot, gangs=tuple(gangs), standing=standing), SOLVE_SECONDS)
