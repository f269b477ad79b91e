"""The newest cycles that decided something, as `/cycles` and the dashboard show them."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from fourleaf.k8s_bridge.scheduling.cycle import CycleReport
from fourleaf.model.config.spec import API_VERSION
from fourleaf.model.documents.plan import stage_document
from fourleaf.model.plan import Plan, Stage

HISTORY_CYCLES = 256
"""How many cycles are remembered."""


@dataclass(frozen=True, slots=True)
class CycleNote:
    """One cycle. `at`, when it ended, in seconds since the epoch; `seconds` by phase.

    `lost` counts gangs whose commit did not take, of this cycle or, at last, of an earlier one.
    """

    cycle_id: str
    at: float
    status: str
    objective: int
    bound: int
    gap: float | None
    placed: int
    waiting: int
    lost: int
    seconds: Mapping[str, float]
    stages: tuple[Stage, ...] = ()
    note: str = ""


class CycleHistory:
    """Remembers the newest `HISTORY_CYCLES` cycles, the newest last."""

    def __init__(self) -> None:
        self._notes: deque[CycleNote] = deque(maxlen=HISTORY_CYCLES)

    def add(self, cycle_id: str, at: float, report: CycleReport, plan: Plan, lost: int) -> None:
        """Note a cycle that made `plan`."""
        self._notes.append(
            CycleNote(
                cycle_id,
                at,
                plan.status.value,
                plan.objective,
                plan.bound,
                plan.gap,
                len(plan.placements) - lost,
                len(plan.waiting),
                lost + len(report.lost),
                dict(report.seconds),
                plan.stages,
                plan.note,
            )
        )

    @property
    def notes(self) -> tuple[CycleNote, ...]:
        """All that is remembered."""
        return tuple(self._notes)


class CyclesSource(Protocol):
    """A source of past cycles."""

    def cycles(self) -> tuple[CycleNote, ...]:
        """The newest cycles of this process, the newest last."""


def cycles_document(identity: str, leader: bool, notes: tuple[CycleNote, ...]) -> dict[str, Any]:
    """Past cycles as the JSON document that `/cycles` serves, the newest first."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Cycles",
        "identity": identity,
        "leader": leader,
        "cycles": [_document(note) for note in reversed(notes)],
    }


def _document(note: CycleNote) -> dict[str, Any]:
    return {
        "id": note.cycle_id,
        "at": note.at,
        "status": note.status,
        "objective": note.objective,
        "bound": note.bound,
        "gap": note.gap,
        "placed": note.placed,
        "waiting": note.waiting,
        "lost": note.lost,
        "seconds": {phase: round(took, 6) for phase, took in note.seconds.items()},
        "stages": [stage_document(stage) for stage in note.stages],
        "note": note.note,
    }
