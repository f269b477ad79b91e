"""Evictions that a namespace has caused: pods of others that had to go for its gangs.

Those of preemptions; those of repairs of gangs that lost members although no node was lost, since a
tenant that deletes its pods could have others moved without end; those of defragmentations by which
its gangs start.

Who decides what priority a gang has is admission; how often gangs of that priority come is the
tenant. So what one namespace may have evicted of others within an hour has a limit of its own, as
an eviction limit of the plan: where other victims serve as well, these go. A namespace that has had
none evicted in that time may, for one gang, have as many evicted as that needs, so that no gang is
too large ever to start.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.contention import STUCK_REASONS
from fourleaf.k8s_bridge.relocation.evictions.history import (
    HOUR_SECONDS,
    UNREAD_SECONDS,
    EvictionHistory,
)
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.reasons.text import counted
from fourleaf.model.running_gang import EvictionLimit, StandingGang

EVICTIONS_LEASE = "fourleaf-evictions"
"""The Lease that keeps those of relocations that are over; the others are their own records."""
MERGED_SECONDS = 60.0
"""What one namespace causes in that many seconds is one row, as of their end."""


@dataclass(slots=True, eq=False)
class CausedEvictions(EvictionHistory):
    """What each namespace has caused, and which gangs wait for that. Counted in pods."""

    seconds: float = HOUR_SECONDS
    cache: ClusterCache = field(kw_only=True)
    _waits: dict[GangKey, Reason] = field(default_factory=dict)

    @property
    def is_limited(self) -> bool:
        """Whether the config has a limit for some namespace."""
        policies = self.cache.config.spec.namespaces.values()
        return any(one.max_evictions is not None for one in policies)

    def ended(self, one: Relocation, now: float) -> None:
        """A relocation has ended: those of its leavers that do not stand any more were told to go.

        Not those that stayed, because room came without them or the API kept them.
        """
        pods = sum(not self._stands(uid, node) for uid, node in _others(one))
        if not pods or not self.is_limited:
            return
        self._charge(one.gang.namespace, pods, now)

    def begun(self, moved: Mapping[str, int], now: float) -> None:
        """So many pods of others are moved for gangs of each namespace from now on."""
        for who, pods in moved.items() if self.is_limited else ():
            self._charge(who, pods, now)

    def _charge(self, who: str, pods: int, now: float) -> None:
        at = (now // MERGED_SECONDS + 1) * MERGED_SECONDS
        before = sum(row[2] for row in self.rows if row[:2] == (at, who))
        self.rows = [row for row in self.rows if row[:2] != (at, who)]
        self.add(who, before + pods, at)

    def spent(self, namespace: str, view: ClusterView) -> int:
        """Pods of others that its gangs had evicted within an hour, or are about to."""
        over = sum(
            pods
            for at, who, pods in self.current()
            if who == namespace and at > view.now - self.seconds
        )
        under_way = (len(_others(one)) for one in view.open if one.gang.namespace == namespace)
        return over + sum(under_way)

    def left(self, namespace: str, view: ClusterView) -> int | None:
        """Pods of others that one of its gangs may have evicted; None for what that needs.

        None go until it is known how many did.
        """
        most = self.cache.config.spec.namespace(namespace).max_evictions
        if most is not None and self.unread():
            return 0
        if most is None or (most and not (spent := self.spent(namespace, view))):
            return None
        return max(0, most - spent) if most else 0

    def limits(
        self,
        gang: GangKey,
        lower: Iterable[StandingGang],
        at_fault: Container[GangKey],
        view: ClusterView,
    ) -> tuple[EvictionLimit, ...]:
        """What `gang` may have evicted of others; none where that is whatever it needs.

        Gangs `at_fault` give back what they were lent, which no one else has caused.
        """
        left = self.left(gang.namespace, view)
        if left is None:
            return ()
        pods = frozenset(
            pod
            for one in lower
            if one.gang.key.namespace != gang.namespace and one.gang.key not in at_fault
            for pod in one.live
        )
        who = f"maxEvictions of namespace {gang.namespace}"
        return (EvictionLimit(who, pods, left),) if len(pods) > left else ()

    def waits(
        self, gang: GangKey, why: Reason | None, limits: Iterable[EvictionLimit], view: ClusterView
    ) -> None:
        """Whether `gang` waits for the limit of its namespace, as the answer to its plan says."""
        before = self._waits.pop(gang, None)
        if why is not None and any(str(limit) in why.detail for limit in limits):
            self._waits[gang] = self._reason(gang, view)
        if self._waits.get(gang) != before:
            # It is told by the next cycle.
            self.cache.changed.set()

    def told(self, plan: Plan) -> Plan:
        """`plan`, in which gangs that wait for the limit of their namespace say so."""
        if not self._waits:
            return plan
        return replace(plan, waiting=tuple(map(self._told, plan.waiting)))

    def forget(self, view: ClusterView) -> None:
        """Forget gangs that wait no more."""
        self._waits = {gang: why for gang, why in self._waits.items() if gang in view.gangs}

    def _told(self, one: Waiting) -> Waiting:
        why = self._waits.get(one.gang)
        if why is None or one.reason.kind not in STUCK_REASONS:
            return one
        return replace(one, reason=replace(why, near=one.reason.near))

    def _reason(self, gang: GangKey, view: ClusterView) -> Reason:
        most = self.cache.config.spec.namespace(gang.namespace).max_evictions or 0
        if self.unread():
            return Reason(
                ReasonKind.EVICTIONS_FORBIDDEN,
                f"how many pods of other namespaces gangs of namespace {gang.namespace} had "
                f"evicted within an hour is not known, since Lease {EVICTIONS_LEASE} cannot be "
                f"read, and {most:,} are allowed",
                (("limit", most),),
                unblock=(
                    f"Wait until it is read; {UNREAD_SECONDS / 60:g} minutes after the first try, "
                    "those before count for nothing. The scheduler's log (not_loaded) says why.",
                ),
            )
        spent = self.spent(gang.namespace, view)
        return Reason(
            ReasonKind.EVICTIONS_FORBIDDEN,
            f"gangs of namespace {gang.namespace} had {counted(spent, 'pod')} of other namespaces "
            f"evicted within an hour, and {most:,} are allowed",
            (("evicted", spent), ("limit", most)),
            unblock=(
                "wait until others end, or until an hour has passed",
                f"or raise maxEvictions of namespace {gang.namespace} in the config",
            ),
        )

    def _stands(self, uid: str, node: str) -> bool:
        seen = self.cache.seen(uid)
        return seen is not None and seen.node == node and not seen.finished and not seen.deleting


def _others(one: Relocation) -> list[tuple[str, str]]:
    """UID and node of the leavers of a preemption that are of other namespaces than its gang."""
    if one.purpose is not Purpose.PREEMPTION:
        return []
    space = one.gang.namespace
    return [(x.pod.uid, x.node) for x in one.leavers if x.pod.namespace != space]
