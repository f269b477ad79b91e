"""`topologyAlignment`: few leaves and spines, and the domain that was asked for.

Half of it is compactness: min(500, 500 * F // (leaves + spines used)), F the fewest
possible. The other half is 500 for a pod in the preferred domain, or where the gang names
none, else 0.
"""

from __future__ import annotations

from model.fabric import Leaf

NAME = "topologyAlignment"
HALF = 500


def compactness(fewest: int, used: int) -> int:
    """The first half for a gang on `used` leaves plus spines, 0..500."""
    return min(HALF, HALF * fewest // used)


def preference(preferred_domain: str | None, leaf: Leaf) -> int:
    """The second half for a pod in `leaf`, 0 or 500."""
    return HALF if preferred_domain in (None, leaf.name, leaf.spine) else 0
