"""When a waiting gang could start, with all solves in this process."""

from __future__ import annotations

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Placement, PlanStatus, Stage
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.start import Start
from fourleaf.solver.batch.place_gangs import place_gangs
from fourleaf.solver.batch.select_gangs import Chosen, select_gangs
from fourleaf.solver.batch.to_plan import placement_of
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.forecast.ask import fits_alone
from fourleaf.solver.forecast.earliest_start import earliest_start, starts_in_order
from fourleaf.solver.forecast.timeline import Timeline
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroups, gang_groups_for
from fourleaf.solver.instance.phantoms import phantom_units
from fourleaf.solver.objective.scorer import Scorer
from fourleaf.solver.relocation.participants import waiting_gang
from fourleaf.solver.relocation.preempt import preempt

NO_EXTENSIONS = Extensions()

SECONDS = 60.0
"""Enough on the slowest machine: what is compared here is the answer, not the time."""


def _unheard(_: Stage) -> None:
    """Nobody listens to the stages."""


def earliest(
    snapshot: Snapshot, key: GangKey, extensions: Extensions = NO_EXTENSIONS
) -> Start | None:
    """The earliest start of the waiting gang `key` if nobody new came, as if it waited alone.

    `None` where the time ran out before any was found. `snapshot.standing` are the gangs that
    it may have to wait for. Raises `KeyError` where no gang `key` waits.
    """
    gang = waiting_gang(snapshot, key)
    found = earliest_start(Timeline(snapshot), gang, _Own(extensions))
    unknown = found.at is None and not found.proven and not found.waits_for
    return None if unknown else found


def expected_starts(
    snapshot: Snapshot, extensions: Extensions = NO_EXTENSIONS
) -> dict[GangKey, Start]:
    """The expected start of every waiting gang, in the order of planning, each after the last."""
    return starts_in_order(snapshot, _Own(extensions))


class _Own:
    """Solves in this process, all within `SECONDS`.

    The search for whom to wait for has that time once more.
    """

    def __init__(self, extensions: Extensions) -> None:
        self._extensions = extensions
        self._clock = Deadline(SECONDS)

    def fits(self, snapshot: Snapshot) -> bool | None:
        quick = fits_alone(snapshot, self._extensions)
        if quick is not None:
            return quick
        _, _, chosen = self._chosen(snapshot)
        if chosen is None:
            return None
        proven = all(stage.proven for stage in chosen.stages)
        return bool(chosen.gangs) or (False if proven else None)

    def place(self, snapshot: Snapshot) -> Placement | None:
        factory, scorer, chosen = self._chosen(snapshot)
        if chosen is None or not chosen.gangs:
            return None
        state = scorer.state
        groups, rooms = factory.for_where(chosen.gangs), phantom_units(state, factory)
        located = place_gangs(state, groups, rooms, scorer, self._clock, chosen.refined)
        placed = chosen.anywhere if located is None else located.decoded.gangs
        return placement_of(state, scorer, placed[0])

    def fewest(self, snapshot: Snapshot) -> tuple[tuple[GangKey, ...], bool]:
        plan = preempt(snapshot, snapshot.gangs[0].key, self._extensions)
        if plan is None:
            return (), False
        return tuple(victim.gang for victim in plan.victims), plan.status is PlanStatus.OPTIMAL

    def _chosen(self, snapshot: Snapshot) -> tuple[GangGroups, Scorer, Chosen | None]:
        factory = gang_groups_for(snapshot, self._extensions)
        state = CycleState(snapshot, factory.fabric)
        scorer = Scorer(state)
        groups = factory.for_who(snapshot.gangs)
        return factory, scorer, select_gangs(state, groups, scorer, self._clock, _unheard)
