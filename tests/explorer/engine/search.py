"""The search: every state that can be reached, each looked at once."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from typing import Protocol, TypeVar

from tests.explorer.engine.result import Breach, Result

State = TypeVar("State")


class System(Protocol[State]):
    """What can be searched. Equal keys mean that the same may follow and the same is a breach."""

    def starts(self) -> Iterable[State]:
        """The states in which it may begin."""
        ...

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        """What may happen next, in words, and the state that it leads to."""
        ...

    def key(self, state: State) -> Hashable:
        """What tells this state from others."""
        ...

    def breach(self, state: State) -> str:
        """What is wrong with the state, "" where nothing is."""
        ...


Paths = dict[Hashable, tuple[Hashable, str]]


def search(system: System[State], *, depth: bool = False, most: int | None = None) -> Result:
    """Look at every state of `system`, until one is a breach or `most` have been seen.

    Breadth first finds a shortest trace. Depth first asks for the steps of a state one at a
    time, each followed to its end before the next: that suits systems that can only go on from
    the state that they are in.
    """
    began = time.process_time()
    paths: Paths = {}
    frontier: deque[tuple[Hashable, Iterator[tuple[str, State]]]] = deque()
    transitions = ends = 0

    def result(complete: bool, breach: Breach | None = None) -> Result:
        seconds = time.process_time() - began
        return Result(len(paths), transitions, ends, seconds, complete, breach)

    def arrive(before: Hashable, label: str, state: State) -> str:
        key = system.key(state)
        if key in paths:
            return ""
        paths[key] = (before, label)
        frontier.append((key, system.steps(state)))
        return system.breach(state)

    for state in system.starts():
        if why := arrive(None, "", state):
            return result(False, Breach(why, ()))
    fresh: set[Hashable] = set()
    while frontier:
        if most is not None and len(paths) >= most:
            return result(False)
        key, steps = frontier[-1] if depth else frontier[0]
        step = next(steps, None)
        if step is None:
            (frontier.pop if depth else frontier.popleft)()
            ends += key not in fresh
            fresh.discard(key)
            continue
        fresh.add(key)
        transitions += 1
        label, state = step
        if why := arrive(key, label, state):
            trace = (*_trace(paths, key), label)
            return result(False, Breach(why, trace))
    return result(True)


def _trace(paths: Paths, key: Hashable) -> list[str]:
    labels: list[str] = []
    while key is not None:
        key, label = paths[key]
        labels.append(label)
    return [label for label in reversed(labels) if label]
