"""What a leader makes of an answer. `None` stands for one that was lost."""

from __future__ import annotations

from typing import Any

from tests.explorer.protocol.binding import bound
from tests.explorer.protocol.scope import Scope
from tests.explorer.protocol.server import CONFLICT, REFUSED
from tests.explorer.protocol.state import (
    CLAIMING,
    COMMITTED,
    LEADING,
    PREPARED,
    SETTLING,
    STOPPED,
    Call,
    Draft,
    Entry,
    Leader,
    Lease,
    Page,
)


def answered(leader: Leader, call: Call, answer: Any, scope: Scope) -> Leader:
    """The leader once it has taken `answer` to `call` in; a record's write is simply repeated."""
    if call in leader.binds:
        return bound(leader, call, answer, scope)
    if answer is None and call[0] not in ("fence", "evict"):
        return leader
    leader = leader._replace(calls=tuple(one for one in leader.calls if one != call))
    match call[0]:
        case "pages":
            leader = leader.asking(("leases", "takeover"))._replace(pages=answer)
        case "leases":
            leader = _listed(leader, call, answer, scope)
        case "page":
            leader = _page_written(leader, call, answer)
        case "read page":
            leader = _page_read(leader, call, answer, scope)
        case "lease":
            leader = _lease_written(leader, call, answer, scope)
        case "read lease":
            leader = _lease_read(leader, call, answer, scope)
        case "delete":
            leader = _deleted(leader, call, answer)
    return _onward(leader, scope)


def _listed(leader: Leader, call: Call, leases: tuple[Lease, ...], scope: Scope) -> Leader:
    """The gang leases at takeover, or those that a sweep has found."""
    if call[1] == "takeover":
        leader = leader._replace(leases=leases)
        for lease in leases:
            leader = _kill(leader, lease, None, scope)
        return leader
    if any(lease.epoch > leader.epoch for lease in leases):
        return leader.stopped()
    for lease in leases:
        leader = leader if leader.lease(lease.commit) else leader.with_lease(lease)
    return leader


def _kill(leader: Leader, lease: Lease, page: int | None, scope: Scope) -> Leader:
    """Delete what is only prepared; without the safeguard, only take it for nothing."""
    if lease.phase != PREPARED:
        return leader
    if not scope.safe.kill:
        return leader.with_lease(lease._replace(phase=""))
    return leader.asking(("delete", lease.commit, lease.version, page))


def _onward(leader: Leader, scope: Scope) -> Leader:
    """What comes next in a takeover or in a draft, once nothing is waited for."""
    if leader.stage == CLAIMING:
        waited = {call[-1] if call[0] != "page" else call[1] for call in leader.calls}
        waited |= {call[1] for call in leader.calls if call[0] == "read page"}
        ready = [number for number in leader.unclaimed if number not in waited]
        leader = leader.asking(*(_claim(leader, number) for number in ready))
    if leader.calls or leader.stage == STOPPED:
        return leader
    if leader.stage == SETTLING:
        if not scope.safe.rewrite:
            return leader._replace(stage=LEADING)
        unclaimed = tuple(range(scope.pages))
        leader = leader._replace(stage=CLAIMING, unclaimed=unclaimed)
        for number in unclaimed:
            leader = _look_up(leader, number, scope)
        return _onward(leader, scope)
    if leader.stage == CLAIMING:
        return leader._replace(stage=LEADING)
    return _drafted(leader, scope) if leader.draft else leader


def _drafted(leader: Leader, scope: Scope) -> Leader:
    draft = leader.draft
    lease = leader.lease(draft.commit) if draft else None
    if draft is None or lease is None:
        return leader._replace(draft=None)
    if draft.failed:
        return leader.asking(("delete", lease.commit, lease.version, None))
    if lease.phase == COMMITTED:
        return leader._replace(draft=None)
    return leader.asking(("lease", lease._replace(phase=COMMITTED, epoch=leader.epoch)))


