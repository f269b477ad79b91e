"""Timestamps of the Kubernetes API as seconds since the epoch."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from fourleaf.model.readers.objects.manifest import Manifest, entries_of, part_of


@lru_cache(maxsize=4096)
def seconds_of(text: str) -> float | None:
    """`text` as the API writes moments, in seconds since the epoch; None where it is none."""
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def created_at(manifest: Manifest) -> float | None:
    """When the object was created, None where it has not been submitted yet."""
    return _moment(manifest, "metadata", "creationTimestamp")


def started_at(manifest: Manifest) -> float | None:
    """When the kubelet took the pod, None where it has not."""
    return _moment(manifest, "status", "startTime")


def pod_bound_at(pod: Mapping[str, Any]) -> float | None:
    """When a pod was bound, in seconds since the epoch; None where it does not say.

    That is when its condition `PodScheduled` came true, else when its kubelet took it.
    """
    status = part_of(pod, "status")
    for one in entries_of(status, "conditions"):
        if one.get("type") == "PodScheduled" and one.get("status") == "True":
            return _read(one.get("lastTransitionTime")) or _read(status.get("startTime"))
    return _read(status.get("startTime"))


def _read(value: object) -> float | None:
    return seconds_of(value) if isinstance(value, str) else None


def _moment(manifest: Manifest, section: str, key: str) -> float | None:
    value = part_of(manifest.body, section).get(key)
    if value is None:
        return None
    seconds = _read(value)
    if seconds is None:
        manifest.error(
            f"{section}.{key}",
            value,
            "is not a timestamp",
            'Write it like "2026-01-31T12:00:00Z", or leave it out.',
        )
    return seconds
