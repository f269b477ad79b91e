"""Who takes part in a relocation, and as what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fourleaf.model.gang import Gang
from fourleaf.model.mix import LikelyGang
from fourleaf.solver.relocation.movers import Mover
from fourleaf.solver.units import Unit, UnitFactory
from fourleaf.solver.view import View


@dataclass(frozen=True, slots=True, eq=False)
class Cast:
    """The parts of one relocation.

    `view` is the fabric without the pods of the movers. `applicants` look for a place and
    stand nowhere, or may not leave where they stand; `value` is what placing a gang is worth
    within its priority. `must`: all applicants have to be placed. `droppable`: movers may be
    left without a place. `phantoms` are rooms worth keeping.
    """

    view: View
    factory: UnitFactory
    movers: tuple[Mover, ...]
    applicants: tuple[Gang, ...] = ()
    value: Callable[[Gang], int] = lambda gang: gang.weight
    must: bool = False
    droppable: bool = False
    phantoms: tuple[tuple[LikelyGang, Unit], ...] = ()
