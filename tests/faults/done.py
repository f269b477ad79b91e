"""What became of a request that came by a proxy."""

from __future__ import annotations

from dataclasses import dataclass

from tests.faults.asked import Asked


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one request, `began` and `ended` on the monotonic clock.

    `status` is the apiserver's, 0 where it was not asked or did not answer; `told` is what
    the replica got, 0 for a broken connection. `fault` names what was done to it.
    """

    began: float
    ended: float
    verb: str
    resource: str
    namespace: str
    name: str
    dry_run: bool
    status: int
    told: int
    fault: str

    @property
    def took(self) -> bool:
        """Whether the apiserver did what was asked."""
        return 200 <= self.status < 300

    @property
    def asked(self) -> Asked:
        """The request, without its body."""
        query = {"dryRun": "All"} if self.dry_run else {}
        return Asked("", "", query, b"", self.verb, self.resource, self.namespace, self.name)
