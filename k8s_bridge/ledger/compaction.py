"""What a page should hold: what it holds, less what is proven to be over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.pods import (
    PodLister,
    is_bound,
    is_bound_by_another,
    is_elsewhere,
    is_ending,
    is_gone,
)
from fourleaf.k8s_bridge.ledger.records import Entry, Member, Page, Phase
from fourleaf.model.gang import GangKey


def is_settled(commit: Commit, pods: PodLister) -> bool:
    """Whether every member of a committed gang is bound or gone: nothing is left to decide."""
    return (
        commit.phase is Phase.COMMITTED
        and not commit.sealed
        and all(is_gone(pods, member) or is_bound(pods, member) for member in commit.members)
    )


def being_bound(ledger: Ledger, pods: PodLister) -> frozenset[GangKey]:
    """Gangs that need no place: those that are being bound are not all seen to stand there yet."""
    return frozenset(one.gang for one in ledger.on_their_way() if not is_settled(one, pods))


def is_out(commit: str, member: Member, pods: PodLister) -> bool:
    """Whether no binding of a commit that rolls back holds, or can take, the member any more.

    One that was bound by no commit after it was fenced is another scheduler's.
    """
    seen = pods.seen(member.pod.uid)
    fenced = seen is not None and seen.fence == commit and not (seen.node and seen.commit)
    taken = is_elsewhere(pods, member) or is_bound_by_another(pods, commit, member)
    return fenced or taken or is_gone(pods, member)


def _all_end(commit: Commit, pods: PodLister) -> bool:
    return all(is_ending(pods, one) or is_out(commit.name, one, pods) for one in commit.members)


def tidied(page: Page, ledger: Ledger, pods: PodLister) -> Page:
    """`page` without members that are gone, without void entries, with settled ones standing alone.

    An entry of a settled commit no longer needs its gang lease, which can then be deleted; nor
    does one of a commit that is rolled back and of which all that is left has been evicted.
    Members of a commit that is rolled back are dropped once they are fenced or gone. What belongs
    to a commit with a sealed record stays as it is.
    """
    return page.with_entries(tuple(_kept(page.entries, ledger, pods)))


def _kept(entries: Iterable[Entry], ledger: Ledger, pods: PodLister) -> Iterable[Entry]:
    for entry in entries:
        commit = ledger.commit(entry.commit)
        if commit is None or commit.phase is None:
            continue
        if commit.sealed:
            yield entry
            continue
        rolling = commit.phase is Phase.ROLLING_BACK
        members = tuple(
            member
            for member in entry.members
            if not (is_out(entry.commit, member, pods) if rolling else is_gone(pods, member))
        )
        if not members:
            continue
        if entry.lease and is_settled(commit, pods):
            yield replace(entry, members=members, lease="", phase=Phase.COMMITTED)
        elif entry.lease and rolling and _all_end(commit, pods):
            yield replace(entry, members=members, lease="", phase=Phase.ROLLING_BACK)
        elif len(members) == len(entry.members):
            yield entry
        else:
            yield replace(entry, members=members)
