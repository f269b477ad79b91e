"""From configured weights to the integer weights of one gang.

Strategy and latency sensitivity shift the configured weights by factors, those of a strategy by
what the config says of it; the result is normalised to thousandths, so that a score lies in 0..1000
and solver and validator compute the same integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from fourleaf.model.config.spec import Spec
from fourleaf.model.gang import Gang

SCALE = 1000
"""A term that is fully met is worth its weight in thousandths."""

LATENCY_FACTORS: Mapping[str, Fraction] = {
    "resourceAvailability": Fraction(3, 2),
    "topologyAlignment": Fraction(3, 2),
    "domainUtilization": Fraction(1, 2),
}


def milli(weight: Decimal) -> int:
    """A decimal weight in thousandths, rounded down."""
    return int(weight * SCALE)


def gang_weights(spec: Spec, strategy: str, latency_sensitive: bool) -> dict[str, int]:
    """Weight of each term for gangs of this kind, in thousandths, rounded down.

    weight'(term) = weight(term) * strategy factor * latency factor, divided by their sum.
    """
    raw: dict[str, Fraction] = {}
    factors = spec.strategy(strategy).factors
    for name, weight in spec.scoring_weights.items():
        factor = Fraction(factors.get(name, 1))
        if latency_sensitive:
            factor *= LATENCY_FACTORS.get(name, Fraction(1))
        raw[name] = Fraction(weight) * factor
    total = sum(raw.values())
    return {name: int(value * SCALE / total) for name, value in sorted(raw.items())}


def weights_of(spec: Spec, gang: Gang) -> dict[str, int]:
    """`gang_weights` of one gang."""
    return gang_weights(spec, gang.strategy, gang.latency_sensitive)
