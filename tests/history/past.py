"""A history put together afterwards: bodies in the audit log, and objects as they stand.

It is less exact than a recorded one. A binding is answered without the pod, so its revision is
taken to be that of the last write answered before it was asked for; nodes and budgets are taken
to have been always what they are.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.history.audit import Request, read
from tests.history.history import History
from tests.history.server import Server
from tests.history.versions import KINDS, Version, revision_of, uid_of

Body = dict[str, Any]


def history_of(audit_log: Path, server: Server) -> History:
    """Read a log and list what is there. Raises `OSError`, `Refused`."""
    requests = read(audit_log)
    final = {kind: server.list(path).items for kind, path in KINDS.items()}
    versions = [*_always(final), *_told(requests, final["pods"])]
    return History(
        requests=tuple(requests),
        versions=tuple(sorted(versions, key=lambda one: one.revision)),
        pods=final["pods"],
        leases=final["leases"],
    )


def _always(final: dict[str, tuple[Body, ...]]) -> Iterator[Version]:
    for kind in ("nodes", "budgets"):
        for body in final[kind]:
            yield Version(0, kind, body)


def _told(requests: list[Request], pods: tuple[Body, ...]) -> Iterator[Version]:
    """Versions of pods and Leases, as the answers to writes tell them."""
    known: dict[tuple[str, str], Body] = {}
    told: set[tuple[str, int]] = set()
    last = 0
    for request in sorted(requests, key=lambda one: one.answered):
        if not request.ok or request.dry_run or request.resource not in ("pods", "leases"):
            continue
        for version in _of(request, known, last):
            last = max(last, version.revision)
            told.add((uid_of(version.body), version.revision))
            yield version
    for pod in pods:
        if (uid_of(pod), revision_of(pod)) not in told:
            yield Version(revision_of(pod), "pods", pod)


def _of(request: Request, known: dict[tuple[str, str], Body], last: int) -> Iterator[Version]:
    key = (request.namespace, request.name)
    got = request.got or {}
    before = known.get(key)
    if request.is_binding and before is not None:
        body = known[key] = _bound(before, request.sent or {})
        yield Version(last, "pods", body, seen=request.answered)
    elif request.verb == "delete" and got.get("kind") == "Status" and before is not None:
        yield Version(last, request.resource, known.pop(key), True, request.answered)
    elif "resourceVersion" in (got.get("metadata") or {}) and _whole(request):
        known[key] = got
        version = Version(revision_of(got), request.resource, got, seen=request.answered)
        gone = request.verb == "delete" and _at_once(got)
        yield replace(version, deleted=gone)


def _whole(request: Request) -> bool:
    """Whether the answer is the object and not that of another resource under its name."""
    return request.subresource in ("", "status", "ephemeralcontainers", "resize")


def _at_once(pod: Body) -> bool:
    """Whether a deleted pod is gone with the answer, and not after its time to end."""
    return pod["metadata"].get("deletionGracePeriodSeconds") in (None, 0)


def _bound(pod: Body, binding: Body) -> Body:
    body = copy.deepcopy(pod)
    body["spec"]["nodeName"] = (binding.get("target") or {}).get("name", "")
    given = (binding.get("metadata") or {}).get("annotations") or {}
    body["metadata"]["annotations"] = {**(body["metadata"].get("annotations") or {}), **given}
    return body
