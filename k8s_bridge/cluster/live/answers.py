"""HTTP answers that are failures, as errors of the bridge."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from fourleaf.k8s_bridge.cluster.errors import (
    BY_ADMISSION,
    AlreadyExists,
    Ambiguous,
    ClusterError,
    Conflict,
    Gone,
    NotFound,
    Refused,
    Throttled,
)
from fourleaf.model.problems import one_line
from fourleaf.model.readers.objects.manifest import entries_of, part_of

_BY_STATUS: dict[int, type[ClusterError]] = {
    404: NotFound,
    408: Ambiguous,
    409: Conflict,
    410: Gone,
    429: Throttled,
    503: Throttled,
}
_UNCOUNTED = "failed sync"
"""What the API says of a disruption budget whose controller cannot count its pods."""
_LONGEST = 500
"""Characters, about, that are told of an answer: it may repeat what a tenant wrote."""


def error_of(what: str, status: int, headers: Mapping[str, str], content: bytes) -> ClusterError:
    """The error that a status of 300 or more stands for; `what` was asked for."""
    said = _status_object(content)
    reason = str(said.get("reason") or "")
    words = str(said.get("message") or content[:_LONGEST].decode(errors="replace"))
    message = one_line(" ".join(map(_short, (words, *_uncounted_budgets(said)))))
    kind = _BY_STATUS.get(status, Ambiguous if status >= 500 else Refused)
    if kind is NotFound and not _is_of_the_server(what, reason, words):
        kind = Ambiguous
    if kind is Conflict and reason == "AlreadyExists":
        kind = AlreadyExists
    if status == 422 and _another_uid(said):
        # what says 409 for a Binding or a deletion says this for a patch
        kind = Conflict
    retry_after = _seconds(headers.get("Retry-After"))
    if retry_after is None:
        retry_after = _seconds(part_of(said, "details").get("retryAfterSeconds"))
    return kind(f"{what}: {status} {message}", status, reason, retry_after)


def _is_of_the_server(what: str, reason: str, words: str) -> bool:
    """Whether an API server, or a webhook of it, has said that something is not there.

    What stands before it says so for all that it knows no backend of. An API server gives no reason
    where it does not serve a kind at all, of which lists alone are asked for.
    """
    is_list = what.startswith(("list ", "watch "))
    return is_list or reason == "NotFound" or BY_ADMISSION in words


def _uncounted_budgets(said: Mapping[str, Any]) -> Iterator[str]:
    """What the API says of budgets whose controller cannot count their pods: another advice."""
    for cause in entries_of(part_of(said, "details"), "causes"):
        if cause.get("reason") == "DisruptionBudget" and _UNCOUNTED in str(cause.get("message")):
            yield str(cause["message"])


def _short(text: str) -> str:
    """The start and the end of a long text: what is wrong with a value stands behind the value."""
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} ... {text[-half:]}"


def watch_error(what: str, said: Mapping[str, Any]) -> ClusterError:
    """The error that a line of type `ERROR` stands for."""
    return error_of(what, int(said.get("code") or 500), {}, orjson.dumps(said))


def _another_uid(said: Mapping[str, Any]) -> bool:
    causes = entries_of(part_of(said, "details"), "causes")
    return any(cause.get("field") == "metadata.uid" for cause in causes)


def _status_object(content: bytes) -> dict[str, Any]:
    try:
        said = orjson.loads(content)
    except orjson.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}


def _seconds(text: object) -> float | None:
    """Retry-After as a number; the form that names a date is not used by apiservers."""
    try:
        seconds = float(str(text)) if text else math.nan
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) else None
