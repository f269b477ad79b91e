"""Dry run: whether the API would bind a gang, asked where other admission looks at bindings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fourleaf.k8s_bridge.cluster.errors import ClusterError, NotFound
from fourleaf.k8s_bridge.cluster.kinds import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from fourleaf.k8s_bridge.cluster.protocol import Cluster
from fourleaf.k8s_bridge.ledger.binding import binding
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.runtime.concurrency import together

_RESOURCES = ("pods/binding", "pods/*", "*/*", "*/binding", "bindings", "*")


@dataclass(frozen=True, slots=True)
class DryRun:
    """Asks the API whether it would bind, before anything is decided, where that is `wanted`."""

    cluster: Cluster
    needed: bool

    async def refusal(self, members: Sequence[Member]) -> str:
        """Why the members cannot be bound, "" where they can or the API is not asked."""
        if not self.needed:
            return ""
        answers = await together(self._try_out(member) for member in members)
        return next(filter(None, answers), "")

    async def _try_out(self, member: Member) -> str:
        try:
            await self.cluster.bind(binding("dry-run", member, member.pod), dry_run=True)
        except ClusterError as error:
            return f"{member.pod} would not be bound to {member.node}: {error}"
        return ""


async def admission_covers_bindings(cluster: Cluster) -> bool:
    """Whether any webhook has a rule for bindings of pods."""
    for kind in (VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS):
        try:
            listing = await cluster.list(kind)
        except NotFound:
            continue
        for body in listing.items:
            for hook in body.get("webhooks") or ():
                if any(_matches(rule) for rule in hook.get("rules") or ()):
                    return True
    return False


def _matches(rule: dict[str, Any]) -> bool:
    groups = rule.get("apiGroups") or ()
    verbs = rule.get("operations") or ()
    resources = rule.get("resources") or ()
    return (
        any(group in ("", "*") for group in groups)
        and any(verb in ("CREATE", "*") for verb in verbs)
        and any(resource in _RESOURCES for resource in resources)
    )
