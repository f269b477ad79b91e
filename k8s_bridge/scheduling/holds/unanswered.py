"""Unanswered dry runs: a gang waits, others go on, until it is known whether it may be bound."""

from __future__ import annotations

from collections.abc import Mapping

from fourleaf.k8s_bridge.ledger.binding_trials import Pending
from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule
from fourleaf.model.gang import Gang, GangKey, Hold
from fourleaf.model.reasons.kinds import ReasonKind

_STEP = "Look for a webhook on pods/binding, or a plugin, that is slow or down; it is being asked."
_THROTTLED = "the API server throttles requests (429)"
_STEP_OF_SERVER = (
    "Look at what loads the API server (apiserver_flowcontrol_rejected_requests_total says by "
    "priority level); it is being asked."
)

SLOW = Hold(ReasonKind.UNANSWERED, "", (), (_STEP,))
THROTTLED = Hold(ReasonKind.UNANSWERED, _THROTTLED, (), (_STEP_OF_SERVER,))


def rule(gangs: Mapping[GangKey, Pending]) -> HoldRule | None:
    """Hold those of `gangs`; one that was refused the last time says why."""
    if not gangs:
        return None

    def held(gang: Gang) -> Hold | None:
        one = gangs.get(gang.key)
        if one is None:
            return None
        if one.before:
            return Hold(ReasonKind.REFUSED, one.before)
        return THROTTLED if one.is_throttled else SLOW

    return held
