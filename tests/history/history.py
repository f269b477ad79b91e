"""What one run left behind, as the laws read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.history.audit import Request, read
from tests.history.versions import Recorder, Version

Body = dict[str, Any]

USERS = (
    "fourleaf:scheduler-a",
    "fourleaf:scheduler-b",
    "system:serviceaccount:kube-system:fourleaf-scheduler",
)
"""Who our replicas are to the apiserver."""

SCHEDULERS = ("topology-aware-scheduler", "gpu-scheduler")
"""The scheduler names that make a pod ours."""


@dataclass(frozen=True, slots=True)
class History:
    """Requests by the time they came, versions by revision, and everything as it stands at rest.

    `gaps` says where versions are missing.
    """

    requests: tuple[Request, ...] = ()
    versions: tuple[Version, ...] = ()
    pods: tuple[Body, ...] = ()
    leases: tuple[Body, ...] = ()
    gaps: tuple[str, ...] = ()
    users: tuple[str, ...] = USERS
    schedulers: tuple[str, ...] = field(default=SCHEDULERS)

    @property
    def our_requests(self) -> list[Request]:
        """The requests of our replicas."""
        return [request for request in self.requests if request.user in self.users]

    def of(self, kind: str) -> list[Version]:
        """The versions of a kind."""
        return [version for version in self.versions if version.kind == kind]

    def is_ours(self, pod: Body) -> bool:
        """Whether we have to place the pod."""
        return pod["spec"].get("schedulerName") in self.schedulers


def taken(recorder: Recorder, audit_log: Path, start: int = 0) -> History:
    """The history up to now, of the log from byte `start` on.

    Raises `OSError` where the server or the log is not there.
    """
    final = recorder.settle()
    return History(
        requests=tuple(read(audit_log, start)),
        versions=recorder.versions(),
        pods=final["pods"].items,
        leases=final["leases"].items,
        gaps=tuple(recorder.gaps),
    )
