"""What a leader concludes from the records that it knows and from the pods."""

from __future__ import annotations

from collections.abc import Iterator

from tests.explorer.protocol.scope import Safeguards
from tests.explorer.protocol.server import is_bound, is_gone, is_out
from tests.explorer.protocol.state import BACK, COMMITTED, Entry, Leader, Member, State


def phase(leader: Leader, entry: Entry) -> str:
    """What an entry counts for, "" where it counts for nothing."""
    if not entry.wide:
        return entry.phase
    lease = leader.lease(entry.commit)
    return lease.phase if lease else ""


def plan(leader: Leader, commit: str) -> tuple[str, tuple[Member, ...]]:
    """The phase and all members of a commit, as the records say."""
    lease = leader.lease(commit)
    if lease is not None:
        return lease.phase, lease.members
    entries = [e for page in leader.pages for e in page.entries if e.commit == commit]
    members = tuple(member for entry in entries for member in entry.members)
    return (phase(leader, entries[0]) if entries else ""), members


def commits(leader: Leader) -> Iterator[str]:
    """All commits that a record names."""
    names = {entry.commit for page in leader.pages for entry in page.entries}
    yield from sorted(names | {lease.commit for lease in leader.leases})


def tidied(state: State, leader: Leader, number: int, safe: Safeguards) -> tuple[Entry, ...]:
    """The entries of a page without what is proven to be over."""
    kept = []
    for entry in leader.pages[number].entries:
        now, members = plan(leader, entry.commit)
        if not now:
            continue
        left = tuple(m for m in entry.members if not _over(state, now, entry.commit, m, safe))
        if not left:
            continue
        if entry.wide and now == COMMITTED and _settled(state, members):
            kept.append(Entry(entry.commit, left, wide=False))
        else:
            kept.append(entry._replace(members=left))
    return tuple(kept)


def _over(state: State, now: str, commit: str, member: Member, safe: Safeguards) -> bool:
    if now != BACK:
        return is_gone(state, member)
    unbound = state.pods[member.pod].node < 0
    return is_out(state, commit, member) or (unbound and not safe.fence)


def _settled(state: State, members: tuple[Member, ...]) -> bool:
    return all(is_gone(state, m) or is_bound(state, m) for m in members)


def held(state: State, leader: Leader) -> set[int]:
    """The nodes that entries hold for pods that are not gone."""
    return {
        member.node
        for page in leader.pages
        for entry in page.entries
        for member in entry.members
        if not is_gone(state, member)
    }


def planned(leader: Leader) -> set[tuple[int, int]]:
    """The pods that a record names."""
    entries = [entry for page in leader.pages for entry in page.entries]
    members = [m for one in (*entries, *leader.leases) for m in one.members]
    return {(member.pod, member.uid) for member in members}
