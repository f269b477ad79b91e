"""A pod costs so many requests and no more."""

from __future__ import annotations

from dataclasses import dataclass

from tests.history import pods
from tests.history.history import History
from tests.history.laws.bindings import binds_ours
from tests.history.replay import replay

IDLE = ("watch", "list")


@dataclass(frozen=True, slots=True)
class RequestsPerPod:
    """`most` requests of ours for each pod that was bound.

    Watches and lists cost by time and not by pod, and so do renewals of the leader's Lease,
    which is called `leader`.
    """

    most: float
    leader: str = "fourleaf-scheduler"
    name: str = "few requests a pod"

    def breaches(self, history: History) -> list[str]:
        """One sentence where there were more."""
        bound = {pods.uid(one.version.body) for one in replay(history) if binds_ours(one)}
        sent = [
            request
            for request in history.our_requests
            if request.verb not in IDLE and request.name != self.leader
        ]
        if len(sent) <= self.most * len(bound):
            return []
        share = len(sent) / len(bound) if bound else float("inf")
        return [
            f"{len(sent)} requests for {len(bound)} bound pods: {share:.1f} each, "
            f"above {self.most:g}"
        ]
