"""Room kept by namespace: how long one may keep it idle where others wait, and whose turn it is.

A namespace may always keep its share: its quota of GPUs, and where it has none, an equal part of
all GPUs for each namespace of which gangs wait at that priority. What it keeps idle beyond that
adds up, and the share pays it back. So a gang that is larger than the share has its turn, and over
time no namespace keeps more room idle than its share.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.records import (
    NOT_STARTED,
    OVER_SHARE,
    PLACE_LATE,
    UNREADY,
    Purpose,
    Relocation,
)
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.node import GPU_SOURCE_LABEL, OF_DEVICE_MAPS

START_SECONDS = 60.0
"""Seconds within which a gang has to start once all of its places are free."""
LATE_SECONDS = 180.0
"""Seconds after which a place that is to be free is late: who was lent it has been told to go."""
LOOK_LIMIT_SECONDS = 5.0
"""Seconds since the last look that count at most: where looks are rarer, no gang waited."""

_OWN_FAULT = frozenset({UNREADY, NOT_STARTED, OVER_SHARE})
"""Why a reservation ended after which the gangs of its namespace wait as if they had just come."""


@dataclass(frozen=True, slots=True)
class _Unused:
    """A reservation ended unused `at`, on the monotonic clock."""

    at: float
    is_own_fault: bool


@dataclass(slots=True, eq=False)
class KeptRoom:
    """Who keeps room in one term; the next leader begins anew.

    The `seconds` that are given are those for which a gang waits before a place is kept for it.
    """

    cache: ClusterCache
    clock: Clock
    _excess: dict[str, float] = field(default_factory=dict)
    """Namespace -> GPU-seconds that it has kept idle beyond its share, and not paid back."""
    _sharers: dict[str, int] = field(default_factory=dict)
    """Of these -> how many namespaces shared all GPUs when it last kept room."""
    _shares: dict[str, float] = field(default_factory=dict)
    _unused: dict[str, _Unused] = field(default_factory=dict)
    _free_since: dict[GangKey, float] = field(default_factory=dict)
    _looked: float = field(init=False)

    def __post_init__(self) -> None:
        self._looked = self.clock.monotonic()

    def look(self, view: ClusterView, waiting: Iterable[Gang], free: Iterable[GangKey]) -> None:
        """Count what is kept idle while gangs are `waiting`; all places of the gangs `free` are."""
        now = self.clock.monotonic()
        since, self._looked = now - self._looked, now
        self._free_since = {gang: self._free_since.get(gang, now) for gang in free}
        kept = [one for one in view.open if one.purpose is Purpose.RESERVATION]
        idle = _idle(kept, view)
        self._sharers |= _sharers(kept, waiting)
        # As they are now: a quota, or nodes, that were away for a while must not count for ever.
        self._shares = _shares(self._sharers, view)
        for name, share in self._shares.items():
            more = idle[name] * min(since, LOOK_LIMIT_SECONDS) - share * since
            self._excess[name] = max(0.0, self._excess.get(name, 0.0) + more)
        self._excess = {n: over for n, over in self._excess.items() if over or n in idle}
        self._sharers = {name: self._sharers[name] for name in self._excess}

    def why_over(self, one: Relocation, seconds: float, moment: float) -> str:
        """Why a reservation is to end at this `moment`, since the epoch, "" where it is not."""
        name, now = one.gang.namespace, self.clock.monotonic()
        if one.starts and moment > one.starts + LATE_SECONDS and one.gang not in self._free_since:
            return PLACE_LATE
        if now - self._free_since.get(one.gang, now) >= START_SECONDS:
            return NOT_STARTED
        is_over = self._excess.get(name, 0.0) > self._shares.get(name, 0.0) * seconds
        return OVER_SHARE if is_over else ""

    def begun(self, namespace: str, seconds: float) -> None:
        """A place is kept for a gang of `namespace`: the others have let it go first."""
        self._unused = {
            name: one
            for name, one in self._unused.items()
            if name == namespace or self._is_new(name, seconds)
        }

    def ended(self, one: Relocation, why: str) -> None:
        """A reservation has ended; `why` it ended early, "" where it has served."""
        seen = (self.cache.seen(seat.pod.uid) for seat in one.seats)
        if why not in ("", PLACE_LATE) and not any(pod is not None and pod.node for pod in seen):
            at, is_own_fault = self.clock.monotonic(), why in _OWN_FAULT
            self._unused[one.gang.namespace] = _Unused(at, is_own_fault)

    def rests(self, namespace: str, seconds: float) -> bool:
        """Whether no place may be kept for a namespace yet."""
        return self._is_new(namespace, seconds) or self._excess.get(namespace, 0.0) > 0.0

    def left_unused(self, namespace: str) -> float:
        """When it has left a place unused that was kept for it, which lets others come first."""
        last = self._unused.get(namespace)
        return -math.inf if last is None else last.at

    def _is_new(self, namespace: str, seconds: float) -> bool:
        """Whether the gangs of a namespace wait as if they had just come."""
        last = self._unused.get(namespace)
        return last is not None and last.is_own_fault and self.clock.monotonic() < last.at + seconds


def _idle(kept: Collection[Relocation], view: ClusterView) -> Mapping[str, int]:
    """Namespace -> GPUs that are free on the nodes of its seats, and kept for these."""
    wanted: dict[str, Counter[str]] = {}
    for one in kept:
        nodes = wanted.setdefault(one.gang.namespace, Counter())
        for seat in one.seats:
            nodes[seat.node] += seat.request.gpus
    free = view.reading.snapshot.free
    found: Counter[str] = Counter()
    for name, nodes in wanted.items():
        for node, gpus in nodes.items():
            found[name] += max(0, min(gpus, free[node].gpus)) if node in free else 0
    return found


def _sharers(kept: Iterable[Relocation], waiting: Iterable[Gang]) -> dict[str, int]:
    """Namespace that keeps room -> how many have gangs that wait at that priority, with itself."""
    rivals: dict[int, set[str]] = {}
    for gang in waiting:
        rivals.setdefault(gang.priority, set()).add(gang.key.namespace)
    return {
        one.gang.namespace: len(rivals.get(one.priority, set()) | {one.gang.namespace})
        for one in kept
    }


def _shares(sharers: Mapping[str, int], view: ClusterView) -> dict[str, float]:
    """Namespace -> the GPUs that it may always keep."""
    if not sharers:
        return {}
    spec = view.cache.config.spec
    # What maps alone name may be any number, and is open to no other pods.
    gpus = sum(
        node.allocatable.gpus
        for node in view.reading.snapshot.fabric.nodes.values()
        if node.labels.get(GPU_SOURCE_LABEL) != OF_DEVICE_MAPS
    )
    quotas = {name: spec.namespace(name).gpu_quota for name in sharers}
    return {
        name: float(gpus) / sharers[name] if quota is None else float(quota)
        for name, quota in quotas.items()
    }
