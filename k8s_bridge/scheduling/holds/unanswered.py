"""Unanswered dry runs: a gang waits, others go on, until the API says whether it may be bound."""

from __future__ import annotations

from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule
from fourleaf.model.gang import GangKey, Hold
from fourleaf.model.reasons.kinds import ReasonKind

_STEP = "Look for a webhook on pods/binding that is slow or down; the API is being asked."


def rule(gangs: frozenset[GangKey]) -> HoldRule | None:
    """Hold those of `gangs`."""
    hold = Hold(ReasonKind.UNANSWERED, "", (), (_STEP,))
    return (lambda gang: hold if gang.key in gangs else None) if gangs else None
