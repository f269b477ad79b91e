"""Unanswered dry runs: a gang waits, others go on, until it is known whether it may be bound."""

from __future__ import annotations

from collections.abc import Mapping

from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule
from fourleaf.model.gang import Gang, GangKey, Hold
from fourleaf.model.reasons.kinds import ReasonKind

_STEP = "Look for a webhook on pods/binding, or a plugin, that is slow or down; it is being asked."


def rule(gangs: Mapping[GangKey, str]) -> HoldRule | None:
    """Hold those of `gangs`; the text is why one was refused the last time, "" otherwise."""
    if not gangs:
        return None

    def held(gang: Gang) -> Hold | None:
        refusal = gangs.get(gang.key)
        if refusal:
            return Hold(ReasonKind.REFUSED, refusal)
        return None if refusal is None else Hold(ReasonKind.UNANSWERED, "", (), (_STEP,))

    return held
