"""First fit: first come, first served, each gang at the first legal place of the fabric."""

from __future__ import annotations

from fourleaf.simulator.policies.one_by_one import OneByOne, arrival
from fourleaf.solver.batch.greedy import FreeBooks
from fourleaf.solver.instance.candidates import Candidate


class FirstPlace(FreeBooks):
    """Books in which every place is as good as the next."""

    def worth(self, place: Candidate) -> int:  # noqa: ARG002 - none differ
        """Nothing: the first place with room is taken."""
        return 0


class FirstFitPolicy(OneByOne):
    """Leaves in the order of the fabric."""

    def __init__(self) -> None:
        super().__init__(arrival, FirstPlace)
