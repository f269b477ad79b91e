"""The sealed records that there are: nobody may touch what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fourleaf.k8s_bridge.ledger.names import PAGE
from fourleaf.k8s_bridge.ledger.unreadable import Sealed
from fourleaf.model.gang import GangKey


class SealedRecords:
    """All records that this version cannot read, by name."""

    def __init__(self) -> None:
        self._records: dict[str, Sealed] = {}
        self._page_of: dict[str, str] = {}
        self._nodes: frozenset[str] = frozenset()

    def __contains__(self, name: object) -> bool:
        return name in self._records

    def __iter__(self) -> Iterator[Sealed]:
        return iter(tuple(self._records.values()))

    def __len__(self) -> int:
        return len(self._records)

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes that they are about: nothing new is planned there."""
        return self._nodes

    @property
    def gangs(self) -> frozenset[GangKey]:
        """The gangs that they are about."""
        return frozenset(gang for one in self for gang in one.gangs)

    @property
    def opaque_page(self) -> bool:
        """Whether there is a page of which nobody can say which nodes it lists."""
        return any(one.opaque and one.record == PAGE for one in self)

    def page_of(self, node: str) -> str | None:
        """The name of the sealed page that lists `node`."""
        return self._page_of.get(node)

    def put(self, one: Sealed) -> None:
        """Take `one` for what the cluster holds now."""
        self._records[one.name] = one
        self._index()

    def drop(self, name: str) -> None:
        """It can be read by now, or does not exist."""
        if self._records.pop(name, None) is not None:
            self._index()

    def keep(self, record: str, names: Iterable[str]) -> None:
        """Drop all of that sort but these."""
        kept = set(names)
        for one in self:
            if one.record == record and one.name not in kept:
                self.drop(one.name)

    def _index(self) -> None:
        self._nodes = frozenset(node for one in self for node in one.nodes)
        self._page_of = {node: x.name for x in self if x.record == PAGE for node in x.nodes}
