"""`domainUtilization`: fill the leaves that are started.

t = min(1000, 1000 * (used + new) // total) over the GPUs of the leaf's schedulable nodes,
with the GPUs this gang places there; 0 where the leaf has none. `distributed` gangs are
worth 1000 - t: they look for empty leaves.
"""

from __future__ import annotations

from fourleaf.model.gang import Strategy

NAME = "domainUtilization"


def value(used: int, total: int, new: int, strategy: Strategy) -> int:
    """The term for any pod of a gang that places `new` GPUs in a leaf, 0..1000."""
    share = min(1000, 1000 * (used + new) // total) if total else 0
    return 1000 - share if strategy is Strategy.DISTRIBUTED else share
