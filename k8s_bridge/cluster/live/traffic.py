"""What a client has asked for, and how many bytes that took."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Traffic:
    """Requests by (verb, plural of the kind with its subresource, HTTP status or 0), and bytes.

    Status 0 counts requests without an answer. Bytes are those of bodies: `sent`, `received`.
    """

    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    sent: int = 0
    received: int = 0

    def count(self, verb: str, kind: str, status: int) -> None:
        """Count one request."""
        self.requests[verb, kind, status] += 1
