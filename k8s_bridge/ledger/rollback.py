"""A member of a commit that rolls back is let go: fenced where it is unbound, else evicted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import structlog

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Conflict, NotFound, Throttled
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
from fourleaf.k8s_bridge.ledger.claim_allocation import Allocator
from fourleaf.k8s_bridge.ledger.names import FENCE
from fourleaf.k8s_bridge.ledger.pods import PodLister, is_bound
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.ledger.volumes.volume_provisioning import VolumeProvisioner

CLAIMED = "/claims"
"""Ends the fence of a pod whose claims have yet to be freed."""

EVICTION_RETRY_SECONDS = 2.0
"""Seconds after which an eviction is asked for again, at least."""


@dataclass(frozen=True, slots=True)
class Rollback:
    """Lets members go. Hears `took` of pods and `took_claim` of claims as its writes left them."""

    cluster: Cluster
    allocator: Allocator
    provisioner: VolumeProvisioner
    pods: PodLister
    took: Callable[[Body], None]
    took_claim: Callable[[Body], None]
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    async def let_go(self, commit: str, member: Member) -> float:
        """Let go one member; may be repeated.

        Seconds after which to ask again at the earliest, 0 where that is for the watch to say.
        """
        try:
            if is_bound(self.pods, member):
                await self.cluster.evict(member.pod)
                # The watch that says that it goes may be late.
                return EVICTION_RETRY_SECONDS
            if not self._holds_claims(member) or await self._release(commit, member):
                await self._mark(member, commit)
        except Throttled as error:
            # a disruption budget forbids it for now
            return max(EVICTION_RETRY_SECONDS, error.retry_after or 0.0)
        except (NotFound, Conflict):
            # It is gone, or another by now, and the watch will say so; or a webhook denies it by
            # that status.
            return EVICTION_RETRY_SECONDS
        except ClusterError as error:
            self._log.warning("not_let_go", pod=str(member.pod), why=str(error))
            return EVICTION_RETRY_SECONDS
        return 0.0

    def _holds_claims(self, member: Member) -> bool:
        """Whether there are claims of a member to be freed, of devices or of volumes."""
        return bool(member.claims) or self.provisioner.selects(member)

    async def _release(self, commit: str, member: Member) -> bool:
        """Free the claims of an unbound member; False where it turns out to be bound.

        The pod changes first, so that it is not bound meanwhile to a node where its claims are
        no longer good. Its fence comes last: it says that nothing of the commit is left.
        """
        body = await self._mark(member, f"{commit}{CLAIMED}")
        if (body.get("spec") or {}).get("nodeName"):
            return False
        for claim in await self.allocator.release(commit, member):
            self.took_claim(claim)
        await self.provisioner.release(member)
        return True

    async def _mark(self, member: Member, text: str) -> Body:
        """Write a fence to the pod of a member; the pod as it is then."""
        target = replace(member.pod, version="")
        patch: Body = {"metadata": {"annotations": {FENCE: text}}}
        body = await self.cluster.patch(PODS, target, patch)
        self.took(body)
        return body
