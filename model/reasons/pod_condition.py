"""What the scheduler has said of a gang that waits, read from the conditions of its pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fourleaf.model.reasons.kinds import ReasonKind

UNBLOCK = ". To unblock: "
NEAREST = ". Nearest: "


@dataclass(frozen=True, slots=True)
class ConditionReason:
    """A sentence, the steps that would unblock, and the kind of reason where it is known."""

    sentence: str
    unblock: tuple[str, ...] = ()
    kind: ReasonKind | None = None


def said(pods: Iterable[Mapping[str, Any]]) -> ConditionReason | None:
    """What the conditions of a gang's pods say, None where they say nothing."""
    for pod in pods:
        for condition in (pod.get("status") or {}).get("conditions") or ():
            if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
                text = str(condition.get("message") or "")
                if text:
                    return parsed(text)
    return None


def parsed(text: str) -> ConditionReason:
    """The parts of a message of a condition, whose kind is unknown where it is not one of ours."""
    kind, mark, rest = text.partition(": ")
    known = mark and kind in {one.value for one in ReasonKind}
    said, _, near = (rest if known else text).partition(NEAREST)
    cause, _, steps = said.partition(UNBLOCK)
    unblock = tuple(step for step in steps.rstrip(".").split("; ") if step)
    parts = [part.rstrip(".") for part in (cause, f"nearest: {near}" if near else "") if part]
    return ConditionReason("; ".join(parts), unblock, ReasonKind(kind) if known else None)
