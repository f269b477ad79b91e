"""Solver time by namespace, so that no tenant burns it for the others.

The seconds of a solve are charged to the namespaces of its gangs, by their pods. A namespace
that has used more than it may within the last minute waits until that has passed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule
from fourleaf.model.config.spec import Spec
from fourleaf.model.gang import Gang, Hold
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import Snapshot

WINDOW_SECONDS = 60.0
"""How far back solves are charged."""


class SolveTime:
    """Who has used how many seconds of the solver. Times are of a monotonic clock."""

    def __init__(self) -> None:
        self._spent: deque[tuple[float, dict[str, float]]] = deque()

    def charge(self, now: float, snapshot: Snapshot, seconds: float) -> None:
        """Charge `seconds` of a solve to the namespaces of the gangs that it was about."""
        pods: dict[str, int] = {}
        for gang in snapshot.gangs:
            if gang.hold is None:
                members = sum(len(role.pods) for role in gang.roles)
                pods[gang.key.namespace] = pods.get(gang.key.namespace, 0) + members
        total = sum(pods.values())
        if total:
            shares = {name: seconds * count / total for name, count in pods.items()}
            self._spent.append((now, shares))

    def spent(self, now: float) -> Mapping[str, float]:
        """Namespace -> seconds of the last minute."""
        while self._spent and self._spent[0][0] <= now - WINDOW_SECONDS:
            self._spent.popleft()
        total: dict[str, float] = {}
        for _, shares in self._spent:
            for name, seconds in shares.items():
                total[name] = total.get(name, 0.0) + seconds
        return total

    def rule(self, now: float, spec: Spec) -> HoldRule | None:
        """Hold the gangs whose namespace has used up its time."""
        over: dict[str, tuple[float, float]] = {}
        for name, seconds in self.spent(now).items():
            most = spec.namespace(name).max_solve_seconds
            if most is not None and seconds > most:
                over[name] = (seconds, most)

        def hold(gang: Gang) -> Hold | None:
            if gang.key.namespace not in over:
                return None
            seconds, most = over[gang.key.namespace]
            return Hold(
                ReasonKind.NAMESPACE_LIMIT,
                f"namespace {gang.key.namespace} has used {seconds:.1f} s of the solver within a "
                f"minute, {most:g} s are allowed",
                (),
                ("It is planned again within a minute; fewer waiting gangs take less.",),
            )

        return hold if over else None
