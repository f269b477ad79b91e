"""Quantiles that occurred."""

from __future__ import annotations

from collections.abc import Sequence


def quantile(values: Sequence[int], share: float) -> int:
    """The value that at least `share` of the values do not exceed, one of them; 0 of none.

    The nearest-rank definition: the ceil(share * n)-th of n values in order.
    """
    if not values:
        return 0
    ordered = sorted(values)
    return ordered[max(0, -(-round(share * 1000) * len(ordered) // 1000) - 1)]
