"""`domainUtilization`: fill the leaves that are started.

t = min(1000, 1000 * (used + new) // total) over the GPUs of the leaf's schedulable nodes,
with the GPUs this gang places there; 0 where the leaf has none. Where the strategy of the gang
favours empty leaves, it is worth 1000 - t.
"""

from __future__ import annotations

NAME = "domainUtilization"


def value(used: int, total: int, new: int, empty: bool) -> int:
    """The term for any pod of a gang that places `new` GPUs in a leaf, 0..1000."""
    share = min(1000, 1000 * (used + new) // total) if total else 0
    return 1000 - share if empty else share
