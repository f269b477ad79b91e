"""Errors of requests to the cluster, and how long a `Retry-After` may ask for at most."""

from __future__ import annotations

RETRY_AFTER_LIMIT_SECONDS = 30.0
"""What a server or a proxy may ask for at most: a record that is not written stops every gang."""

BY_ADMISSION = "admission webhook"
"""What messages have in which a webhook denies a request, by whatever status it likes."""


class ClusterError(Exception):
    """A request that failed. `status` is the HTTP status, 0 where there was no answer.

    `retry_after` is what the server asks for, in seconds, at most `RETRY_AFTER_LIMIT_SECONDS`;
    None where it asks for nothing.
    """

    def __init__(
        self, message: str, status: int = 0, reason: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after and min(retry_after, RETRY_AFTER_LIMIT_SECONDS)


class NotFound(ClusterError):
    """404: the object, or its kind, does not exist."""


class Conflict(ClusterError):
    """409: a precondition failed, or the pod is bound already."""


class AlreadyExists(Conflict):
    """409 with reason `AlreadyExists`: the name is taken."""


class Refused(ClusterError):
    """400, 401, 403, 405, 413, 415, 422 and their like: repeating the request does not help."""


class Gone(Refused):
    """410: the resource version is too old; list again.

    To any request that names no such version, it is how a webhook denies it.
    """


class Throttled(ClusterError):
    """429, 503 or a shutdown: nothing was done; come back after `retry_after`."""


class Ambiguous(ClusterError):
    """No answer, or 500, 502, 504: it may have been done. Read before doing anything else."""
