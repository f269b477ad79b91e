"""What has changed lately: gangs that were bound, ended or interrupted, nodes that came or left."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from fourleaf.dashboard.view import View
from fourleaf.model.gang import GangKey
from fourleaf.simulator.recording.changes import Followed, OpenGang
from fourleaf.simulator.recording.lines import (
    GangShape,
    Line,
    NodeLine,
    RecordedState,
    RunLine,
    StateLine,
    StopLine,
    StopReason,
)

RECENT_SECONDS = 3600.0
"""Seconds for which a change is told of."""
MOST_CHANGES = 1000
"""Changes that are remembered, the newest."""

STOPS = {
    StopReason.SUCCEEDED: "ended",
    StopReason.FAILED: "failed",
    StopReason.GONE: "gone",
    StopReason.WAITS: "interrupted",
}
STATES_TOLD = {
    RecordedState.READY: "nodeBack",
    RecordedState.CORDONED: "nodeCordoned",
    RecordedState.NOT_READY: "nodeLost",
    RecordedState.GONE: "nodeGone",
}


class RecentChange(View):
    """One change. `at` in seconds since the epoch.

    `kind` is `bound`, `moved`, `ended`, `failed`, `gone` (deleted; how it ended was not seen),
    `interrupted` (it ran and waits again) or `withdrawn` (deleted while it waited) of a gang; of a
    node `nodeNew`, `nodeBack`, `nodeCordoned`, `nodeUncordoned`, `nodeLost` or `nodeGone`.
    `namespace` is "" for a node. `seconds` is how long a gang had waited that was bound or
    withdrawn, or run that stopped, None where that is not known.
    """

    at: float
    kind: str
    namespace: str
    name: str
    gpus: int = 0
    seconds: int | None = None


class RecentChanges:
    """The newest changes of an hour, at most `MOST_CHANGES`."""

    def __init__(self) -> None:
        self._found: deque[RecentChange] = deque(maxlen=MOST_CHANGES)
        self._began: float | None = None

    def note(self, line: Line, before: Followed, at: float) -> None:
        """Take in a line of the look at `at` that `before` has not taken in yet."""
        self._found.extend(_told(line, before, at))

    def since(self, now: float) -> float | None:
        """From when on all changes are known; None where there was no look yet."""
        if self._began is None:
            return None
        full = len(self._found) == MOST_CHANGES
        return max(self._began, now - RECENT_SECONDS, self._found[0].at if full else 0.0)

    def began(self, at: float) -> None:
        """Look for the first time at `at`; of before, only what still runs is known."""
        self._began = at if self._began is None else self._began

    def newest(self, now: float) -> tuple[RecentChange, ...]:
        """All of the last hour before `now`, the newest first."""
        since = now - RECENT_SECONDS
        found = sorted((one for one in self._found if one.at >= since), key=lambda one: -one.at)
        return tuple(found)


def gpus_of(shape: GangShape) -> int:
    """GPUs of all members."""
    return sum(role.pods * role.request.gpus for role in shape.roles)


def _told(line: Line, before: Followed, at: float) -> Iterator[RecentChange]:
    match line:
        case RunLine():
            one = _gang(line.gang, before)
            if one is not None and one.since is None:
                yield _of_gang(one, line.at, "bound", one.created)
            elif one is not None:
                yield _of_gang(one, at, "moved", None)
        case StopLine():
            one = _gang(line.gang, before)
            if one is not None and (one.since is not None or line.why is not StopReason.GONE):
                yield _of_gang(one, line.at, STOPS[line.why], one.since)
            elif one is not None:
                yield _of_gang(one, line.at, "withdrawn", one.created)
        case NodeLine() if line.name not in before.nodes:
            yield RecentChange(at=line.at, kind="nodeNew", namespace="", name=line.name)
        case StateLine() if line.node in before.nodes:
            kind = STATES_TOLD[line.state]
            if kind == "nodeBack" and before.states.get(line.node) is RecordedState.CORDONED:
                kind = "nodeUncordoned"
            yield RecentChange(at=line.at, kind=kind, namespace="", name=line.node)
        case _:
            pass


def _gang(number: int, before: Followed) -> OpenGang | None:
    key = before.numbers.get(number)
    return None if key is None else before.gangs.get(key)


def _of_gang(one: OpenGang, at: float, kind: str, since: float | None) -> RecentChange:
    key: GangKey = one.key
    return RecentChange(
        at=at,
        kind=kind,
        namespace=key.namespace,
        name=key.name,
        gpus=gpus_of(one.shape),
        seconds=None if since is None else max(0, round(at - since)),
    )
