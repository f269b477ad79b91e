"""Claims on their way: a gang waits whose claim another's commit is about to have allocated.

Planned beside it, the gang would be given nodes and refused them in every cycle, and the nodes
would idle until the first pod has its volumes.
"""

from __future__ import annotations

from collections.abc import Mapping

from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule
from fourleaf.model.gang import Gang, GangKey, Hold
from fourleaf.model.readers.live import GangFacts
from fourleaf.model.reasons.kinds import ReasonKind

ClaimName = tuple[str, str]
"""Namespace and UID of a ResourceClaim."""

_STEP = "Give each pod a claim of its own, by a ResourceClaimTemplate, or wait."


def on_their_way(ledger: Ledger) -> set[ClaimName]:
    """The claims that commits on their way have devices for, whether they have them yet or not."""
    return {
        (one.claim.namespace, one.claim.uid)
        for commit in ledger.on_their_way()
        for member in commit.members
        for one in member.claims
    }


def rule(ledger: Ledger, gangs: Mapping[GangKey, GangFacts]) -> HoldRule | None:
    """Hold the gangs with a member whose claim has nothing yet and is one of these."""
    taken = on_their_way(ledger)

    def hold(gang: Gang) -> Hold | None:
        facts = gangs.get(gang.key)
        for member in facts.waiting if facts else ():
            for claim in member.claims:
                if not claim.held and (member.namespace, claim.uid) in taken:
                    what = f"ResourceClaim {claim.name} is on its way to another pod"
                    return Hold(ReasonKind.WAITS_FOR_GANG, what, (), (_STEP,))
        return None

    return hold if taken else None
