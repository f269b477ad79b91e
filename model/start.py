"""When gangs that wait may be expected to start if no new gang came."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fourleaf.model.gang import GangKey, Hold
from fourleaf.model.plan import Placement
from fourleaf.model.reasons.kinds import OF_BINDING
from fourleaf.model.reasons.pod_condition import ConditionReason


@dataclass(frozen=True, slots=True)
class Start:
    """The earliest moment at which a waiting gang could start (docs/model.md, section 9).

    `at` is in seconds since the epoch, and `placement` the best place at that moment; both are
    `None` where that is unknown. Then `hold` is what keeps the gang from being planned at all,
    or `waits_for` the fewest gangs without a known end that would have to go; none where even
    that would not do. `proven` is false where the time ran out before all was known.
    """

    gang: GangKey
    at: float | None = None
    placement: Placement | None = None
    waits_for: tuple[GangKey, ...] = ()
    hold: Hold | None = None
    proven: bool = True


def start_as_told(start: Start, told: ConditionReason | None) -> Start:
    """`start`, unknown where the scheduler has `told` of something that keeps it from being bound.

    There is a place for it, and it is unknown when it may be bound there.
    """
    if start.at is None or told is None or told.kind not in OF_BINDING:
        return start
    hold = Hold(told.kind.value, told.sentence, unblock=told.unblock)
    return replace(start, at=None, placement=None, waits_for=(), hold=hold)
