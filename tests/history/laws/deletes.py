"""We never delete a pod: we evict, and never another pod than the one that was meant."""

from __future__ import annotations

from dataclasses import dataclass

from tests.history.audit import Request
from tests.history.history import History


@dataclass(frozen=True, slots=True)
class Deletes:
    """Also requests that failed count: nothing of the kind may even be tried."""

    name: str = "no deletes, and evictions by UID"

    def breaches(self, history: History) -> list[str]:
        """Every delete of a pod by us, and every eviction without the UID of its pod."""
        return [
            f"{request.what} {trouble}"
            for request in history.our_requests
            if (trouble := _trouble(request))
        ]


def _trouble(request: Request) -> str:
    if request.resource == "pods" and request.verb in ("delete", "deletecollection"):
        return "is a delete"
    evicts = (request.resource, request.subresource) == ("pods", "eviction")
    if evicts and not request.evicts:
        return "names no UID"
    return ""