def _look_up(leader: Leader, number: int, scope: Scope) -> Leader:
    """Ask for the gang leases that a page names and that are not known."""
    if not scope.safe.reread:
        return leader
    named = [entry.commit for entry in leader.pages[number].entries if entry.wide]
    unknown = [commit for commit in named if leader.lease(commit) is None]
    return leader.asking(*(("read lease", commit, number) for commit in unknown))


def _claim(leader: Leader, number: int) -> Call:
    """The page in the leader's epoch, without entries that point to nothing."""
    page = leader.pages[number]
    kept = tuple(e for e in page.entries if not e.wide or leader.lease(e.commit))
    return ("page", number, Page(page.version, leader.epoch, kept))


def _page_written(leader: Leader, call: Call, answer: Any) -> Leader:
    _, number, page = call
    if answer == CONFLICT:
        return leader.asking(("read page", number, page))
    if answer == REFUSED:
        return _failed(leader)
    return _known(leader, number, answer)


def _known(leader: Leader, number: int, page: Page) -> Leader:
    unclaimed = tuple(one for one in leader.unclaimed if one != number)
    doomed = tuple(
        commit
        for commit in leader.doomed
        if all(e.commit != commit or e.wide or e.phase == COMMITTED for e in page.entries)
    )
    return leader.with_page(number, page)._replace(unclaimed=unclaimed, doomed=doomed)


def _failed(leader: Leader) -> Leader:
    return leader._replace(draft=leader.draft and leader.draft._replace(failed=True))


def _page_read(leader: Leader, call: Call, answer: Page, scope: Scope) -> Leader:
    """After a conflict: it may have been our own write that came through after all."""
    _, number, wanted = call
    if (answer.epoch, answer.entries) == (wanted.epoch, wanted.entries):
        return _known(leader, number, answer)
    if answer.epoch > leader.epoch:
        return leader.stopped()
    leader = leader.with_page(number, answer)
    if leader.stage == CLAIMING:
        return _look_up(leader, number, scope)
    return _failed(leader)


def _lease_written(leader: Leader, call: Call, answer: Any, scope: Scope) -> Leader:
    lease: Lease = call[1]
    if answer == REFUSED:
        return _failed(leader)
    if answer == CONFLICT:
        return leader.asking(("read lease", lease.commit, lease))
    leader = leader.with_lease(answer)
    draft = leader.draft
    if draft is not None and lease.phase == PREPARED:
        return leader.asking(*pages_of(leader, draft, wide=True, scope=scope))
    return leader._replace(doomed=tuple(c for c in leader.doomed if c != lease.commit))


def pages_of(leader: Leader, draft: Draft, wide: bool, scope: Scope) -> list[Call]:
    """The writes of all pages that a draft touches."""
    found = []
    for number, page in enumerate(leader.pages):
        members = tuple(m for m in draft.members if scope.page_of[m.node] == number)
        if members:
            entries = (*page.entries, Entry(draft.commit, members, wide))
            found.append(("page", number, Page(page.version, leader.epoch, entries)))
    return found


def _lease_read(leader: Leader, call: Call, answer: Lease | None, scope: Scope) -> Leader:
    _, commit, why = call
    found = answer if answer is not None and answer.phase else None
    if isinstance(why, Lease) and found is not None and found[2:] == why[2:]:
        return _lease_written(leader, ("lease", why), found, scope)
    if found is not None and found.epoch > leader.epoch:
        return leader.stopped()
    leader = leader.with_lease(found or Lease(commit, 0, 0, "", ()))
    if leader.stage != LEADING:
        return _kill(leader, found, why, scope) if found else leader
    leader = leader._replace(doomed=tuple(c for c in leader.doomed if c != commit))
    return _failed(leader)


def _deleted(leader: Leader, call: Call, answer: Any) -> Leader:
    _, commit, _, page = call
    if answer == CONFLICT:
        return leader.asking(("read lease", commit, page))
    return leader.with_lease(Lease(commit, 0, 0, "", ()))
