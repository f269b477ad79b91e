"""A run that did too little proves nothing."""

from __future__ import annotations

from dataclasses import dataclass

from tests.history import pods
from tests.history.history import History
from tests.history.laws.bindings import binds_ours
from tests.history.records import COMMITTED, GangLease, Page
from tests.history.replay import replay


@dataclass(frozen=True, slots=True)
class Done:
    """What a run did: bindings and commits that took, and pods of ours that hold at rest."""

    bindings: int
    commits: int
    holding: int


@dataclass(frozen=True, slots=True)
class Work:
    """The least that a run must have done, and that all of it must have been seen."""

    bindings: int = 1
    commits: int = 1
    holding: int = 0
    name: str = "enough work"

    def breaches(self, history: History) -> list[str]:
        """A sentence for each figure that is too low."""
        did = done(history)
        found = [
            f"{what}: {count} of at least {least}"
            for what, count, least in (
                ("bindings", did.bindings, self.bindings),
                ("commits", did.commits, self.commits),
                ("pods that hold a node at rest", did.holding, self.holding),
            )
            if count < least
        ]
        answered = sum(request.is_binding and request.ok for request in history.our_requests)
        if did.bindings and not answered:
            found.append("the audit log has no binding of ours, and pods were bound")
        return found


def done(history: History) -> Done:
    """Count what a run did."""
    bound: set[str] = set()
    commits: set[str] = set()
    for change in replay(history):
        if binds_ours(change):
            bound.add(pods.uid(change.version.body))
        if change.version.kind == "leases":
            record = change.state.records.get(change.version.body["metadata"]["name"])
            if isinstance(record, GangLease) and record.phase == COMMITTED:
                commits.add(record.commit)
            elif isinstance(record, Page):
                commits |= {one.commit for one in record.entries if not one.lease}
    holding = sum(history.is_ours(pod) and pods.holds(pod) for pod in history.pods)
    return Done(len(bound), len(commits), holding)
