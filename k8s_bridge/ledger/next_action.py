"""What is to be done next for a commit: a pure function of the records and the pods."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from fourleaf.k8s_bridge.ledger.compaction import is_out
from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.pods import PodLister, is_bound, is_ending, is_gone
from fourleaf.k8s_bridge.ledger.records import Member, Phase


class Action(Enum):
    """What is to be done.

    `WITHDRAW`: delete a gang lease that will never be committed. `FORWARD`: bind members.
    `BACK`: fence the unbound members and evict the bound ones. `TIDY`: write its pages anew.
    `DROP`: delete a gang lease that has served. `REST`: nothing, until something changes.
    `WAIT`: nothing now, but look again.
    """

    WITHDRAW = auto()
    FORWARD = auto()
    BACK = auto()
    TIDY = auto()
    DROP = auto()
    REST = auto()
    WAIT = auto()


@dataclass(frozen=True, slots=True)
class Step:
    """An action, and the members that it is about."""

    action: Action
    members: tuple[Member, ...] = ()


def next_step(commit: Commit, ledger: Ledger, pods: PodLister) -> Step:
    """What brings `commit` closer to rest."""
    match commit.phase:
        case None:
            return Step(Action.TIDY)
        case Phase.PREPARED:
            return Step(Action.WITHDRAW)
        case _ if commit.sealed:
            return Step(Action.WAIT)
        case Phase.COMMITTED:
            return _forward(commit, ledger, pods)
        case Phase.ROLLING_BACK:
            return _back(commit, ledger, pods)


def _forward(commit: Commit, ledger: Ledger, pods: PodLister) -> Step:
    live = [member for member in commit.members if not is_gone(pods, member)]
    unbound = tuple(member for member in live if not is_bound(pods, member))
    if unbound:
        return Step(Action.FORWARD, unbound)
    if commit.lease is not None:
        return Step(Action.TIDY if _points(commit, ledger) else Action.DROP)
    return Step(Action.TIDY if len(live) < len(commit.members) else Action.REST)


def _points(commit: Commit, ledger: Ledger) -> bool:
    """Whether any page still points to the gang lease."""
    for name in commit.pages:
        page = ledger.page(name)
        if page and any(e.lease for e in page.entries if e.commit == commit.name):
            return True
    return False


def _back(commit: Commit, ledger: Ledger, pods: PodLister) -> Step:
    held = tuple(member for member in commit.members if not is_out(commit.name, member, pods))
    if any(not is_ending(pods, member) for member in held):
        return Step(Action.BACK, held)
    if not held:
        return Step(Action.TIDY if commit.pages else Action.DROP)
    # On a dead node what was evicted never ends: its records stand alone, for those alone.
    if commit.lease is not None:
        return Step(Action.TIDY if _points(commit, ledger) else Action.DROP)
    return Step(Action.TIDY if len(held) < len(commit.members) else Action.WAIT)
