"""Evictions that limits forbid, as a reason: which limits, and what would raise each of them."""

from __future__ import annotations

from collections.abc import Sequence

from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.reasons.text import RAISE_A_LIMIT, WAIT_FOR_ROOM
from fourleaf.model.running_gang import EvictionLimit


def forbidden_by(limits: Sequence[EvictionLimit]) -> Reason:
    """That `limits` keep a gang from a place; what helps without advice of theirs is general."""
    advice = dict.fromkeys(limit.advice for limit in limits if limit.advice)
    general = [RAISE_A_LIMIT] if any(not limit.advice for limit in limits) else []
    return Reason(
        ReasonKind.EVICTIONS_FORBIDDEN,
        "; ".join(map(str, limits)),
        (("limits", len(limits)),),
        unblock=(*general, *advice, WAIT_FOR_ROOM) if advice else (),
    )
