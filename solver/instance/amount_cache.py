"""What is left of free amounts, worked out once for amounts that many nodes share."""

from __future__ import annotations

from fourleaf.model.resources import Resources, counted, fits, minus


class AmountCache:
    """Remembers, by identity, how often a request fits an amount and what it leaves.

    Nodes that have the same amount as one object cost one subtraction together. Devices count
    by their number alone.
    """

    def __init__(self) -> None:
        self._after: dict[tuple[int, int], tuple[Resources, Resources, Resources]] = {}
        """(amount, request) -> what is left, with both, so that their identities last."""
        self._fits: dict[tuple[int, int], tuple[int, Resources, Resources]] = {}

    def after(self, free: Resources, request: Resources) -> Resources:
        """What `request` leaves of `free`."""
        key = (id(free), id(request))
        known = self._after.get(key)
        if known is None:
            known = self._after[key] = (minus(counted(free), counted(request)), free, request)
        return known[0]

    def fits(self, free: Resources, request: Resources) -> int:
        """How many pods that each ask for `request` fit into `free` at once."""
        key = (id(free), id(request))
        known = self._fits.get(key)
        if known is None:
            known = self._fits[key] = (fits(counted(free), counted(request)), free, request)
        return known[0]
