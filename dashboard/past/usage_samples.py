"""How full the fabric was and how many waited, minute by minute over a day."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from fourleaf.k8s_bridge.reporting.fabric_usage import fabric_usage
from fourleaf.model.snapshot import Snapshot

SAMPLE_SECONDS = 60.0
"""Seconds between two samples."""
MOST_SAMPLES = 24 * 60
"""Samples that are kept: those of a day."""


@dataclass(frozen=True, slots=True)
class UsageSample:
    """GPUs of all nodes and those in use, gangs that wait and their GPUs; `at` since the epoch.

    `fragmentation` is the share of free GPUs, from 0 to 1, that are in no wholly free leaf. What is
    not known of that moment is None.
    """

    at: float
    waiting: int
    gpus: int | None = None
    used: int | None = None
    waiting_gpus: int | None = None
    fragmentation: float | None = None


class UsageSamples:
    """The newest `MOST_SAMPLES` samples, the newest last."""

    def __init__(self) -> None:
        self._samples: deque[UsageSample] = deque(maxlen=MOST_SAMPLES)

    def add(self, snapshot: Snapshot) -> bool:
        """Take a sample of `snapshot` where it is time for one; whether it was."""
        at = snapshot.now
        if self._samples and 0 <= at - self._samples[-1].at < SAMPLE_SECONDS:
            return False
        usage = fabric_usage(snapshot)
        gpus = sum(node.allocatable.gpus for node in snapshot.fabric.nodes.values())
        sample = UsageSample(
            at=at,
            waiting=len(snapshot.gangs),
            gpus=gpus,
            used=round(usage.allocation * gpus),
            waiting_gpus=sum(gang.gpus for gang in snapshot.gangs),
            fragmentation=usage.fragmentation,
        )
        self._samples.append(sample)
        return True

    def put_before(self, older: Iterable[UsageSample]) -> None:
        """Put samples before those that are there, where they are older."""
        mine = list(self._samples)
        first = mine[0].at if mine else float("inf")
        known = [one for one in older if one.at < first]
        self._samples = deque([*known, *mine], maxlen=MOST_SAMPLES)

    @property
    def all(self) -> tuple[UsageSample, ...]:
        """All samples in their order."""
        return tuple(self._samples)
