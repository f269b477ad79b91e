"""Gangs moved together: who may move, and what the moves win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fourleaf.model.gang import GangKey
from fourleaf.model.previews.drain import GangSource
from fourleaf.model.previews.ended_jobs import lasting_jobs
from fourleaf.model.relocation import DefragPlan
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class DefragPreview:
    """What at most `budget` moves win: the plan, and the gang of every pod that moves.

    `movable` gangs may move now; `young` ones have not run for long enough.
    """

    plan: DefragPlan
    gangs: dict[tuple[str, str], GangKey]
    budget: int
    movable: int
    young: int


def movers(reading: GangSource) -> tuple[tuple[StandingGang, ...], int]:
    """The gangs that may move now, and how many more there will be once they have run longer."""
    least = reading.snapshot.config.spec.defragmentation.minimum_runtime_seconds
    now = reading.snapshot.now
    movable = [one for one in reading.standing((), False) if one.movable and not one.hit]
    ready = tuple(one for one in movable if now - one.started >= least)
    return ready, len(movable) - len(ready)


def gathering(reading: GangSource, ready: Sequence[StandingGang]) -> Snapshot:
    """The snapshot in which the gangs `ready` may move, as far as their pods may be evicted."""
    members = [pod for one in ready for pod in one.members]
    limits = (*reading.eviction_limits(members), *lasting_jobs(reading, members))
    return replace(reading.snapshot, standing=tuple(ready), eviction_limits=limits)


def gathered(
    plan: DefragPlan, ready: Sequence[StandingGang], budget: int, young: int
) -> DefragPreview:
    """Put together what `plan`, made for the gangs `ready`, means."""
    gangs = {pod: one.gang.key for one in ready for pod in one.live}
    return DefragPreview(plan, gangs, budget, len(ready), young)
