"""`resourceAvailability`: comfort on the node, and GPUs that are there in the gang's own size.

Half of it is comfort, what is left beside the pod: the least over CPU, memory and pod slots
(those the node states and offers) of 500 * (free - request) // allocatable, at least 0; the pod
alone, on the node as it is now. The other half looks at the GPUs of the leaf: min(500, 500 * new
// free), free over its schedulable nodes, new those that the gang places there; 0 where none is
free. So gangs go where as many are available as they need, and where more are, they stay
together. GPUs are measured on the leaf, since on the node more of them would draw small pods onto
nodes that are whole. Where the strategy of the gang favours empty leaves, that half is worth 500
less it.
"""

from __future__ import annotations

from fourleaf.model.resources import Resources

NAME = "resourceAvailability"
HALF = 500


def comfort(allocatable: Resources, free: Resources, request: Resources) -> int:
    """The half for one pod on one node, 0..500."""
    least = HALF
    stated = (
        (allocatable.cpu, free.cpu, request.cpu),
        (allocatable.memory, free.memory, request.memory),
        (allocatable.pods, free.pods, request.pods),
    )
    for full, left, asked in stated:
        if full and left is not None:
            least = min(least, HALF * (left - (asked or 0)) // full)
    return max(0, least)


def fit(used: int, total: int, new: int, empty: bool) -> int:
    """The half for any pod of a gang that places `new` GPUs in a leaf, 0..500."""
    free = total - used
    share = min(HALF, HALF * new // free) if free > 0 else 0
    return HALF - share if empty else share
