"""The cluster version by version: what stood at each revision, and what changed there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.history.history import History
from tests.history.records import Record, record_of
from tests.history.versions import Version, uid_of

Body = dict[str, Any]


@dataclass(slots=True)
class State:
    """What stands at one revision, by UID; nodes, Leases and records by name."""

    pods: dict[str, Body] = field(default_factory=dict)
    nodes: dict[str, Body] = field(default_factory=dict)
    budgets: dict[str, Body] = field(default_factory=dict)
    leases: dict[str, Body] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """A version, the object that it replaces (None where it is new), and what stands after it."""

    version: Version
    before: Body | None
    state: State


def replay(history: History) -> Iterator[Change]:
    """Every change in turn. The state is one object that moves on: read it before the next."""
    state = State()
    for version in history.versions:
        before = _apply(state, version)
        yield Change(version, before, state)


def _apply(state: State, version: Version) -> Body | None:
    by_uid = version.kind in ("pods", "budgets")
    key = uid_of(version.body) if by_uid else version.body["metadata"]["name"]
    table: dict[str, Body] = getattr(state, version.kind)
    before = table.pop(key, None)
    if not version.deleted:
        table[key] = version.body
    if version.kind == "leases":
        state.records.pop(key, None)
        record = None if version.deleted else record_of(version.body)
        if record is not None:
            state.records[key] = record
    return before
