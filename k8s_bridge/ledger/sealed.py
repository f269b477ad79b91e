"""Sealed records: what they are about must not be touched.

A record that makes no sense to this version is sealed: its envelope still says what it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fourleaf.k8s_bridge.ledger.names import PAGE
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
        """Whether there is a page that does not even say which nodes it lists."""
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


class BadRecord(Exception):
    """A Lease of ours that does not say what it should."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A record that this version cannot read, but knows what it is about.

    `record` is what its label says (`page`, `gang`, `relocation`), `format` what its annotation
    says. `nodes` and `gangs` are those of its envelope; without one (`opaque`) both are empty.
    """

    name: str
    record: str
    format: str
    why: str
    nodes: frozenset[str] = frozenset()
    gangs: frozenset[GangKey] = frozenset()
    epoch: int = 0
    version: str = ""
    opaque: bool = False


class SealedRecord(BadRecord):
    """A record that has to be left as it is, and all that it is about with it."""

    def __init__(self, sealed: Sealed) -> None:
        super().__init__(f"lease {sealed.name}: {sealed.why}")
        self.sealed = sealed
