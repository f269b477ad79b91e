"""`resourceAvailability`: comfort, what is left on the node once the pod is there.

The least over CPU, memory and pod slots (those the node states and offers) of
1000 * (free - request) // allocatable, at least 0; the pod alone, on the node as it is now.
"""

from __future__ import annotations

from fourleaf.model.resources import Resources

NAME = "resourceAvailability"


def value(allocatable: Resources, free: Resources, request: Resources) -> int:
    """The term for one pod on one node, 0..1000."""
    least = 1000
    stated = (
        (allocatable.cpu, free.cpu, request.cpu),
        (allocatable.memory, free.memory, request.memory),
        (allocatable.pods, free.pods, request.pods),
    )
    for full, left, asked in stated:
        if full and left is not None:
            least = min(least, 1000 * (left - (asked or 0)) // full)
    return max(0, least)
