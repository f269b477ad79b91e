"""API back-off: gangs that could not be bound wait, for longer after each refusal."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from fourleaf.k8s_bridge.ledger.unanswered_bindings import STEP
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule
from fourleaf.model.gang import Gang, GangKey, Hold
from fourleaf.model.reasons.kinds import ReasonKind

FIRST_WAIT_SECONDS = 1.0
"""After the first refusal; twice as long after each further one."""

LONGEST_WAIT_SECONDS = 60.0
"""A gang that was not refused for as long after its last wait starts afresh."""

LONGEST_WAIT_AFTER_ROLLBACK_SECONDS = 300.0
"""The same where a commit went back, as members that run may go for each try. Within the time for
which it is known that no pod is worth evicting for such a gang (`REFUSAL_REMEMBERED_SECONDS`)."""


@dataclass(frozen=True, slots=True)
class BackoffCause:
    """What kept a gang from starting that was to be bound, and what would end that."""

    kind: ReasonKind
    step: str


REFUSED = BackoffCause(ReasonKind.REFUSED, "Allow it where it is refused")
"""The API, admission or a plugin says no."""

UNANSWERED = BackoffCause(ReasonKind.UNANSWERED, STEP)
"""Its dry run passed, and its bindings got no answer for long."""


@dataclass(frozen=True, slots=True)
class _Refused:
    """`due` on the monotonic clock, `wait` in seconds; `reported` once a caller knows it is due.

    It is forgotten `limit` seconds after it was due.
    """

    why: str
    wait: float
    due: float
    cause: BackoffCause
    limit: float
    reported: bool = False


def _step(one: _Refused) -> str:
    longest = max(1, math.ceil(one.wait / 60.0))
    within = "a minute" if longest == 1 else f"{longest} minutes"
    return f"{one.cause.step}; it is tried again within {within}."


class ApiBackoff:
    """Which gangs wait because the API refused them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._refused: dict[GangKey, _Refused] = {}

    def note(
        self,
        gang: GangKey,
        why: str,
        least: float = 0.0,
        cause: BackoffCause = REFUSED,
        limit: float = LONGEST_WAIT_SECONDS,
    ) -> None:
        """`cause` keeps this gang from running; it waits for `least` seconds or longer.

        Waits grow to `limit` seconds.
        """
        self._forget()
        known = self._refused.get(gang)
        wait = min(limit, known.wait * 2) if known else FIRST_WAIT_SECONDS
        wait = max(wait, least)
        due = self._clock.monotonic() + wait
        self._refused[gang] = _Refused(why, wait, due, cause, limit)

    def rule(self) -> HoldRule | None:
        """Hold the gangs whose time has not come."""
        self._forget()
        now = self._clock.monotonic()
        waiting = {gang: one for gang, one in self._refused.items() if one.due > now}

        def hold(gang: Gang) -> Hold | None:
            one = waiting.get(gang.key)
            return None if one is None else Hold(one.cause.kind, one.why, (), (_step(one),))

        return hold if waiting else None

    def rests(self, gang: GangKey) -> bool:
        """Whether its time has not come."""
        one = self._refused.get(gang)
        return one is not None and one.due > self._clock.monotonic()

    def came_due(self) -> bool:
        """Whether the time of a gang has come since this was last asked."""
        self._forget()
        now = self._clock.monotonic()
        due = [gang for gang, one in self._refused.items() if one.due <= now and not one.reported]
        for gang in due:
            self._refused[gang] = replace(self._refused[gang], reported=True)
        return bool(due)

    def _forget(self) -> None:
        now = self._clock.monotonic()
        for gang in [gang for gang, one in self._refused.items() if one.due + one.limit <= now]:
            del self._refused[gang]
