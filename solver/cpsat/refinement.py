"""Refinement: a model is made finer in the leaves where its answer cannot be put on the nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def solve_refined(
    solve: Callable[[frozenset[int]], tuple[T, frozenset[int]] | None],
    refined: frozenset[int] = frozenset(),
    *,
    instead: Callable[[T, frozenset[int]], T | None] = lambda *_: None,
    rounds: int | None = None,
) -> T | None:
    """The first answer that can be put on the nodes.

    `solve` builds and solves a model whose `refined` leaves are modelled node by node; it returns
    an answer and the leaves in which that fails, `None` where it finds nothing in time. `instead`
    may give another answer than a finer model: for an answer, and what failed.
    `None` where nothing was found, or not within so many `rounds`.
    """
    while rounds is None or rounds > 0:
        found = solve(refined)
        if found is None or not found[1]:
            return found and found[0]
        answer, failed = found
        other = instead(answer, failed)
        if other is not None:
            return other
        refined |= failed
        rounds = None if rounds is None else rounds - 1
    return None
