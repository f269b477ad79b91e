"""The audit log of kube-apiserver, read as requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One answered request.

    `received` and `answered` are seconds since 1970 by the server's clock. `subresource`,
    `namespace` and `name` are "" where there is none. `sent` and `got` are the bodies, empty
    where the audit policy keeps none.
    """

    received: float
    answered: float
    user: str
    verb: str
    resource: str
    code: int
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    dry_run: bool = False
    sent: Body | None = None
    got: Body | None = None

    @property
    def ok(self) -> bool:
        """Whether it was done, or would have been where it is a dry run."""
        return 200 <= self.code < 300

    @property
    def what(self) -> str:
        """The request in words: who, verb, resource, object."""
        named = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        where = f" {self.namespace}/{self.name}" if self.name else ""
        return f"{self.user}: {self.verb} {named}{where}"

    @property
    def is_binding(self) -> bool:
        """Whether it asks to bind a pod, and not only whether that would be possible."""
        return (self.resource, self.subresource, self.dry_run) == ("pods", "binding", False)

    @property
    def is_eviction(self) -> bool:
        """Whether it asks to evict a pod, and not only whether that would be possible."""
        return (self.resource, self.subresource, self.dry_run) == ("pods", "eviction", False)

    @property
    def evicts(self) -> str:
        """The UID of the pod whose eviction it asks for, or tries out; "" where it names none."""
        if (self.resource, self.subresource) != ("pods", "eviction"):
            return ""
        options = (self.sent or {}).get("deleteOptions") or {}
        return str((options.get("preconditions") or {}).get("uid", ""))


def read(log: Path, start: int = 0) -> list[Request]:
    """Read the requests of an audit log from byte `start` on, oldest first.

    Raises `OSError` where it is missing.
    A line that a killed server left torn is passed over: what it did shows in the objects.
    """
    return sorted(_requests(log, start), key=lambda request: request.received)


def _requests(log: Path, start: int) -> Iterator[Request]:
    with log.open("rb") as lines:
        lines.seek(start)
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            yield request_of(event)


def request_of(event: Body) -> Request:
    """The request that an audit event tells of. Raises `KeyError` where it is no such event."""
    about = event.get("objectRef") or {}
    sent, got = event.get("requestObject"), event.get("responseObject")
    return Request(
        received=_seconds(event["requestReceivedTimestamp"]),
        answered=_seconds(event["stageTimestamp"]),
        user=event["user"]["username"],
        verb=event["verb"],
        resource=about.get("resource", ""),
        code=int((event.get("responseStatus") or {}).get("code", 0)),
        subresource=about.get("subresource", ""),
        namespace=about.get("namespace", ""),
        name=about.get("name", "") or _name(got) or _name(sent),
        dry_run="dryRun" in parse_qs(urlsplit(event.get("requestURI", "")).query),
        sent=sent,
        got=got,
    )


def _name(body: Body | None) -> str:
    return str(((body or {}).get("metadata") or {}).get("name", ""))


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
