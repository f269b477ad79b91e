"""A claim: pods of one kind in one node class, as the laws about room see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fourleaf.model.resources import Resources
from fourleaf.solver.cpsat.program import Terms


@dataclass(slots=True)
class Demand:
    """Pods that ask for `request` in a node class: their number is the sum of `terms`.

    `room` is how many of them alone fit into the node class. `kept` is how many of them stand there
    already and stay; `stands` how many do so at most, counted once for each gang.
    """

    request: Resources
    terms: Terms
    room: int
    kept: Sequence[tuple[int, int]] = ()
    stands: int = 0
