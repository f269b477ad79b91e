"""How long a reflection waits for what."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """Waits of a reflection, in seconds.

    A watch that is silent for `stall_after` is given up; servers send bookmarks about once a
    minute. A list may take `list_within`. A kind that is not served is looked for again after
    `absent_again`, one that is forbidden after `refused_first`, doubling up to `refused_again`,
    for a server that has just started forbids everything until it has read who may do what;
    all of these give or take a quarter. After failures come waits of at most `first_retry`,
    doubling up to `longest_retry`, at random; a server that asks for more gets it, up to
    `longest_asked`. A watch that lasted `steady_after` is no failure, however it ended.
    """

    stall_after: float = 120.0
    list_within: float = 60.0
    absent_again: float = 180.0
    refused_first: float = 1.0
    refused_again: float = 60.0
    first_retry: float = 0.1
    longest_retry: float = 30.0
    longest_asked: float = 300.0
    steady_after: float = 2.0


def about(seconds: float, chance: random.Random) -> float:
    """`seconds`, give or take a quarter, so that many who wait do not come back at once."""
    return seconds * chance.uniform(0.75, 1.25)
