"""Solver time by namespace, so that no tenant burns it for the others.

What a solve takes beyond `FREE_SECONDS` is charged to the namespaces of its gangs, by how many
different things they ask for, and with how many conditions: a thousand equal pods cost a solver
little more than one. A
namespace that has used more than it may within the last minute waits until that has passed, where
others have pods there; a cluster of one tenant has no one to protect.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping

from fourleaf.k8s_bridge.scheduling.gang_kind import gang_kind
from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule
from fourleaf.model.config.spec import Spec
from fourleaf.model.gang import Hold
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import Snapshot

WINDOW_SECONDS = 60.0
"""How far back solves are charged."""

FREE_SECONDS = 0.5
"""What each solve may take at no charge: no one waits long for it."""


class SolveTime:
    """Who has used how many seconds of the solver. Times are of a monotonic clock."""

    def __init__(self) -> None:
        self._spent: deque[tuple[float, dict[str, float]]] = deque()
        self._held: dict[str, float] = {}
        """Namespaces that were held when last asked, and the seconds that they may use."""

    def charge(self, now: float, snapshot: Snapshot, seconds: float) -> None:
        """Charge a solve of so many `seconds` to the namespaces of the gangs it was about."""
        over = seconds - FREE_SECONDS
        if over <= 0:
            return
        kinds: dict[str, dict[Hashable, int]] = {}
        for gang in snapshot.gangs:
            if gang.hold is None:
                cost = sum(1 + role.constraint.conditions for role in gang.roles)
                kinds.setdefault(gang.key.namespace, {})[gang_kind(gang)] = cost
        costs = {name: sum(found.values()) for name, found in kinds.items()}
        total = sum(costs.values())
        if total:
            self._spent.append((now, {name: over * one / total for name, one in costs.items()}))

    def spent(self, now: float) -> Mapping[str, float]:
        """Namespace -> seconds of the last minute."""
        while self._spent and self._spent[0][0] <= now - WINDOW_SECONDS:
            self._spent.popleft()
        total: dict[str, float] = {}
        for _, shares in self._spent:
            for name, seconds in shares.items():
                total[name] = total.get(name, 0.0) + seconds
        return total

    def rule(self, now: float, snapshot: Snapshot) -> HoldRule | None:
        """Hold the gangs whose namespace has used up its time, where there are others."""
        spec, spent = snapshot.config.spec, self.spent(now)
        shared = bool(spent) and _shared(snapshot)
        over = {
            name: _held(name, seconds, most)
            for name, seconds in spent.items()
            if shared and (most := _most(spec, name)) is not None and seconds > most
        }
        self._held = {name: _most(spec, name) or 0.0 for name in over}
        return (lambda gang: over.get(gang.key.namespace)) if over else None

    def came_due(self, now: float) -> bool:
        """Whether the time of a namespace that was held has come since this was last asked."""
        spent = self.spent(now)
        due = [name for name, most in self._held.items() if spent.get(name, 0.0) <= most]
        for name in due:
            del self._held[name]
        return bool(due)


def _most(spec: Spec, namespace: str) -> float | None:
    return spec.namespace(namespace).max_solve_seconds


def _held(namespace: str, seconds: float, most: float) -> Hold:
    return Hold(
        ReasonKind.NAMESPACE_LIMIT,
        f"namespace {namespace} has used {seconds:.1f} s of the solver within a minute, "
        f"{most:g} s are allowed",
        (),
        ("It is planned again within a minute; members that ask for the same take less.",),
    )


def _shared(snapshot: Snapshot) -> bool:
    """Whether gangs of more than one namespace wait or run."""
    ours = (pod.namespace for pod in snapshot.running if pod.ours)
    return len(snapshot.waiting_namespaces.union(ours)) > 1
