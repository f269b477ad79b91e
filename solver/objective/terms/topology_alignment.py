"""`topologyAlignment`: few leaves and spines, and the domain that was asked for.

Half of it is compactness: min(500, 500 * F // (leaves + spines used)), F the fewest
possible; where any leaves of a spine may be used, each leaf more costs 500 / F, however many
there are. The other half is 500 for a pod in the preferred domain, or where the gang names none,
else 0. A pod that prefers linked devices loses 500 on a node where no free devices have such links.
"""

from __future__ import annotations

from fourleaf.model.resources import Resources, free_devices

NAME = "topologyAlignment"
HALF = 500


def compactness(fewest: int, used: int) -> int:
    """The first half for a gang on `used` leaves plus spines, 0..500."""
    return min(HALF, HALF * fewest // used)


def looseness(fewest: int, used: int) -> int:
    """The same for a gang that may use any leaves of a spine: below 0 beyond twice the fewest.

    Every leaf more costs as much as the first, which a relaxation counts exactly.
    """
    return min(HALF, HALF * (2 * fewest - used) // fewest)


def preference(met: bool) -> int:
    """The second half for a pod: 500 where its domain is the preferred one, or none is named."""
    return HALF if met else 0


def links(free: Resources, request: Resources) -> int:
    """What a pod loses on a node whose free devices cannot have the links that it prefers."""
    if request.wants is None or request.wants.prefers is None:
        return 0
    return 0 if free_devices(free).grants(request.gpus, request.wants) else -HALF
