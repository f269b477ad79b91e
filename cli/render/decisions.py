"""What decided between two places, in words."""

from __future__ import annotations

from fourleaf.model.scores.decision import DecidedBy, Decision
from fourleaf.model.weights import SCALE

NAMES = 3


def decided(one: Decision, size: int) -> str:
    """A few words on what decided, for a gang that counts for `size`."""
    term = f"{one.term} {gain(one.term_difference, size)}" if one.term else ""
    match one.ground:
        case DecidedBy.TERM:
            return term
        case DecidedBy.TAKEN:
            names = [str(key) for key in one.gangs]
            more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
            return f"{_although(one)}taken by {', '.join(names[:NAMES])}{more}"
        case DecidedBy.ROOM:
            return f"{_although(one)}kept for likely gangs"
        case DecidedBy.EQUAL:
            return "as good"
        case DecidedBy.BETTER:
            return f"better there now: {term}"
        case DecidedBy.UNPROVEN:
            return f"better there, plan not proven best: {term}"
        case DecidedBy.LAW:
            return "may not stand there any more"


def turned(decision: Decision, held: Decision, size: int) -> str:
    """What decides now, and what held it at its first place, where that is not the same."""
    now = decided(decision, size)
    match held.ground:
        case DecidedBy.TERM:
            return f"{held.term} held it before, {gain(held.term_difference, size)}; now {now}"
        case DecidedBy.LAW:
            return f"might not stand there before; now {now}"
        case _:
            return now


def _although(one: Decision) -> str:
    return "" if one.difference else "as good, but "


def gain(points: int, size: int) -> str:
    """Points per GPU with their sign, as scores are written."""
    return f"{points / SCALE / max(1, size):+.3f}"
