"""Where the live members of a gang are, of which some may stay while others go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fourleaf.solver.locations import Location

Seats = Mapping[int, int]
"""Node -> members."""


@dataclass(frozen=True, slots=True, eq=False)
class Stand:
    """The seats of a gang by (role, leaf), and which places count for it.

    `places` are those of its legal locations that are asked about. `extra` counts, by (role,
    leaf), the members on nodes that would not take them anew: they may stay there, and no
    room is counted for them.
    """

    seats: Mapping[tuple[int, int], Seats]
    places: tuple[Location, ...] = ()
    extra: Mapping[tuple[int, int], int] = field(default_factory=dict)
