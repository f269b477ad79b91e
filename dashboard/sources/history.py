"""What is recorded of a gang: in Leases of the scheduler, and in events."""

from __future__ import annotations

from fourleaf.dashboard.view import View


class RecordView(View):
    """A Lease of the scheduler that names the gang."""

    lease: str
    kind: str
    phase: str
    epoch: int
    nodes: tuple[str, ...]


class HappeningView(View):
    """An event about one of its pods."""

    at: str
    """As the API wrote it."""
    reason: str
    note: str
    pod: str
    warning: bool
    count: int
    """In its series."""


class HistoryView(View):
    """What Leases and events say."""

    records: tuple[RecordView, ...]
    happenings: tuple[HappeningView, ...]
    unknown: tuple[str, ...]
    """What could not be read, and why."""
