"""What Leases of the scheduler and events say of one gang."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fourleaf.dashboard.sources.history import HappeningView, RecordView
from fourleaf.dashboard.sources.source import Body
from fourleaf.k8s_bridge.ledger.formats.codec import BadRecord, read_gang, read_page
from fourleaf.k8s_bridge.ledger.names import GANG, PAGE, RECORD
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.model.gang import GangKey
from fourleaf.model.problems import brief, one_line

MOST_EVENTS = 50
"""The newest that are shown."""
MOST_NOTE = 1024
"""Characters of a note, as the API has it; a tenant may have written it."""


def records_of(gang: GangKey, leases: Iterable[Body]) -> tuple[RecordView, ...]:
    """Every entry about `gang` on pages, and its gang leases; what cannot be read is left out."""
    found: list[RecordView] = []
    for body in leases:
        metadata = body["metadata"]
        name, record = metadata["name"], (metadata.get("labels") or {}).get(RECORD)
        try:
            if record == PAGE:
                page = read_page(dict(body))
                found += [
                    RecordView(
                        lease=name,
                        kind=f"page of {page.leaf}",
                        phase=one.phase.value,
                        epoch=page.epoch,
                        nodes=_nodes(one.members),
                    )
                    for one in page.entries
                    if one.gang == gang
                ]
            elif record == GANG:
                lease = read_gang(dict(body))
                if lease.gang == gang:
                    found.append(
                        RecordView(
                            lease=name,
                            kind="gang lease",
                            phase=lease.phase.value,
                            epoch=lease.epoch,
                            nodes=_nodes(lease.members),
                        )
                    )
        except BadRecord:
            continue
    return tuple(sorted(found, key=lambda one: (one.kind, one.lease)))


def _nodes(members: Sequence[Member]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(member.node for member in members))


def events_of(
    gang: GangKey, pods: Sequence[str], events: Iterable[Body]
) -> tuple[HappeningView, ...]:
    """What happened to `pods` of `gang`, the newest first."""
    names = frozenset(pods)
    found = [
        _happening(body)
        for body in events
        if (about := body.get("regarding") or body.get("involvedObject") or {}).get("kind") == "Pod"
        and about.get("namespace") == gang.namespace
        and about.get("name") in names
    ]
    return newest(found)


def newest(happenings: Iterable[HappeningView]) -> tuple[HappeningView, ...]:
    """Those that are shown, the newest first."""
    return tuple(sorted(happenings, key=lambda one: one.at, reverse=True)[:MOST_EVENTS])


def _happening(body: Body) -> HappeningView:
    series = body.get("series") or {}
    about = body.get("regarding") or body.get("involvedObject") or {}
    moments = (
        series.get("lastObservedTime"),
        body.get("deprecatedLastTimestamp") or body.get("lastTimestamp"),
        body.get("eventTime"),
        body["metadata"].get("creationTimestamp"),
    )
    return HappeningView(
        at=str(next((one for one in moments if one), "")),
        reason=brief(str(body.get("reason") or "")),
        note=brief(one_line(str(body.get("note") or body.get("message") or "")), MOST_NOTE),
        pod=str(about.get("name") or ""),
        warning=body.get("type") == "Warning",
        count=int(series.get("count") or body.get("deprecatedCount") or body.get("count") or 1),
    )
