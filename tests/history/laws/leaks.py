"""At rest, pages say exactly which pods of ours run where, and no gang lease is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tests.history import pods
from tests.history.history import History
from tests.history.records import (
    COMMITTED,
    GANG,
    PAGE,
    Page,
    Relocation,
    kind_of,
    record_of,
)


@dataclass(frozen=True, slots=True)
class Leaks:
    """Compares the final records with the final pods."""

    name: str = "nothing leaks"

    def breaches(self, history: History) -> list[str]:
        """Records that hold nothing, pods that no record holds, records that make no sense."""
        found = []
        written: Counter[tuple[str, str]] = Counter()
        for lease in history.leases:
            kind, record = kind_of(lease), record_of(lease)
            name = lease["metadata"]["name"]
            if kind == GANG:
                found.append(f"gang lease {name} is left")
            elif isinstance(record, Relocation):
                found.append(f"relocation {name} is left")
            elif kind == PAGE and isinstance(record, Page):
                found += _unsettled(record)
                written.update((row.uid, row.node) for one in record.entries for row in one.rows)
            elif kind:
                found.append(f"lease {name} is labelled {kind} and cannot be read as such")
        live = {
            (pods.uid(pod), pods.node(pod)): pods.named(pod)
            for pod in history.pods
            if history.is_ours(pod) and pods.holds(pod)
        }
        found += [
            f"pod {live[key]} runs on {key[1]} and no page says so"
            for key in live.keys() - written.keys()
        ]
        found += [
            f"a page says that pod {uid} is on {node}, and no such pod runs there"
            for uid, node in written.keys() - live.keys()
        ]
        found += [f"pod {uid} is on pages {n} times" for (uid, _), n in written.items() if n > 1]
        return found


def _unsettled(page: Page) -> Iterable[str]:
    for entry in page.entries:
        if entry.lease:
            yield f"page {page.name} still points to gang lease {entry.lease}"
        if entry.phase != COMMITTED:
            yield f"page {page.name} still has commit {entry.commit} in phase {entry.phase}"
