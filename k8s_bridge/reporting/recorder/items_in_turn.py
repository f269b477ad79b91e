"""What waits to be written, in turn by namespace, so that one with much crowds out no other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class ItemsInTurn(Generic[T]):
    """At most `most` items by key; `namespace_of` says whose an item is.

    Of a namespace goes first what waits longest. Where there is no room, the newest goes of the
    namespace that has most, unless that is the one of what came.
    """

    def __init__(self, most: int, namespace_of: Callable[[T], str]) -> None:
        self._most = most
        self._namespace_of = namespace_of
        self._lines: dict[str, dict[Hashable, T]] = {}
        self._where: dict[Hashable, str] = {}

    def __len__(self) -> int:
        return len(self._where)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._where

    def put(self, key: Hashable, item: T) -> bool:
        """Take `item`, in the place of one of its key; whether that or another was dropped."""
        if key in self._where:
            self._lines[self._where[key]][key] = item
            return False
        namespace = self._namespace_of(item)
        is_full = len(self._where) >= self._most
        if is_full:
            # Who has less than an even share leaves another with more than that.
            if len(self._lines.get(namespace, ())) * len(self._lines) >= self._most:
                return True
            longest = max(self._lines.values(), key=len)
            self.pop(next(reversed(longest)))
        self._lines.setdefault(namespace, {})[key] = item
        self._where[key] = namespace
        return is_full

    def next(
        self, busy: Collection[Hashable], full: Collection[str]
    ) -> tuple[Hashable, str] | None:
        """The key whose turn it is, and its namespace: no `busy` one, nor of a `full` namespace."""
        for namespace, line in self._lines.items():
            if namespace in full:
                continue
            key = next((one for one in line if one not in busy), None)
            if key is not None:
                self._lines[namespace] = self._lines.pop(namespace)
                return key, namespace
        return None

    def pop(self, key: Hashable) -> T | None:
        """Take out what waits under `key`."""
        namespace = self._where.pop(key, None)
        if namespace is None:
            return None
        line = self._lines[namespace]
        item = line.pop(key)
        if not line:
            del self._lines[namespace]
        return item

    def clear(self) -> None:
        """Take out all."""
        self._lines, self._where = {}, {}
