"""The sections of the config about what happens to gangs that already run."""

from __future__ import annotations

from pydantic import Field

from fourleaf.model.config.values import Section
from fourleaf.model.running_gang import RepairPolicy


class Repair(Section):
    """What happens to gangs that lose members.

    `policy` holds where the gang says nothing. Places are kept for `placesSeconds` for members
    that have yet to come back, for `placesLimitSeconds` while their Job, ReplicaSet or StatefulSet
    is still to make them. With `endLostPodsAtOnce`, a pod on a node that is found dead is evicted
    without time to stop, so that it is gone though no kubelet ends it: a StatefulSet makes no other
    one before. Where only the network of the host is cut, both may run until it is back.
    """

    enabled: bool = True
    policy: RepairPolicy = RepairPolicy.MOVE
    places_seconds: float = Field(default=300.0, gt=0, le=86400)
    places_limit_seconds: float = Field(default=900.0, gt=0, le=86400)
    end_lost_pods_at_once: bool = False


class Preemption(Section):
    """Whether gangs may take the place of lower ones, and how often one gang may.

    A gang that has waited for `afterSeconds` may; once it has, not again for `windowSeconds`.
    """

    enabled: bool = True
    after_seconds: float = Field(default=5.0, ge=0, le=86400)
    window_seconds: float = Field(default=300.0, gt=0, le=86400)


class Defragmentation(Section):
    """Moves of running gangs that make room: how often they are looked for, and how many.

    `everySeconds` of 0: only when asked. A gang moves `minimumRuntimeSeconds` after
    it started at the earliest, and at most `perGangPerDay` times a day.
    """

    every_seconds: float = Field(default=0.0, ge=0, le=604800)
    moves_per_hour: int = Field(default=16, ge=0, le=100000)
    per_gang_per_day: int = Field(default=2, ge=0, le=1000)
    minimum_runtime_seconds: float = Field(default=1800.0, ge=0, le=31536000)


class Backfill(Section):
    """Room kept for gangs that have waited for long.

    After `afterSeconds` the first gang of a tier that cannot start gets a window in time;
    others may use its place if they are expected to have ended before.
    """

    enabled: bool = True
    after_seconds: float = Field(default=600.0, ge=0, le=31536000)
