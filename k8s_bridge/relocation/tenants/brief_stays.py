"""Gangs that others made way for and that did not stay: they wait after that, ever longer.

Who may preempt could otherwise take one running gang after the other out, with pods that it deletes
as soon as they run, or that fail as soon as they run and are made again. So could one that never
gets the room: as others are bound to it first, or the API refuses its bindings, but no dry run.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.pods import PodSeen
from fourleaf.k8s_bridge.relocation.records import (
    SEAT_CLOSED,
    SEAT_GONE,
    VICTIMS_STAY,
    Purpose,
    Relocation,
)
from fourleaf.k8s_bridge.runtime.api_text import second
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.gang import GangKey
from fourleaf.model.reasons.text import counted

LONGEST_BAR_SECONDS = 86400.0
"""Seconds that a gang waits for at most, and for which it is remembered that it had to."""
DISRUPTED = "DisruptionTarget"
"""The condition of a pod that was evicted, preempted, or lost with its node."""
BY_REQUEST = "EvictionByEvictionAPI"
"""Why one was that its own team may have evicted: a drain cordons the node first."""
LOOK_SECONDS = 1.0
"""Seconds between two looks at the members of gangs that others have made way for."""


@dataclass(frozen=True, slots=True)
class _Served:
    """Pods were evicted for the members `pods` of a gang, on their nodes, which was over `at`."""

    at: float
    pods: frozenset[tuple[Target, str]]


@dataclass(frozen=True, slots=True)
class _Bar:
    """So many `times` in a row pods went for nothing: none is evicted for the gang `until`."""

    times: int
    until: float


@dataclass(slots=True, eq=False)
class BriefStays:
    """Who has others evicted for nothing, in one term; the next leader begins anew.

    All times are on the monotonic clock.
    """

    cache: ClusterCache
    clock: Clock
    _served: dict[GangKey, _Served] = field(default_factory=dict)
    _barred: dict[str, float] = field(default_factory=dict)
    """Namespace -> until when it has no pod evicted."""
    _bars: dict[GangKey, _Bar] = field(default_factory=dict)
    _next_look: float = -math.inf

    def ended(self, one: Relocation, why: str) -> None:
        """A relocation is over: note the gang, where pods had to go for it.

        `why` it ended early, "" where it has served.
        """
        self._excuse({leaver.pod.uid for leaver in one.leavers}, ())
        if why == VICTIMS_STAY or why.endswith((SEAT_CLOSED, SEAT_GONE)):
            return
        if one.purpose is Purpose.PREEMPTION and any(
            (seen := self.cache.seen(leaver.pod.uid)) is None or seen.deleting
            for leaver in one.leavers
        ):
            pods = frozenset((seat.pod, seat.node) for seat in one.seats)
            self._served[one.gang] = _Served(self.clock.monotonic(), pods)

    def was_in_vain(self, gang: GangKey, seconds: float) -> None:
        """Pods have gone so that a gang could have their places, and it has not come."""
        self._served[gang] = _Served(self.clock.monotonic(), frozenset())
        self._bar_namespace(gang, seconds)
        self._note(gang, seconds)

    def hear(self, open_: Iterable[Relocation], dead: Collection[str], seconds: float) -> None:
        """Note the gangs of which the members that pods went for have ended.

        Each that failed counts, or all of them, however they ended; but those on nodes that are
        `dead`, gone or cordoned, those that a kubelet or a controller has disrupted, and those
        that an `open_` relocation sends away.
        """
        now = self.clock.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_SECONDS
        self._barred = {name: until for name, until in self._barred.items() if until > now}
        self._bars = {
            gang: bar for gang, bar in self._bars.items() if bar.until + LONGEST_BAR_SECONDS > now
        }
        self._forget_lasting(seconds)
        self._excuse({leaver.pod.uid for one in open_ for leaver in one.leavers}, dead)
        for gang, served in list(self._served.items()):
            seen = [(pod, self.cache.seen(pod.uid)) for pod, _ in served.pods]
            are_over = bool(seen) and all(_is_over(one) for _, one in seen)
            if are_over or any(self._has_failed(pod, one) for pod, one in seen):
                self._bar_namespace(gang, seconds)
                self._note(gang, seconds)

    def wait(self, gang: GangKey, seconds: float) -> float:
        """Seconds until pods may be evicted again for a gang that waits.

        One for whose members that wait still they were has not had the room: it alone has to wait
        longer each time, for `seconds` at first.
        """
        served = self._served.get(gang)
        if served is not None and self._waits(served):
            self._note(gang, seconds)
        return self._seconds(gang)

    def _seconds(self, gang: GangKey) -> float:
        bar = self._bars.get(gang)
        until = max(self._barred.get(gang.namespace, 0.0), bar.until if bar else 0.0)
        return max(0.0, until - self.clock.monotonic())

    def why(self, gang: GangKey, seconds: float) -> str:
        """What tells a gang that none goes for it, where it would have to within `seconds`."""
        until = second(math.ceil(self.clock.wall() + self._seconds(gang)))
        bar = self._bars.get(gang)
        if bar is None or bar.until <= self.clock.monotonic():
            return (
                f"No pods are evicted for it until {until}: pods went for a gang of its namespace "
                f"that was gone, or had failed, within {seconds:g} s, or did not use its places. "
                "To unblock: wait"
            )
        return (
            f"No pods are evicted for it until {until}: pods went for it "
            f"{counted(bar.times, 'time')} in a row, and each time its members had ended within "
            f"{seconds:g} s, or had not come to the room or not been bound there. To unblock: "
            "mend what ends them or keeps them, or wait"
        )

    def _bar_namespace(self, gang: GangKey, seconds: float) -> None:
        """The namespace of a gang that did not stay waits for `seconds`."""
        name = gang.namespace
        self._barred[name] = max(self._served[gang].at + seconds, self._barred.get(name, 0.0))

    def _note(self, gang: GangKey, seconds: float) -> None:
        """A gang has not stayed, or not come: it waits for `seconds`, and longer each time."""
        at, now = self._served.pop(gang).at, self.clock.monotonic()
        before = self._bars.get(gang)
        times = before.times + 1 if before else 1
        longest = min(seconds * 2.0 ** min(times - 1, 30), LONGEST_BAR_SECONDS)
        self._bars[gang] = _Bar(times, max(at + longest, now))

    def _forget_lasting(self, seconds: float) -> None:
        """Those that have stayed for so many seconds are as good as any other gang."""
        now = self.clock.monotonic()
        for gang, served in list(self._served.items()):
            if served.at + seconds <= now and not self._waits(served):
                del self._served[gang]
                self._bars.pop(gang, None)

    def _waits(self, served: _Served) -> bool:
        """Whether a member for which pods went stands nowhere still."""
        seen = (self.cache.seen(pod.uid) for pod, _ in served.pods)
        return any(one is not None and not one.node and not _is_over(one) for one in seen)

    def _excuse(self, told: Collection[str], dead: Collection[str]) -> None:
        """Members that had to leave, or lost their nodes, have not ended by themselves."""
        for gang, served in self._served.items():
            there = frozenset(
                (pod, node)
                for pod, node in served.pods
                if pod.uid not in told and not self._had_to_go(pod, node, dead)
            )
            if there != served.pods:
                self._served[gang] = _Served(served.at, there)

    def _had_to_go(self, pod: Target, name: str, dead: Collection[str]) -> bool:
        """Whether it has to, or had to, for what became of its node or what others did."""
        node = self.cache.objects.get(NODES, {}).get(("", name))
        if name in dead or node is None or (node.get("spec") or {}).get("unschedulable"):
            return True
        body = self.cache.objects.get(PODS, {}).get((pod.namespace, pod.name), {})
        conditions = (body.get("status") or {}).get("conditions") or ()
        return any(
            one.get("type") == DISRUPTED
            and one.get("status") == "True"
            and one.get("reason") != BY_REQUEST
            for one in conditions
        )

    def _has_failed(self, pod: Target, seen: PodSeen | None) -> bool:
        """Whether it has, though it was not told to end."""
        if seen is None or seen.deleting or not seen.finished:
            return False
        body = self.cache.objects.get(PODS, {}).get((pod.namespace, pod.name), {})
        return (body.get("status") or {}).get("phase") == "Failed"


def _is_over(seen: PodSeen | None) -> bool:
    return seen is None or seen.finished or seen.deleting
