"""Which formats the records are in, to be shown to people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.sealed import Sealed


class Written(Protocol):
    """A record that was read, in some format."""

    @property
    def format(self) -> int:
        """The format that it was written in."""


@dataclass(frozen=True, slots=True)
class LedgerUse:
    """How many records are in which format, and those that cannot be read.

    `written` is the format that the leader writes, 0 where this process does not lead. `stuck` are
    commits with a record among these: their members that are not bound yet wait for it.
    """

    written: int = 0
    formats: Mapping[int, int] = field(default_factory=dict)
    sealed: tuple[Sealed, ...] = ()
    stuck: tuple[Commit, ...] = ()


def ledger_use(ledger: Ledger, others: Iterable[Written], written: int) -> LedgerUse:
    """What `ledger` holds, and `others` besides."""
    every: list[Written] = [*ledger.pages, *ledger.leases, *others]
    counts = Counter(one.format for one in every)
    sealed = tuple(ledger.sealed)
    stuck = tuple(one for one in ledger.open_commits() if one.sealed) if sealed else ()
    return LedgerUse(written, dict(sorted(counts.items())), sealed, stuck)
