"""Gangs that limits of evictions alone keep waiting: asked about again once that may change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

import structlog

from fourleaf.k8s_bridge.relocation.evictions.limits import LimitsByPod
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.freed_room import changes
from fourleaf.k8s_bridge.scheduling.gang_kind import in_itself
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.reasons.kinds import Reason
from fourleaf.model.reasons.text import counted, listed
from fourleaf.model.running_gang import EvictionLimit, StandingGang
from fourleaf.model.snapshot import RunningPod, Snapshot

FORBIDDEN_RETRY_SECONDS = 600.0
"""Seconds after which a gang that limits of evictions keep waiting is tried again under the same
limits."""
FREED_RETRY_SECONDS = 30.0
"""The same where pods without GPUs have ended, which happens all the time and seldom helps a gang
with GPUs: their cores and memory may be what it lacks."""


KeptPlaces = frozenset[tuple[GangKey, float]]
"""Relocations whose places are kept: their gangs, and when they were opened."""


@dataclass(frozen=True, slots=True)
class _Forbidden:
    """Nothing could be done for `gang` `until`, on the monotonic clock, for limits of evictions.

    As long as the same gangs are below it under the same `limits`, places stay `kept` for others,
    and neither nodes, the config nor the pods that have `ended` are others, nothing else can be.
    `ended_in_all` counts those without GPUs too, of which it is minded `later`.
    """

    gang: Gang
    lower: frozenset[GangKey]
    limits: tuple[EvictionLimit, ...]
    fabric: Fabric
    config: SchedulerConfig
    kept: KeptPlaces
    ended: int
    ended_in_all: int
    later: float
    until: float


@dataclass(slots=True, eq=False)
class ForbiddenGangs:
    """Those of one term."""

    clock: Clock
    _known: dict[GangKey, _Forbidden] = field(default_factory=dict)
    _running: Sequence[RunningPod] = ()
    """What ran at the last look."""
    _ends: Counter[bool] = field(default_factory=Counter)
    """How many pods were seen to end: all of them, and (True) those with GPUs."""
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def look(self, running: Sequence[RunningPod], there: Container[GangKey]) -> None:
        """Count the pods that have ended, and forget gangs that are not `there` any more."""
        self._known = {key: one for key, one in self._known.items() if key in there}
        # Who is forbidden from now on compares with what runs now.
        ended = changes(self._running, running)[0] if self._known else ()
        self._ends[False] += len(ended)
        self._ends[True] += sum(pod.request.gpus > 0 for pod in ended)
        self._running = running

    def knows(
        self,
        gang: Gang,
        lower: Sequence[StandingGang],
        limits: tuple[EvictionLimit, ...],
        snapshot: Snapshot,
        kept: KeptPlaces,
    ) -> bool:
        """Whether it is known that no plan can serve `gang` under these limits.

        Places that are `kept` since then as well are no room for it.
        """
        known, now = self._known.get(gang.key), self.clock.monotonic()
        return (
            known is not None
            and known.until > now
            and known.limits == limits
            and known.lower == frozenset(one.gang.key for one in lower)
            and known.gang == in_itself(gang)
            and known.fabric is snapshot.fabric
            and known.config is snapshot.config
            and known.kept <= kept
            and known.ended == self._ended_for(gang)
            and (known.ended_in_all == self._ends[False] or known.later > now)
        )

    def note(
        self,
        gang: Gang,
        lower: Sequence[StandingGang],
        limits: tuple[EvictionLimit, ...],
        snapshot: Snapshot,
        kept: KeptPlaces,
        reason: Reason,
    ) -> str:
        """Remember that `limits` alone keep `gang` waiting; what it is told, "" where it was told.

        Those of its own namespace are named. The others, which may be those of another tenant,
        stand in the log alone.
        """
        known = self._known.get(gang.key)
        now = self.clock.monotonic()
        self._known[gang.key] = _Forbidden(
            in_itself(gang),
            frozenset(one.gang.key for one in lower),
            limits,
            snapshot.fabric,
            snapshot.config,
            kept,
            self._ended_for(gang),
            self._ends[False],
            later=now + FREED_RETRY_SECONDS,
            until=now + FORBIDDEN_RETRY_SECONDS,
        )
        if known is not None and known.limits == limits:
            return ""
        self._log.info("preemption_forbidden", gang=str(gang.key), limits=reason.detail)
        by_pod = LimitsByPod(limits)
        staying = sum(not by_pod.may_go(victim) for victim in lower)
        own = [one for one in limits if _is_of(gang, one) and str(one) in reason.detail]
        named = f" ({listed([str(one) for one in own])})" if own else ""
        advice = "".join(dict.fromkeys(f"{one.advice}; " for one in own if one.advice))
        return (
            "It would start if pods of lower priority could be evicted, which "
            f"{counted(reason.count('limits'), 'limit')} of disruption budgets, admission, its "
            f"namespace or its own affinity forbid{named}; {staying} of "
            f"{counted(len(lower), 'lower gang')} may not be evicted at all. To unblock: {advice}"
            "raise these budgets, which the scheduler's log names (preemption_forbidden), or wait "
            "until a gang ends"
        )

    def _ended_for(self, gang: Gang) -> int:
        """How many pods have ended so far that held GPUs, where the gang asks for any."""
        return self._ends[any(role.request.gpus for role in gang.roles)]


def _is_of(gang: Gang, limit: EvictionLimit) -> bool:
    """Whether a limit is about pods of the gang's own namespace alone."""
    return all(space == gang.key.namespace for space, _ in limit.pods)
