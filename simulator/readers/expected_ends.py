"""How long gangs may be expected to run that do not say so: as long as those recorded before."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from statistics import median_low

from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.readers.recorded import Recording

LEAST_GANGS = 3
"""Gangs of one kind that must have ended before others are judged by them."""

GangKindKey = tuple[str, int, int]
"""Namespace, pods and GPUs: whose gangs are alike. A tenant's gangs say nothing of others'."""


class ExpectedDurations:
    """Seconds that the gangs of a recording ran which began and ended while it was recorded."""

    def __init__(self, found: Recording) -> None:
        self._runs: Mapping[GangKindKey, list[float]] = defaultdict(list)
        for one in found.gangs.values():
            if one.why is not None and not one.unseen and one.has_run and not one.before:
                roles = one.shape.roles
                gpus = sum(role.pods * role.request.gpus for role in roles)
                kind = (one.key.namespace, sum(role.pods for role in roles), gpus)
                self._runs[kind].append(one.ran)

    def of(self, gang: Gang, ran: float = 0.0) -> float | None:
        """The median of what gangs like it ran that ran for longer than `ran` seconds.

        None where those are fewer than `LEAST_GANGS`.
        """
        kind = (gang.key.namespace, sum(role.size for role in gang.roles), gang.gpus)
        longer = [seconds for seconds in self._runs.get(kind, ()) if seconds > ran]
        return median_low(longer) if len(longer) >= LEAST_GANGS else None


def with_expected_ends(snapshot: Snapshot, known: ExpectedDurations) -> tuple[Snapshot, int]:
    """The same snapshot with ends and durations where none are stated; of how many gangs.

    Its `standing` has to hold all gangs that run. What a pod states is kept.
    """
    ends: dict[GangKey, float] = {}
    for one in snapshot.standing:
        ran = max(0.0, snapshot.now - one.started)
        seconds = known.of(one.gang, ran) if one.started else None
        if seconds is not None:
            ends[one.gang.key] = one.started + seconds
    helped: Counter[GangKey] = Counter()
    running = []
    for pod in snapshot.running:
        if pod.ends is None and pod.gang is not None and pod.gang in ends:
            helped[pod.gang] += 1
            running.append(replace(pod, ends=ends[pod.gang]))
        else:
            running.append(pod)
    gangs = []
    for gang in snapshot.gangs:
        seconds = known.of(gang) if gang.duration is None else None
        if seconds is None:
            gangs.append(gang)
        else:
            helped[gang.key] += 1
            gangs.append(replace(gang, duration=seconds))
    return replace(snapshot, running=tuple(running), gangs=tuple(gangs)), len(helped)
