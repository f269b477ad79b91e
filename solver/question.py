"""What is asked of the solver process, and how the parent judges and completes the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from fourleaf.model.extensions import Extensions
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import Breach
from fourleaf.solver.tasks import Outcome, Task

P = TypeVar("P", bound=Outcome)


@dataclass(frozen=True, slots=True)
class Question(Generic[P]):
    """One call, and the pure Python steps around it.

    `own` makes a legal answer without the solver, `nothing` one that changes nothing.
    `breaches` says what is illegal in an answer, `worse` whether the first of two is worth
    less than the second, `explain` adds the reasons of gangs without a place. `own` and
    `explain` take the moment (monotonic seconds) at which to hand over what they have.
    """

    task: Task
    snapshot: Snapshot
    kind: type[P]
    own: Callable[[Extensions, float], P]
    nothing: Callable[[], P]
    breaches: Callable[[P, Extensions], Sequence[Breach]]
    worse: Callable[[P, P], bool]
    explain: Callable[[P, Extensions, float], P]
