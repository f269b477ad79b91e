"""What runs at a later moment, if no new gang comes but those whose start is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fourleaf.model.gang import Gang
from fourleaf.model.plan import Placement
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import RunningPod, Snapshot, once_placed

OVERDUE_SECONDS = 60.0
"""Seconds from now after which a pod is expected to be gone that should have ended already; one
that should have ended longer ago than that has no known end any more."""


@dataclass(frozen=True, slots=True)
class Reserved:
    """A waiting gang on the place that it gets at `start`; without an `end` it stays for ever."""

    gang: Gang
    placement: Placement
    start: float
    end: float | None

    def overlaps(self, moment: float, seconds: float | None) -> bool:
        """Whether it holds its place at some time within `seconds` (None: for ever) of `moment`."""
        gone = self.end is not None and self.end <= moment
        later = seconds is not None and self.start >= moment + seconds
        return not gone and not later


class Timeline:
    """The running pods of a snapshot by when they end. `moments` are now and all ends, in order."""

    def __init__(self, snapshot: Snapshot, reserved: Sequence[Reserved] = ()) -> None:
        now = snapshot.now
        self.reserved = tuple(reserved)
        self._snapshot = snapshot
        self._pods = [(_end(pod, now), pod) for pod in snapshot.running]
        ends = {end for end, _ in self._pods if end is not None}
        ends |= {one.end for one in self.reserved if one.end is not None}
        self.moments = (now, *sorted(end for end in ends if end > now))

    def with_reserved(self, one: Reserved) -> Timeline:
        """The same with one more gang whose start is known."""
        return Timeline(self._snapshot, (*self.reserved, one))

    def beside(self, moment: float, seconds: float | None) -> list[Reserved]:
        """Whose places a gang must leave alone that runs for `seconds` from `moment` on."""
        return [one for one in self.reserved if one.overlaps(moment, seconds)]

    def at(self, moment: float, gang: Gang, beside: Iterable[Reserved]) -> Snapshot:
        """The cluster at `moment`, where `gang` alone waits `beside` others; its own pods stay."""
        running = [
            pod
            for end, pod in self._pods
            if end is None or end > moment or (pod.gang == gang.key and pod.ours)
        ]
        running += [pod for one in beside for pod in once_placed(one.gang, one.placement, one.end)]
        return replace(self._snapshot, running=tuple(running), gangs=(gang,), standing=())

    def in_the_end(self, gang: Gang) -> Snapshot:
        """The cluster once all ends have passed: what still stands may be asked to go for `gang`.

        Running gangs are worth the same: they differ in nothing but their pods.
        """
        last = self.moments[-1]
        snapshot = self.at(last, gang, self.beside(last, None))
        there = {(pod.namespace, pod.name) for pod in snapshot.running}
        standing = [_left(one.gang, there) for one in self._snapshot.standing]
        standing += [_left(_standing(one), there) for one in self.beside(last, None)]
        victims = tuple(
            StandingGang(replace(one, priority=gang.priority - 1))
            for one in standing
            if one.key != gang.key and any(role.bound for role in one.roles)
        )
        return replace(snapshot, standing=victims)


def _end(pod: RunningPod, now: float) -> float | None:
    """When it is expected to be gone, None where that is not known."""
    if pod.ends is None or pod.ends + OVERDUE_SECONDS < now:
        return None
    return pod.ends if pod.ends > now else now + OVERDUE_SECONDS


def _standing(one: Reserved) -> Gang:
    """The gang once it has started."""
    nodes = dict(one.placement.pods)
    roles = tuple(
        replace(role, pods=(), bound=(*role.bound, *((pod, nodes[pod]) for pod in role.pods)))
        for role in one.gang.roles
    )
    return replace(one.gang, roles=roles)


def _left(gang: Gang, there: set[tuple[str, str]]) -> Gang:
    """Those of the gang's members that are still there."""
    space = gang.key.namespace
    roles = []
    for role in gang.roles:
        bound = tuple((pod, node) for pod, node in role.bound if (space, pod) in there)
        roles.append(replace(role, pods=(), bound=bound))
    return replace(gang, roles=tuple(roles))
