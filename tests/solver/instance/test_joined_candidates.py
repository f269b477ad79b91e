"""Places of several candidates, joined: each once, with who may use it and how far it spans."""

from __future__ import annotations

from fourleaf.solver.instance.candidates import Candidate
from fourleaf.solver.instance.joined_candidates import join


def place(number: int, *leaves: int, spines: int = 1) -> Candidate:
    """A place that takes one pod of each leaf."""
    return Candidate(tuple((leaf, (1,)) for leaf in leaves), number, spines)


def test_a_place_of_two_locations_stands_once_with_both_bits() -> None:
    """Candidates 7 and 9 share place 1; 0 is of 7 alone and 2, on two leaves, of 9 alone."""
    alone, shared, wide = place(0, 0), place(1, 1), place(2, 1, 2)
    merged = join({7: [(alone, 3), (shared, 2)], 9: [(shared, 2), (wide, 1)]})
    assert merged.order == (7, 9)
    assert merged.reach == {0: (0b01, 2), 1: (0b11, 2), 2: (0b10, 3)}
    assert merged.by_reach == {
        (0b01, 2): {0: (alone, 3)},
        (0b11, 2): {1: (shared, 2)},
        (0b10, 3): {2: (wide, 1)},
    }


def test_places_that_span_more_spines_are_kept_apart() -> None:
    """What a place is worth depends on leaves plus spines: two leaves may span three or four."""
    near, far = place(0, 0, 1), place(1, 1, 2, spines=2)
    merged = join({7: [(near, 1), (far, 1)]})
    assert sorted(merged.by_reach) == [(1, 3), (1, 4)]
