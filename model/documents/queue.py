"""Gangs that wait, as documents."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fourleaf.model.gang import Gang
from fourleaf.model.reasons.pod_condition import ConditionReason, said
from fourleaf.model.start import Start

Document = dict[str, Any]
NOT_SEEN = "no scheduler has said why yet"


Pods = Mapping[tuple[str, str], Mapping[str, Any]]
"""Pods by namespace and name."""


def queue_entry(gang: Gang, pods: Pods) -> Document:
    """A gang that waits, with what its `pods` (by namespace and name) say of why."""
    names = [name for role in gang.roles for name in role.pods]
    heard = told_of(gang, pods)
    kind, message, unblock = "", NOT_SEEN, list[str]()
    if heard is not None:
        kind = heard.kind.value if heard.kind else ""
        message, unblock = heard.sentence, list(heard.unblock)
    if gang.hold is not None:
        kind, message, unblock = gang.hold.kind, gang.hold.detail, list(gang.hold.unblock)
    return {
        "namespace": gang.key.namespace,
        "name": gang.key.name,
        "priority": gang.priority,
        "gpus": gang.gpus,
        "pods": len(names),
        "since": gang.created,
        "reason": kind,
        "message": message,
        "unblock": unblock,
    }


def told_of(gang: Gang, pods: Pods) -> ConditionReason | None:
    """What the first of a gang's `pods` that says anything says of why it waits."""
    keys = ((gang.key.namespace, name) for role in gang.roles for name in role.pods)
    return said(pods[key] for key in keys if key in pods)


def start_document(start: Start, now: float) -> Document:
    """When a gang could start and on which nodes; else what it waits for."""
    at = None if start.at is None else datetime.fromtimestamp(start.at, UTC)
    return {
        "at": None if at is None else at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "seconds": None if start.at is None else round(start.at - now),
        "nodes": [node for _, node in start.placement.pods] if start.placement else [],
        "waitsFor": [str(key) for key in start.waits_for],
        "held": start.hold is not None,
        "proven": start.proven,
    }
