"""The points that a placement says its gang earns, against those that it does."""

from __future__ import annotations

from collections.abc import Iterator

from fourleaf.model.plan import Placement
from fourleaf.model.validator.breach import Breach, Law


def term_breaches(placement: Placement, earned: dict[str, int]) -> Iterator[Breach]:
    """Compare the terms of a placement; a term of 0 points may be left out."""
    stated = dict(placement.terms)
    if len(stated) != len(placement.terms):
        yield Breach(Law.TERMS, placement.gang, "", "states a term twice")
    for name in sorted(stated.keys() | earned.keys()):
        says, is_worth = stated.get(name, 0), earned.get(name, 0)
        if says != is_worth:
            yield Breach(Law.TERMS, placement.gang, name, f"says {says}, it is worth {is_worth}")
