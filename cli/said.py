"""What the scheduler has said of a gang that waits, read from the conditions of its pods."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from model.reasons import ReasonKind

UNBLOCK = ". To unblock: "
_STARTS: Mapping[ReasonKind, str] = {
    ReasonKind.GATED: r"held back by scheduling gates",
    ReasonKind.MEMBERS_MISSING: r"[\d,]+ of [\d,]+ members exist|members are missing",
    ReasonKind.WAITS_FOR_GANG: r"another gang has to start first",
    ReasonKind.UNSUPPORTED: r"asks for something that cannot be honoured",
    ReasonKind.INVALID: r"cannot be planned as written",
    ReasonKind.NOT_IN_BATCH: r"not in this batch",
    ReasonKind.NAMESPACE_LIMIT: r"its namespace has used up its share|namespace \S+ has used",
    ReasonKind.QUOTA_EXCEEDED: r"over the quota of|needs [\d,]+ GPUs?; [\d,]+ of the quota",
    ReasonKind.NO_MATCHING_NODES: r"(no node|too few nodes) match(es)? what it asks for",
    ReasonKind.TOO_LARGE: r"larger than the fabric allows",
    ReasonKind.BOUND_ELSEWHERE: r"members that run already stand where",
    ReasonKind.NO_FREE_CAPACITY: r"short of |not enough is free",
    ReasonKind.NO_ADJACENT_LEAVES: r"no leaf has the room|no ([\d,]+ )?adjacent leaves have",
    ReasonKind.UPLINK_FULL: r"the uplinks of the leaves",
    ReasonKind.OUTRANKED: r"it would fit, but gangs",
    ReasonKind.NOT_PROVEN: r"no place was found before the time limit",
}
"""How the sentence of each kind of reason starts, where no detail takes its place."""


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence, the steps that would unblock, and the kind of reason where it is known."""

    sentence: str
    unblock: tuple[str, ...] = ()
    kind: ReasonKind | None = None


def said(pods: Iterable[Mapping[str, Any]]) -> Said | None:
    """What the conditions of a gang's pods say, None where nobody has said anything."""
    for pod in pods:
        for condition in (pod.get("status") or {}).get("conditions") or ():
            if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
                text = str(condition.get("message") or "")
                if text:
                    return parsed(text)
    return None


def parsed(text: str) -> Said:
    """The parts of a message of a condition."""
    sentence, _, steps = text.partition(UNBLOCK)
    unblock = tuple(step for step in steps.rstrip(".").split("; ") if step)
    return Said(sentence.rstrip("."), unblock, kind_of(sentence))


def kind_of(sentence: str) -> ReasonKind | None:
    """The kind of reason that `sentence` is about, None where its start is not one of ours."""
    return next((kind for kind, start in _STARTS.items() if re.match(start, sentence)), None)
