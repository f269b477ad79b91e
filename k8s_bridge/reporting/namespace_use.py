"""What each namespace has, may have, and waits for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fourleaf.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class NamespaceUse:
    """GPUs in use and waited for, gangs that wait, and for how many seconds the oldest has.

    `quota` in GPUs, None where there is none. Gangs that are held back wait for something of their
    own, such as members that are missing: `longest_wait` counts the others.
    """

    used_gpus: int = 0
    pending_gpus: int = 0
    pending_gangs: int = 0
    longest_wait: float = 0.0
    quota: int | None = None

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to tell of it."""
        return self.quota is None and not (self.used_gpus or self.pending_gangs)

    def with_other(self, other: NamespaceUse) -> NamespaceUse:
        """Both as one: sums, and the longer wait. Quotas of several make no quota."""
        return NamespaceUse(
            self.used_gpus + other.used_gpus,
            self.pending_gpus + other.pending_gpus,
            self.pending_gangs + other.pending_gangs,
            max(self.longest_wait, other.longest_wait),
        )


def namespace_use(snapshot: Snapshot, now: float) -> Mapping[str, NamespaceUse]:
    """The use of each namespace that has a quota, pods on nodes, or gangs that wait.

    `now` in seconds since the epoch. GPUs in use are those that its quota counts.
    """
    used: dict[str, int] = {}
    for pod in snapshot.running:
        used[pod.namespace] = used.get(pod.namespace, 0) + pod.request.gpus
    gpus: dict[str, int] = {}
    gangs: dict[str, int] = {}
    waits: dict[str, float] = {}
    for gang in snapshot.gangs:
        name = gang.key.namespace
        gpus[name] = gpus.get(name, 0) + gang.gpus
        gangs[name] = gangs.get(name, 0) + 1
        if gang.hold is None:
            waits[name] = max(waits.get(name, 0.0), now - gang.created)
    spec = snapshot.config.spec
    return {
        name: NamespaceUse(
            used.get(name, 0),
            gpus.get(name, 0),
            gangs.get(name, 0),
            waits.get(name, 0.0),
            spec.namespace(name).gpu_quota,
        )
        for name in sorted({*used, *gangs, *spec.namespaces})
    }
