"""Gangs that are being seated: their records are being written, and they are not planned again."""

from __future__ import annotations

from collections.abc import Collection

from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule
from fourleaf.model.gang import Gang, GangKey, Hold
from fourleaf.model.reasons.kinds import ReasonKind

_STEP = "Look for an API server that is slow or down; it is being asked."


def rule(gangs: Collection[GangKey]) -> HoldRule | None:
    """Hold those of `gangs`, whatever becomes of the places that were kept for them."""

    def hold(gang: Gang) -> Hold | None:
        if gang.key not in gangs:
            return None
        return Hold(ReasonKind.PLACES_KEPT, "its places are being written down", (), (_STEP,))

    return hold if gangs else None
