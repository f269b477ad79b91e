"""The search itself: it visits each state once, counts, and says how it got to a breach."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

import pytest

from tests.explorer.engine.search import search


@dataclass(frozen=True)
class Grid:
    """Steps right and down on a grid of `size` by `size`; standing on `mine` is a breach."""

    size: int
    mine: tuple[int, int] = (-1, -1)

    def starts(self) -> Iterable[tuple[int, int]]:
        """The corner."""
        yield 0, 0

    def steps(self, state: tuple[int, int]) -> Iterator[tuple[str, tuple[int, int]]]:
        """One to the right, one down."""
        x, y = state
        if x + 1 < self.size:
            yield "right", (x + 1, y)
        if y + 1 < self.size:
            yield "down", (x, y + 1)

    def key(self, state: tuple[int, int]) -> Hashable:
        """Where it stands."""
        return state

    def breach(self, state: tuple[int, int]) -> str:
        """Whether it stands on the mine."""
        return "boom" if state == self.mine else ""


@pytest.mark.parametrize("depth", [False, True])
def test_every_state_is_seen_once(depth: bool) -> None:
    """A grid of 5 by 5 has 25 states, 2 * 5 * 4 transitions and one end."""
    result = search(Grid(5), depth=depth)
    assert (result.states, result.transitions, result.ends) == (25, 40, 1)
    assert result.complete
    assert result.breach is None


def test_the_trace_leads_to_the_breach() -> None:
    """Breadth first, the way to (2, 1) takes three steps, two of them to the right."""
    breach = search(Grid(5, (2, 1))).breach
    assert breach is not None
    assert breach.why == "boom"
    assert sorted(breach.trace) == ["down", "right", "right"]


def test_a_search_that_was_cut_short_says_so() -> None:
    """After 7 of 25 states the search is not complete."""
    result = search(Grid(5), most=7)
    assert result.states == 7
    assert not result.complete
