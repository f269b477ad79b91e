"""A leader that has been replaced neither writes records, nor commits, nor binds what was given up.

What can be proven: the epoch of a record never falls; a gang lease is not committed in an epoch
that one of its pages has left behind; a pod is not bound for a commit after a higher epoch took
that commit out of the records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.history import pods
from tests.history.history import History
from tests.history.laws.bindings import binds_ours
from tests.history.records import (
    COMMITTED,
    ROLLING_BACK,
    GangLease,
    Page,
    Record,
    Relocation,
    Row,
    epoch_of,
    kind_of,
)
from tests.history.replay import Change, replay


@dataclass(slots=True)
class _Known:
    """Commits: the epoch that decided each, and the one that gave it up; epochs of records."""

    decided: dict[str, int] = field(default_factory=dict)
    given_up: dict[str, int] = field(default_factory=dict)
    records: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Epochs:
    """Follows every record and every binding of ours."""

    name: str = "nothing by a fenced epoch"

    def breaches(self, history: History) -> list[str]:
        """Writes and bindings by an epoch that had been replaced."""
        found: list[str] = []
        known = _Known()
        before: dict[str, Record] = {}
        for change in replay(history):
            if change.version.kind == "leases" and kind_of(change.version.body):
                found += _write(change, before, known)
                name = change.version.body["metadata"]["name"]
                before.pop(name, None)
                if name in change.state.records:
                    before[name] = change.state.records[name]
            elif binds_ours(change):
                found += _binding(change, known)
        return found


def _write(change: Change, before: dict[str, Record], known: _Known) -> list[str]:
    version = change.version
    name = version.body["metadata"]["name"]
    now, old = change.state.records.get(name), before.get(name)
    epoch, last = epoch_of(version.body), known.records.get(name, 0)
    known.records[name] = max(epoch, last)
    found = []
    if not version.deleted and epoch < last:
        found.append(
            f"revision {version.revision}: {name} was written in epoch {epoch} after epoch {last}"
        )
    if isinstance(now, GangLease) and now.phase == COMMITTED:
        newer = [
            page
            for page in now.pages
            if known.records.get(page, 0) > epoch
            and not (isinstance(old, GangLease) and old.phase == COMMITTED)
        ]
        found += [
            f"revision {version.revision}: {name} was committed in epoch {epoch}, and its page "
            f"{page} was in epoch {known.records[page]}"
            for page in newer
        ]
    _follow(now, old, epoch, version.deleted, change, known)
    return found


def _follow(
    now: Record | None,
    old: Record | None,
    epoch: int,
    deleted: bool,
    change: Change,
    known: _Known,
) -> None:
    """Note which commits this write decided, and which it gave up."""
    if isinstance(now, GangLease) and now.phase == COMMITTED:
        known.decided.setdefault(now.commit, epoch)
    if isinstance(now, GangLease) and now.phase == ROLLING_BACK:
        known.given_up.setdefault(now.commit, epoch)
    if isinstance(old, GangLease) and deleted and old.phase != COMMITTED:
        known.given_up.setdefault(old.commit, max([old.epoch, *_epochs(change)]))
    if isinstance(now, Page):
        here = {entry.commit for entry in now.entries}
        for entry in now.entries:
            if not entry.lease and entry.phase == COMMITTED:
                known.decided.setdefault(entry.commit, epoch)
            if entry.phase == ROLLING_BACK:
                known.given_up.setdefault(entry.commit, epoch)
        if isinstance(old, Page):
            for entry in old.entries:
                if entry.commit not in here and not entry.lease:
                    known.given_up.setdefault(entry.commit, epoch)


def _epochs(change: Change) -> Iterator[int]:
    """Of the records that say one."""
    for record in change.state.records.values():
        if not isinstance(record, Relocation):
            yield record.epoch


def _binding(change: Change, known: _Known) -> list[str]:
    pod = change.version.body
    commit = pods.annotation(pod, pods.COMMIT)
    decided, given_up = known.decided.get(commit, 0), known.given_up.get(commit, 0)
    names = any(
        row.uid == pods.uid(pod)
        for record in change.state.records.values()
        for row in _rows(record, commit)
    )
    if given_up > decided and not names:
        return [
            f"revision {change.version.revision}: {pods.named(pod)} was bound for commit {commit} "
            f"of epoch {decided}, which epoch {given_up} had given up"
        ]
    return []


def _rows(record: Record, commit: str) -> list[Row]:
    if isinstance(record, GangLease):
        return list(record.rows) if record.commit == commit else []
    if isinstance(record, Page):
        return [row for entry in record.entries if entry.commit == commit for row in entry.rows]
    return []
