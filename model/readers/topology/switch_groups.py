"""Switches that belong together, and what the group is called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from fourleaf.model.topology import natural_key

_TOKENS = re.compile(r"[0-9]+|[A-Za-z]+|[^0-9A-Za-z]+")
_Key = TypeVar("_Key", bound=Hashable)


class Unions:
    """Sets that merge (union-find with path halving)."""

    def __init__(self) -> None:
        self._parent: dict[Hashable, Hashable] = {}

    def root(self, one: Hashable) -> Hashable:
        """What stands for the set of `one`."""
        self._parent.setdefault(one, one)
        while self._parent[one] != one:
            self._parent[one] = self._parent[self._parent[one]]
            one = self._parent[one]
        return one

    def join(self, one: Hashable, other: Hashable) -> None:
        """Merge the sets of `one` and `other`."""
        self._parent[self.root(one)] = self.root(other)


def grouped(marks: Mapping[_Key, frozenset[str]]) -> list[list[_Key]]:
    """Keys that share at least half of their marks with another of the group.

    Half, and not one: a single cable in the wrong place merges nothing. Keys without marks
    are left out. Keys with the same marks are compared once.
    """
    alike: dict[frozenset[str], list[_Key]] = {}
    for key, own in marks.items():
        if own:
            alike.setdefault(own, []).append(key)
    unions = Unions()
    bearers: dict[str, list[frozenset[str]]] = {}
    for own in alike:
        near = {other for mark in own for other in bearers.get(mark, ())}
        for other in near:
            if 2 * len(own & other) >= min(len(own), len(other)):
                unions.join(own, other)
        for mark in own:
            bearers.setdefault(mark, []).append(own)
    found: dict[Hashable, list[_Key]] = {}
    for own, keys in alike.items():
        found.setdefault(unions.root(own), []).extend(keys)
    return list(found.values())


def shared_name(names: Iterable[str]) -> str:
    """What to call a group of switches: the part of their names in common, with `x` elsewhere.

    `su1-leaf1` and `su1-leaf2` are `su1-leafx`. Names that have nothing in common give the
    first one and how many more there are.
    """
    every = sorted(names, key=natural_key)
    if len(every) == 1:
        return every[0]
    parts = [_TOKENS.findall(name) for name in every]
    if len({len(part) for part in parts}) == 1:
        columns = [set(column) for column in zip(*parts, strict=True)]
        words = [column for column in columns if any(c.isalnum() for c in min(column))]
        fixed = [column for column in words if len(column) == 1 and len(min(column)) > 1]
        if fixed and all(len(column) == 1 for column in columns if column not in words):
            return "".join(min(column) if len(column) == 1 else "x" for column in columns)
    return f"{every[0]}-and-{len(every) - 1}-more"


def group_names(groups: Sequence[Iterable[str]]) -> list[str]:
    """A name for each group of switches, all different."""
    every = [sorted(group, key=natural_key) for group in groups]
    names = [shared_name(group) for group in every]
    counts = Counter(names)
    return [
        name if counts[name] == 1 else f"{group[0]}-and-{len(group) - 1}-more"
        for name, group in zip(names, every, strict=True)
    ]


def in_circle(above: Mapping[str, Iterable[str]]) -> str | None:
    """A switch that stands above itself, None where there is none (Kahn's order of a graph)."""
    below: Counter[str] = Counter(up for ups in above.values() for up in ups)
    ready = [switch for switch in above if not below[switch]]
    while ready:
        for up in above.get(ready.pop(), ()):
            below[up] -= 1
            if not below[up]:
                ready.append(up)
    return min((switch for switch, count in below.items() if count > 0), default=None)
