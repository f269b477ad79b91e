"""Gangs set aside: they found no place in a full batch, and nothing has changed for them since.

A batch holds the first gangs by priority and age. Those that cannot start would be its first
gangs again in each cycle, and the ones behind them would never be looked at.
"""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan, Waiting
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import RunningPod, Snapshot

_OF_THE_FABRIC = frozenset(
    {ReasonKind.NO_MATCHING_NODES, ReasonKind.TOO_LARGE, ReasonKind.BOUND_ELSEWHERE}
)
"""Reasons that hold as long as the gang, the nodes and the config are what they are."""

_OF_THE_ROOM = frozenset(
    {
        ReasonKind.QUOTA_EXCEEDED,
        ReasonKind.NO_FREE_CAPACITY,
        ReasonKind.NO_ADJACENT_LEAVES,
        ReasonKind.UPLINK_FULL,
    }
)
"""Reasons that hold for as long as no pod ends either."""

_Place = tuple[str, str, str]


class SetAside:
    """Which gangs stand aside, and what they wait for."""

    def __init__(self) -> None:
        self._waiting: dict[GangKey, tuple[Gang, Waiting]] = {}
        self._fabric: Fabric | None = None
        self._config: SchedulerConfig | None = None
        self._running: set[_Place] = set()

    def without(self, snapshot: Snapshot) -> tuple[Snapshot, tuple[Waiting, ...]]:
        """`snapshot` without the gangs that stand aside, and what these wait for.

        None does where all gangs have room in one batch.
        """
        self._forget(snapshot)
        if not self._waiting:
            return snapshot, ()
        aside = tuple(waiting for _, waiting in self._waiting.values())
        gangs = tuple(gang for gang in snapshot.gangs if gang.key not in self._waiting)
        return replace(snapshot, gangs=gangs), aside

    def note(self, snapshot: Snapshot, plan: Plan) -> bool:
        """Set aside the gangs of a full batch that found no place; whether there are any."""
        if all(one.reason.kind is not ReasonKind.NOT_IN_BATCH for one in plan.waiting):
            return False
        gangs = {gang.key: gang for gang in snapshot.gangs}
        found = {
            one.gang: (gangs[one.gang], one)
            for one in plan.waiting
            if one.reason.kind in _OF_THE_FABRIC | _OF_THE_ROOM and gangs[one.gang].hold is None
        }
        self._waiting |= found
        return bool(found)

    def _forget(self, snapshot: Snapshot) -> None:
        """Take back in what something has changed for: the gang, nodes, config, or pods ended."""
        running = {_place(pod) for pod in snapshot.running}
        ended = bool(self._running - running)
        changed = snapshot.fabric is not self._fabric or snapshot.config is not self._config
        self._fabric, self._config, self._running = snapshot.fabric, snapshot.config, running
        if changed or len(snapshot.gangs) <= snapshot.config.spec.batch.size:
            self._waiting = {}
        if not self._waiting:
            return
        gangs = {gang.key: gang for gang in snapshot.gangs}
        self._waiting = {
            key: (gang, one)
            for key, (gang, one) in self._waiting.items()
            # The cache keeps a gang as one object for as long as nothing of it changes.
            if gangs.get(key) is gang and not (ended and one.reason.kind in _OF_THE_ROOM)
        }


def _place(pod: RunningPod) -> _Place:
    return pod.namespace, pod.name, pod.node
