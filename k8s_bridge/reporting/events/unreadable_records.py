"""Records that cannot be read: an event on each, where operators look."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.ledger.sealed import Sealed
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Regarding
from fourleaf.k8s_bridge.runtime.api_text import clipped


def what_is_sealed(namespace: str, records: Iterable[Sealed]) -> list[Event]:
    """A `RecordUnreadable` event for each record, on its Lease in `namespace`."""
    return [
        Event(
            Regarding(LEASES, namespace, one.name),
            "RecordUnreadable",
            clipped(f"{_text(one)} {_ADVICE}"),
            "Reading",
            topic=one.format,
            warning=True,
        )
        for one in records
    ]


_ADVICE = (
    "Run the version of the scheduler that wrote it, or let that one write its records in the "
    "older format."
)


def _text(one: Sealed) -> str:
    about = (
        "its nodes and gangs are unknown"
        if one.opaque
        else f"{len(one.nodes)} nodes and {len(one.gangs)} gangs are left as they are"
    )
    return f"{one.why}; {about}."
