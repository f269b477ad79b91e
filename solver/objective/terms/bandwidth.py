"""`bandwidth`: the penalty for taking a share of a limited uplink.

t = min(1000, 1000 * demand // uplink) in the pod's leaf, where the gang spans leaves and
asks for bandwidth and the uplink is limited; else 0. Subtracted.
"""

from __future__ import annotations

NAME = "bandwidth"


def value(demand: int, uplink: int | None) -> int:
    """The penalty for a pod in a leaf from whose uplink its gang takes `demand`, 0..1000."""
    if not demand or uplink is None:
        return 0
    return min(1000, 1000 * demand // uplink) if uplink else 1000
