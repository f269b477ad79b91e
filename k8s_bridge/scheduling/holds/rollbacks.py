"""Rollbacks: a gang of which members are still being taken back waits until that is over.

Planned any earlier, the members that are gone already would be placed beside those that only
seem to stay, and run without them.
"""

from __future__ import annotations

from collections.abc import Container

from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.pods import PodLister, is_ending
from fourleaf.k8s_bridge.ledger.records import Phase
from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule
from fourleaf.model.gang import GangKey, Hold
from fourleaf.model.reasons.kinds import ReasonKind

_DETAIL = "some members are still being taken back from where they could not all run"
_STEP = "It is planned again as a whole as soon as they have ended."


def returning(ledger: Ledger, pods: PodLister, dead: Container[str]) -> frozenset[GangKey]:
    """The gangs of commits that are being rolled back.

    A commit of which nothing is left but members that were evicted from `dead` nodes keeps
    nothing waiting: no kubelet is there to say that they have ended. What they held stays held.
    """
    commits = ledger.open_commits()
    return frozenset(
        one.gang for one in commits if one.phase is Phase.ROLLING_BACK and _waits(one, pods, dead)
    )


def _waits(commit: Commit, pods: PodLister, dead: Container[str]) -> bool:
    lost = (is_ending(pods, one) and one.node in dead for one in commit.members)
    return commit.lease is not None or not commit.members or not all(lost)


def rule(gangs: frozenset[GangKey]) -> HoldRule | None:
    """Hold those of `gangs`."""
    hold = Hold(ReasonKind.MEMBERS_MISSING, _DETAIL, (), (_STEP,))
    return (lambda gang: hold if gang.key in gangs else None) if gangs else None
