"""Rollbacks: a gang of which members are still being taken back waits until that is over.

Planned any earlier, the members that are gone already would be placed beside those that only
seem to stay, and run without them.
"""

from __future__ import annotations

from collections.abc import Container

from fourleaf.k8s_bridge.ledger.compaction import is_out
from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.pods import PodLister
from fourleaf.k8s_bridge.ledger.records import Phase
from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule
from fourleaf.model.gang import GangKey, Hold
from fourleaf.model.reasons.kinds import ReasonKind

_DETAIL = "some members are still being taken back from where they could not all run"
_STEP = "It is planned again as a whole as soon as they have ended."


def returning(ledger: Ledger, pods: PodLister, dead: Container[str]) -> frozenset[GangKey]:
    """The gangs of commits that are being rolled back.

    A member that was evicted from a `dead` node keeps nothing waiting: no kubelet is there to
    say that it has ended. Its record stays, so what it held stays held.
    """
    commits = ledger.open_commits()
    return frozenset(
        one.gang for one in commits if one.phase is Phase.ROLLING_BACK and _waits(one, pods, dead)
    )


def _waits(commit: Commit, pods: PodLister, dead: Container[str]) -> bool:
    for member in commit.members:
        seen = pods.seen(member.pod.uid)
        lost = seen is not None and seen.deleting and seen.node in dead
        if not lost and not is_out(commit.name, member, pods):
            return True
    return not commit.members


def rule(gangs: frozenset[GangKey]) -> HoldRule | None:
    """Hold those of `gangs`."""
    hold = Hold(ReasonKind.MEMBERS_MISSING, _DETAIL, (), (_STEP,))
    return (lambda gang: hold if gang.key in gangs else None) if gangs else None
