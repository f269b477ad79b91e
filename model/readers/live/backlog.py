"""Backlog: what is to be read, of which some is left where much has come at once.

Thousands of pods may come at once, and reading them all would hold the event loop until the lead
is lost. Namespaces take turns: of one with a hundred thousand pods, no other waits for all.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Generic, TypeVar

Item = TypeVar("Item", bound=tuple[str, ...])


class Backlog(Generic[Item]):
    """Items that begin with their namespace, which are taken in turn by namespace."""

    def __init__(self) -> None:
        self._left: dict[str, dict[Item, None]] = {}

    def __bool__(self) -> bool:
        return bool(self._left)

    def __contains__(self, item: Item) -> bool:
        return item in self._left.get(item[0], ())

    def has(self, namespace: str) -> bool:
        """Whether any of a namespace is left."""
        return namespace in self._left

    def discard(self, item: Item) -> bool:
        """Forget an item; whether it was left."""
        items = self._left.get(item[0], {})
        found = item in items
        if found:
            del items[item]
            if not items:
                del self._left[item[0]]
        return found

    def take(self, fresh: Set[Item], room: float, cost: Callable[[Item], int]) -> set[Item]:
        """As many as there is room for of those that are left and the fresh ones; keep the rest.

        Each takes room by its `cost`; the last one may take more than there is.
        """
        if not self._left and sum(map(cost, fresh)) <= room:
            return set(fresh)
        # In order, so that the same objects are read in the same turns.
        for item in sorted(fresh):
            self._left.setdefault(item[0], {})[item] = None
        found: set[Item] = set()
        while self._left and room > 0:
            item = self._next()
            found.add(item)
            room -= cost(item)
        return found

    def _next(self) -> Item:
        """One of the namespace that was not served for longest, which comes last from then on."""
        namespace, items = next(iter(self._left.items()))
        del self._left[namespace]
        item = next(iter(items))
        del items[item]
        if items:
            self._left[namespace] = items
        return item
