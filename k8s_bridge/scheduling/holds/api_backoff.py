"""Gangs that the API has refused: each is left alone for a while, for longer each time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.gang import Gang, GangKey, Hold
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import Snapshot

FIRST = 1.0
"""Seconds after the first refusal; twice as many after each further one."""

MOST = 60.0
"""Seconds, at most. A gang that was not refused for as long after that starts afresh."""


@dataclass(frozen=True, slots=True)
class _Refused:
    """`due` is on the monotonic clock, `wait` in seconds; `told` once somebody knows it is due."""

    why: str
    wait: float
    due: float
    told: bool = False


class ApiBackoff:
    """Which gangs wait because the API refused them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._refused: dict[GangKey, _Refused] = {}

    def note(self, gang: GangKey, why: str) -> None:
        """The API refuses to let this gang run."""
        self._forget()
        known = self._refused.get(gang)
        wait = min(MOST, known.wait * 2) if known else FIRST
        self._refused[gang] = _Refused(why, wait, self._clock.monotonic() + wait)

    def held(self, snapshot: Snapshot) -> Snapshot:
        """`snapshot` with the gangs held whose time has not come."""
        self._forget()
        now = self._clock.monotonic()
        waiting = {gang: one.why for gang, one in self._refused.items() if one.due > now}
        if not waiting:
            return snapshot
        return replace(snapshot, gangs=tuple(_held(gang, waiting) for gang in snapshot.gangs))

    def came_due(self) -> bool:
        """Whether the time of a gang has come since this was last asked."""
        self._forget()
        now = self._clock.monotonic()
        due = [gang for gang, one in self._refused.items() if one.due <= now and not one.told]
        for gang in due:
            self._refused[gang] = replace(self._refused[gang], told=True)
        return bool(due)

    def _forget(self) -> None:
        now = self._clock.monotonic()
        for gang in [gang for gang, one in self._refused.items() if one.due + MOST <= now]:
            del self._refused[gang]


def _held(gang: Gang, waiting: dict[GangKey, str]) -> Gang:
    if gang.hold is not None or gang.key not in waiting:
        return gang
    step = "Let whoever refuses it allow it; it is tried again within a minute."
    return replace(gang, hold=Hold(ReasonKind.REFUSED, waiting[gang.key], (), (step,)))
