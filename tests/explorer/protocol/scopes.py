"""The scopes that are searched: two nodes, each on a page of its own."""

from __future__ import annotations

from tests.explorer.protocol.scope import Scope

PAGE_OF = (0, 1)
WIDE_AND_NARROW = ((0, 1), (2,))
"""A gang of pods 0 and 1, another of pod 2."""

FORWARD = Scope(
    "forward",
    PAGE_OF,
    WIDE_AND_NARROW,
    places=(((0, (0, 1)),), ((1, (1,)), (0, (0, 1)))),
)
"""A wide gang, and a narrow one that wants one of its nodes."""

TWICE = Scope(
    "twice",
    PAGE_OF,
    ((0,), (1,)),
    places=(((0, (1,)),), ((0, (0,)), (1, (1,)))),
    deaths=2,
)
"""One gang is placed here, then there, and goes back each time; the first place is given away."""

SCOPES = (FORWARD, TWICE)
