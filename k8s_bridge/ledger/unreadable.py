"""Records that make no sense to this version, and what their envelopes say of them all the same."""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.model.gang import GangKey


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
