"""A binding needs a record: a page entry or a gang lease that names that pod on that node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.history import pods
from tests.history.history import History
from tests.history.records import PREPARED, Entry, GangLease, Page, Record, Row
from tests.history.replay import Change, replay

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bindings:
    """Records and pods share one order of revisions, so what stood at a binding is certain."""

    name: str = "a binding has its record"

    def breaches(self, history: History) -> list[str]:
        """Every binding by our replicas that no record named, or only a prepared one."""
        found = []
        for change in replay(history):
            pod = change.version.body
            if not binds_ours(change):
                continue
            trouble = _trouble(pod, change.state.records)
            if trouble:
                found.append(
                    f"revision {change.version.revision}: {pods.named(pod)} was bound to "
                    f"{pods.node(pod)} {trouble}"
                )
        return found


def binds_ours(change: Change) -> bool:
    """Whether here a replica of ours bound a pod that was seen before: it leaves its commit."""
    version = change.version
    return (
        version.kind == "pods"
        and not version.deleted
        and change.before is not None
        and not pods.node(change.before)
        and bool(pods.node(version.body))
        and bool(pods.annotation(version.body, pods.COMMIT))
    )


def _trouble(pod: Body, records: dict[str, Record]) -> str:
    """Why no record covers the pod on its node, "" where one does."""
    commit = pods.annotation(pod, pods.COMMIT)
    if pods.annotation(pod, pods.FENCE) == commit:
        return f"for commit {commit}, which it was fenced against"
    for record in records.values():
        if isinstance(record, GangLease) and record.commit == commit:
            return _trouble_with_lease(pod, record)
    for page in (one for one in records.values() if isinstance(one, Page)):
        for entry in page.entries:
            if entry.commit == commit and _names(entry.rows, pod):
                return _trouble_with_entry(pod, page, entry)
    return f"for commit {commit}, which no record has"


def _trouble_with_lease(pod: Body, lease: GangLease) -> str:
    if not _names(lease.rows, pod):
        return f"for gang lease {lease.name}, which does not name it there"
    if lease.phase == PREPARED:
        return f"for gang lease {lease.name}, which is only prepared"
    return ""


def _trouble_with_entry(pod: Body, page: Page, entry: Entry) -> str:
    if entry.lease:
        return f"for gang lease {entry.lease}, which is not there"
    if pods.node(pod) not in page.nodes:
        return f"for page {page.name}, which does not list that node"
    return ""


def _names(rows: Iterable[Row], pod: Body) -> bool:
    return any((row.uid, row.node) == (pods.uid(pod), pods.node(pod)) for row in rows)
