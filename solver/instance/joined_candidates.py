"""The places of several `Candidates` together, each once, sorted by who may use them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fourleaf.solver.instance.candidates import Candidate

Entry = tuple[Candidate, int]
"""A place and how many gangs fit there now."""

ReachKey = tuple[int, int]
"""Which of the candidates have a place, as bits, and the leaves plus spines that it spans."""


@dataclass(frozen=True, slots=True)
class JoinedCandidates:
    """`order`: identities of the candidates, first bit first.

    `by_reach` are the places of one reach by number; `reach` is that of each place number.
    """

    order: tuple[int, ...]
    by_reach: Mapping[ReachKey, Mapping[int, Entry]]
    reach: Mapping[int, ReachKey]


def join(places: Mapping[int, Iterable[Entry]]) -> JoinedCandidates:
    """Join places by the identity of the candidates that they belong to."""
    found: dict[int, Entry] = {}
    bits: dict[int, int] = {}
    for position, entries in enumerate(places.values()):
        bit = 1 << position
        for entry in entries:
            number = entry[0].number
            if number in found:
                bits[number] |= bit
            else:
                found[number] = entry
                bits[number] = bit
    by_reach: dict[ReachKey, dict[int, Entry]] = {}
    reach: dict[int, ReachKey] = {}
    for number, entry in found.items():
        key = reach[number] = (bits[number], entry[0].span)
        if key not in by_reach:
            by_reach[key] = {}
        by_reach[key][number] = entry
    return JoinedCandidates(tuple(places), by_reach, reach)
