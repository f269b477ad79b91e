"""First fit: first come, first served, each gang at the first legal place of the fabric."""

from __future__ import annotations

from fourleaf.simulator.policies.one_by_one import OneByOne, arrival


class FirstFitPolicy(OneByOne):
    """Leaves in the order of the fabric: to it every place with room is as good as the next."""

    def __init__(self) -> None:
        super().__init__(arrival, lambda *_: ())
