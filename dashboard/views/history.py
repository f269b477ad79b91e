"""What is recorded of a gang: in Leases of the scheduler, and in events."""

from __future__ import annotations

from fourleaf.dashboard.sources.source import History
from fourleaf.dashboard.views.view import View


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
    reason: str
    note: str
    pod: str
    warning: bool
    count: int


class HistoryView(View):
    """What Leases and events say."""

    records: tuple[RecordView, ...]
    happenings: tuple[HappeningView, ...]
    unknown: tuple[str, ...]


def history_view(history: History) -> HistoryView:
    """What is recorded of a gang."""
    return HistoryView(
        records=tuple(
            RecordView(
                lease=one.lease, kind=one.kind, phase=one.phase, epoch=one.epoch, nodes=one.nodes
            )
            for one in history.records
        ),
        happenings=tuple(
            HappeningView(
                at=one.at,
                reason=one.reason,
                note=one.note,
                pod=one.pod,
                warning=one.warning,
                count=one.count,
            )
            for one in history.happenings
        ),
        unknown=history.unknown,
    )
